/** The page of a stack: what drifted and who did it, the next check, commands to copy, why its apply waits, and its applies and checks. */
import type { DriftJson } from '../../../report/json/drift-schema.ts';
import { clip, shellWord } from '../../../report/view/printable.ts';
import { lastModifiedLines } from '../../../report/view/format-last-modified.ts';
import { counted } from '../../../model/quoted.ts';
import { openPlanSection, appliesSection, waitBanner } from './applies.ts';
import { type Content, type Html, html } from './html.ts';
import { badge, foundText, type Query } from './fleet-page.ts';
import {
  clockText,
  commandLine,
  dueText,
  durationText,
  pageIn,
  pager,
  pageSize,
  stackName,
  table,
  timeText,
} from './layout.ts';
import { inScope, type Reading, type Row, visibleStacks, textOf, timeOf } from './reading.ts';

interface StackPage {
  readonly title: string;
  readonly head: Html;
  readonly body: Html;
}

/** @returns undefined if there is no such stack, or if the viewer may not see it: both look the same. */
export async function stackPage(
  reading: Reading,
  query: Query,
  addressOf: (repository: string) => string | undefined,
): Promise<StackPage | undefined> {
  const { repository = '', path = '' } = query;
  const stack = await readStack(reading, repository, path);
  if (stack === undefined) return undefined;
  const now = timeOf(stack['time']) ?? 0;
  const total = Number(stack['checks']);
  const page = pageIn(query['page'], total);
  const checks = await readChecks(reading, { repository, path, page });
  return {
    title: stackName(repository, path),
    head: headOf(stack, now),
    body: html`${driftSection(stack, now)}
${openPlanSection(stack)}
${commandSection(stack, addressOf(repository))}
${await appliesSection(reading, repository, path)}
<section><h2>Checks of the last 30 days</h2>
${
  checks.length === 0
    ? html`<p>None has ended yet.</p>`
    : table(
        ['Ended', 'Took', 'Found', 'Commit'],
        checks.map((row) => checkCells(row, now)),
        'Checks of the stack',
      )
}
${pager({ path: '/stack', filters: { repository, path }, page, total, what: 'check' })}
</section>`,
  };
}

async function readStack(reading: Reading, repository: string, path: string): Promise<Row | undefined> {
  const rows = await reading.rows(
    `with ${visibleStacks}
     select seen.*, stack.last_report, stack.removed,
       (select count(*) from trueup_fleet.checks as made where made.repository = $2 and made.path = $3) as checks
     from seen join trueup_fleet.stacks as stack using (repository, path)
     where repository = $2 and path = $3`,
    repository,
    path,
  );
  return rows[0];
}

function readChecks(
  reading: Reading,
  { repository, path, page }: { readonly repository: string; readonly path: string; readonly page: number },
): Promise<readonly Row[]> {
  return reading.rows(
    `select made.* from trueup_fleet.checks as made
     where made.repository = $2 and made.path = $3 and ${inScope('made')}
     order by made.attempt desc limit ${pageSize} offset $4::integer`,
    ...[repository, path, (page - 1) * pageSize],
  );
}

function headOf(stack: Row, now: number): Html {
  const failures = Number(stack['failures']);
  const error = textOf(stack['last_error']);
  const facts: (readonly [string, Content])[] = [
    ['Stack file', html`<code>${String(stack['path'])}</code>`],
    ['Last complete check', timeText(timeOf(stack['last_complete']), now)],
    ['Next check', stack['running'] === true ? 'one is running' : dueText(timeOf(stack['next_due']), now)],
    ['Interval', durationText(Number(stack['seconds_between_checks']))],
    ['Commit', html`<code>${textOf(stack['last_commit']) ?? 'none yet'}</code>`],
    ['Targets', ((stack['targets'] as readonly string[] | null) ?? []).join(', ') || 'not known yet'],
  ];
  return html`<p class="actions">${badge(String(stack['standing']))} <span>${foundText({ ...stack, last_error: null })}</span></p>
${error !== undefined && html`<p class="banner danger">${failures > 1 ? `The last ${failures} checks` : 'The last check'} failed: ${clip(error, 2000)}</p>`}
${waitBanner(stack, now)}
<dl class="about">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

type Drifted = DriftJson['drifted'][number];
type Field = Drifted['fields'][number];

/** Drifted resources that are shown, at most. */
const maxShown = 100;

function driftSection(stack: Row, now: number): Html | undefined {
  // A worker stored it only after it had matched the schema.
  const report = stack['last_report'] as DriftJson | null;
  if (report === null) return undefined;
  const { drifted, changedNames, pending, summary } = report;
  const rows = [
    ...drifted.slice(0, maxShown).map((one) => driftCells(one, now)),
    ...changedNames
      .slice(0, maxShown)
      .map(({ address, message, fix }) => [
        html`<span class="action update">name</span>`,
        html`<code>${address}</code>`,
        html`<span>${message}<span class="field muted">${fix}</span></span>`,
        html`<span class="muted">not known</span>`,
      ]),
  ];
  const left = summary.drifted + summary.changedNames - rows.length;
  return html`<section><h2>Drift</h2>
${rows.length === 0 ? html`<p>Nothing was changed in the targets since the last apply.</p>` : table(['State', 'Resource', 'Changed', 'Last modified'], rows, 'Resources that drifted')}
${left > 0 && html`<p class="muted">and ${left} more: "trueup drift" shows them</p>`}
${pending.length > 0 && html`<p class="muted">Besides, ${counted(summary.pending, 'resource')} would be changed by the files: the plan shows them.</p>`}
</section>`;
}

function driftCells({ is, address, fields, notes, touched }: Drifted, now: number): readonly Content[] {
  const tone = is === 'changed' ? 'update' : 'delete';
  const who =
    touched === undefined
      ? ['not known: the service has no audit trail, or it was not read']
      : lastModifiedLines(
          {
            modifications: touched.touches,
            ...(touched.unknown === undefined ? {} : { unknown: touched.unknown }),
          },
          now,
        );
  return [
    html`<span class="action ${tone}">${is}</span>`,
    html`<code>${address}</code>`,
    html`<span>${is === 'gone' && 'no longer there'}${is === 'recreated' && 'another one has its name now'}${fields.map(fieldText)}${notes.map((note) => html`<span class="field">${note}</span>`)}</span>`,
    html`<span>${who.map((line) => html`<span class="field">${line}</span>`)}</span>`,
  ];
}

const longestValue = 300;

function fieldText({ path, before, after, shape }: Field): Html {
  const shown = (value: Field['before']) =>
    clip(typeof value === 'string' ? value : JSON.stringify(value), longestValue);
  if (shape === 'secret') return html`<span class="field"><code>${path}</code> a secret changed</span>`;
  return html`<span class="field"><code>${path}</code> ${before === undefined ? html`<span class="muted">nothing</span>` : html`<del><code>${shown(before)}</code></del>`} → ${after === undefined ? html`<span class="muted">nothing</span>` : html`<ins><code>${shown(after)}</code></ins>`}</span>`;
}

function commandSection(stack: Row, address: string | undefined): Html {
  const argument = shellWord(stackArgument(String(stack['path'])));
  const commit = textOf(stack['last_commit']);
  const hasDrift = Number(stack['drifted'] ?? 0) > 0;
  const about = address === undefined ? '' : ` of ${address}`;
  return html`<section><h2>Commands</h2>
<p class="muted">In a checkout${about}${commit !== undefined && html`, checked at commit <code>${commit.slice(0, 12)}</code>`}. This page changes nothing.</p>
<h3>See what an apply would change${hasDrift && html`, which takes the drift back`}</h3>${commandLine(`trueup plan ${argument}`)}
${
  hasDrift &&
  html`<h3>Take the drift back</h3>${commandLine(`trueup apply ${argument}`)}
<h3>Keep the drift: write what is live into the manifests</h3>${commandLine(`trueup accept ${argument}`)}`
}
</section>`;
}

/** The stack as an argument of commands. */
function stackArgument(path: string): string {
  const folder = path.endsWith('/trueup.yaml') ? path.slice(0, -'/trueup.yaml'.length) : path;
  const plain = folder === 'trueup.yaml' ? '.' : folder;
  // It must not be taken for an option.
  return plain.startsWith('-') ? `./${plain}` : plain;
}

function checkCells(row: Row, now: number): readonly Content[] {
  const [started, ended] = [timeOf(row['started']) ?? 0, timeOf(row['ended']) ?? 0];
  const error = textOf(row['error']);
  const drifted = Number(row['drifted'] ?? 0);
  const found = drifted > 0 ? `${counted(drifted, 'resource')} drifted` : 'no drift';
  return [
    html`<span>${clockText(ended)} <span class="muted">(${timeText(ended, now)})</span></span>`,
    durationText((ended - started) / 1000),
    error === undefined ? found : html`<span class="error">${clip(error, 500)}</span>`,
    html`<code>${(textOf(row['commit']) ?? '').slice(0, 12)}</code>`,
  ];
}
