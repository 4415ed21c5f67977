/** The page Health: whether the fleet itself works. Shows its workers, the queue, what cannot be read, and why checks and applies fail. */
import { clip } from '../../../report/view/printable.ts';
import { failedApplies } from './applies.ts';
import { type Content, type Html, html } from './html.ts';
import { link, numberText, stackLink, table, timeText } from './layout.ts';
import {
  clock,
  inScope,
  type Reading,
  type Row,
  visibleStacks,
  seesSome,
  textOf,
  timeOf,
} from './reading.ts';
import { readUnread } from './unread.ts';

/** Seconds after which a worker without a heartbeat counts as silent. */
const silentAfter = 60;

export async function healthPage(reading: Reading): Promise<{ head: Html; body: Html }> {
  if (!(await reading.seesSome()))
    return { head: html``, body: html`<section><p>There are no stacks that you may see.</p></section>` };
  const workers = await readWorkers(reading);
  const queue = await readQueue(reading);
  const unread = await readUnread(reading);
  const errors = await readErrors(reading);
  return {
    head: html`${fileBanners(workers, reading.seesAll)}`,
    body: html`<section><h2>Workers</h2>
${workers.length === 0 ? html`<p>No worker has sent a heartbeat within an hour.</p>` : table(['Worker', 'State', 'Checks now', 'Part', 'Started', 'Last heartbeat', 'Version'], workers.map(workerCells), 'Workers')}
</section>
<section><h2>Queue</h2>
<p>${numberText(queue.waiting)} waiting, ${numberText(queue.running)} running${queue.oldest !== undefined && html`; the oldest one was queued ${timeText(queue.oldest, queue.now)}`}.</p>
</section>
<section><h2>Repositories that cannot be read</h2>
${unread.length === 0 ? html`<p>None.</p>` : table(['Repository', 'Why', 'Last try'], unread.map(unreadCells), 'Repositories that cannot be read')}
</section>
<section><h2>Why checks fail</h2>
${errors.length === 0 ? html`<p>The last check of each stack was complete.</p>` : table(['Stacks', 'Error', 'For example'], errors.map(errorCells), 'Errors of checks')}
<p><a href="${link('/', { is: 'attention' })}">All stacks that need attention</a></p>
</section>
${await failedApplies(reading)}`,
  };
}

function readWorkers(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${clock}
     select worker.*, clock.time, last_seen < clock.time - make_interval(secs => ${silentAfter}) as silent
     from trueup_fleet.workers as worker, clock where ${seesSome()}
     order by host, started, id limit 200`,
  );
}

/** Problems of fleet files. Only viewers who see everything get their texts, which may name repositories that others must not see. */
function fileBanners(workers: readonly Row[], seesAll: boolean): readonly Html[] {
  const affected = workers.filter((row) => row['problem'] !== null && row['silent'] !== true);
  const problems = Map.groupBy(affected, (row) => (seesAll ? String(row['problem']) : hiddenProblem));
  return [...problems].map(
    ([problem, some]) =>
      html`<p class="banner danger">${[...new Set(some.map(({ host }) => String(host)))].join(', ')}: ${clip(problem, 1000)}</p>`,
  );
}

const hiddenProblem = 'the new version of the fleet file is not valid, so the last valid one stays in use';

function workerCells(row: Row): readonly Content[] {
  const now = timeOf(row['time']) ?? 0;
  const isSilent = row['silent'] === true;
  return [
    html`<span>${String(row['host'])} <span class="muted">process ${Number(row['pid'])}</span></span>`,
    html`<span class="action ${isSilent ? 'delete' : 'create'}">${isSilent ? 'silent' : 'live'}</span>`,
    `${Number(row['running'])} of ${Number(row['concurrency'])}`,
    textOf(row['shard']) ?? 'all',
    timeText(timeOf(row['started']), now),
    timeText(timeOf(row['last_seen']), now),
    String(row['version']),
  ];
}

interface Queue {
  readonly waiting: number;
  readonly running: number;
  readonly oldest: number | undefined;
  readonly now: number;
}

async function readQueue(reading: Reading): Promise<Queue> {
  const [row = {}] = await reading.rows(
    `with jobs as (
       select state, created_on, data->>'repository' as repository, data->>'path' as path
       from ${reading.jobSchema}.job where name = 'checks' and state in ('created', 'retry', 'active')
     )
     select count(*) filter (where state <> 'active') as waiting, count(*) filter (where state = 'active') as running,
       min(created_on) filter (where state <> 'active') as oldest, now() as time
     from jobs where ${inScope('jobs')}`,
  );
  return {
    waiting: Number(row['waiting']),
    running: Number(row['running']),
    oldest: timeOf(row['oldest']),
    now: timeOf(row['time']) ?? 0,
  };
}

function unreadCells(row: Row): readonly Content[] {
  return [
    String(row['name']),
    html`<span class="error">${clip(String(row['problem']), 1000)}</span>`,
    timeText(timeOf(row['named']), timeOf(row['time']) ?? 0),
  ];
}

function readErrors(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}
     select last_error as error, count(*)::integer as stacks, min(repository || chr(1) || path) as example
     from seen where last_error is not null group by last_error order by stacks desc, last_error limit 50`,
  );
}

function errorCells(row: Row): readonly Content[] {
  const [repository = '', path = ''] = String(row['example']).split('\u0001');
  return [
    numberText(Number(row['stacks'])),
    html`<span class="error">${clip(String(row['error']), 500)}</span>`,
    stackLink(repository, path),
  ];
}
