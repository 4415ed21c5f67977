/** The page Capacity: whether targets allow the checks that the fleet wants. Shows rates, needed rates, pauses, and ages of checks. */
import { clip } from '../../../report/view/printable.ts';
import { validQuotas } from '../rates/quotas.ts';
import { type Content, type Html, html } from './html.ts';
import { dueText, durationText, numberText, table, timeText } from './layout.ts';
import { inScope, type Reading, type Row, visibleStacks, timeOf } from './reading.ts';

export async function capacityPage(reading: Reading): Promise<{ head: Html; body: Html }> {
  const rates = await readRates(reading);
  const quotas = await readQuotas(reading);
  const pauses = await readPauses(reading);
  const ages = await readAges(reading);
  return {
    head: html`<p class="muted">All checks of one user of a target share one limit of requests. Users are shown by the beginning of a keyed hash.</p>`,
    body: html`<section><h2>Limits of requests</h2>
${rates.length === 0 ? html`<p>No check of a stack that you may see has sent a request yet.</p>` : table(['Target', 'User', 'Stacks', 'Rate', 'Last hour', 'The intervals need', 'State'], rates.map(rateCells), 'Limits of requests')}
<p class="muted">"Last hour" and what the intervals need are counted from the requests of the last complete check of each stack${!reading.seesAll && ' that you may see'}. Checks get 70 % of a rate: more than that makes stacks stale.</p>
</section>
${
  quotas.length > 0 &&
  html`<section><h2>Quotas of targets</h2>
<p class="muted">All users of a target share its quota, which fleet.yaml sets. What the intervals need is counted as above.</p>
${table(['Target', 'Quota', 'The intervals need'], quotas.map(quotaCells), 'Quotas of targets')}
</section>`
}
${
  pauses.length > 0 &&
  html`<section><h2>Targets that are paused</h2>
<p class="muted">So many stacks failed in the same way that only one is checked now and then.</p>
${table(
  ['Target', 'Since', 'Next try', 'Why'],
  pauses.map((row) => pauseCells(row, reading.seesAll)),
  'Targets that are paused',
)}
</section>`
}
<section><h2>Age of the last complete check</h2>
${ages.length === 0 ? html`<p>There are no stacks that you may see.</p>` : table(['Interval', 'Stacks', 'Median', '95th percentile', 'Oldest', 'Never checked'], ages.map(ageCells), 'Age of checks')}
</section>`,
  };
}

/** Rows on a page, at most. */
const maxRates = 100;

function readRates(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}, used as (
       select used.address, used.identity, count(*)::integer as stacks,
         sum(used.requests / seen.seconds_between_checks) as needed,
         coalesce(sum(used.requests * ended.checks), 0) as sent
       from trueup_fleet.stack_requests as used join seen using (repository, path)
       left join (
         select repository, path, count(*) as checks from trueup_fleet.checks as made
         where ended > (select time - interval '1 hour' from clock) and ${inScope('made')} group by repository, path
       ) as ended using (repository, path)
       group by used.address, used.identity
     )
     select used.*, rate.per_second, rate.next_free, clock.time
     from used left join trueup_fleet.request_rates as rate using (address, identity), clock
     order by used.needed / coalesce(rate.per_second, 30) desc, used.address, used.identity limit ${maxRates}`,
  );
}

/** Quotas of the targets that stacks which the viewer sees sent requests to; all quotas for viewers who see everything. */
function readQuotas(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}
     select valid.address, valid.per_second, sum(used.requests / seen.seconds_between_checks) as needed
     from (${validQuotas}) as valid
       ${reading.seesAll ? 'left join' : 'join'} (trueup_fleet.stack_requests as used join seen using (repository, path)) using (address)
     group by valid.address, valid.per_second order by valid.address limit ${maxRates}`,
  );
}

function quotaCells(row: Row): readonly Content[] {
  const perSecond = Number(row['per_second']);
  return [
    html`<code>${String(row['address'])}</code>`,
    `${Number(perSecond.toFixed(1))} a second`,
    needText((100 * Number(row['needed'] ?? 0)) / perSecond),
  ];
}

function needText(percent: number): Html {
  const shown = percent < 1 ? percent.toFixed(1) : percent.toFixed(0);
  return html`<span><meter class="meter" aria-label="part of the rate" min="0" max="100" high="70" optimum="0" value="${Math.min(100, percent).toFixed(1)}"></meter><span${percent > 70 && html` class="error"`}>${shown} %</span></span>`;
}

/** A rate whose next start time is more than this many milliseconds ahead counts as paused: checks take start times for about a second. */
const pausedAfter = 2000;

function rateCells(row: Row): readonly Content[] {
  const perSecond = Number(row['per_second'] ?? 0);
  const percent = perSecond > 0 ? (100 * Number(row['needed'])) / perSecond : 0;
  const [next, now] = [timeOf(row['next_free']) ?? 0, timeOf(row['time']) ?? 0];
  return [
    html`<code>${String(row['address'])}</code>`,
    html`<code>${String(row['identity']).slice(0, 8)}</code>`,
    numberText(Number(row['stacks'])),
    perSecond > 0 ? `${Number(perSecond.toFixed(1))} a second` : 'not known yet',
    `about ${numberText(Number(row['sent']))}`,
    needText(percent),
    next - now > pausedAfter
      ? html`<span><span class="action update">paused</span> opens ${timeText(next, now)}</span>`
      : 'open',
  ];
}

/** Only targets of stacks that the viewer sees. */
function readPauses(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}
     select pause.address, pause.since, pause.next_probe, pause.reason, clock.time from trueup_fleet.target_pauses as pause, clock
     where pause.until is null and exists (select from seen where pause.address = any (seen.targets))
     order by pause.since limit ${maxRates}`,
  );
}

/** The reason may be about a stack that the viewer must not see, so only viewers who see everything get it. */
function pauseCells(row: Row, seesAll: boolean): readonly Content[] {
  const now = timeOf(row['time']) ?? 0;
  return [
    html`<code>${String(row['address'])}</code>`,
    timeText(timeOf(row['since']), now),
    dueText(timeOf(row['next_probe']), now),
    seesAll
      ? html`<span class="error">${clip(String(row['reason']), 500)}</span>`
      : 'its stacks fail in the same way',
  ];
}

function readAges(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}, aged as (
       select seconds_between_checks as seconds, extract(epoch from time - last_complete)::double precision as age from seen
     )
     select seconds, count(*)::integer as stacks, count(*) filter (where age is null)::integer as never, max(age) as oldest,
       percentile_cont(0.5) within group (order by age) as median,
       percentile_cont(0.95) within group (order by age) as p95
     from aged group by seconds order by seconds limit ${maxRates}`,
  );
}

function ageCells(row: Row): readonly Content[] {
  const age = (name: string) => (row[name] === null ? '' : durationText(Number(row[name])));
  return [
    durationText(Number(row['seconds'])),
    numberText(Number(row['stacks'])),
    ...[age('median'), age('p95'), age('oldest')],
    numberText(Number(row['never'])),
  ];
}
