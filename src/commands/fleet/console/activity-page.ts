/** The page Activity: drift that began, changed or ended, and applies, by person and time; also as CSV and JSON. */
import { clip } from '../../../report/view/printable.ts';
import { outcomeBadge, reasonField } from './applies.ts';
import { type Content, type Html, html } from './html.ts';
import { csvOf } from './csv.ts';
import type { Query } from './fleet-page.ts';
import { clockText, link, pageIn, pager, pageSize, stackLink, table } from './layout.ts';
import { inScope, type Reading, type Row, textOf, timeOf } from './reading.ts';

const driftEvents = ['opened', 'changed', 'closed'];
const applyEvents = ['applied', 'apply-partial', 'apply-failed', 'apply-interrupted', 'apply-lost'];

/** The events for each value of the filter: a group of events, or one. */
const eventsByName: ReadonlyMap<string, readonly string[]> = new Map([
  ['drift', driftEvents],
  ['apply', applyEvents],
  ...[...driftEvents, ...applyEvents].map((event): [string, string[]] => [event, [event]]),
]);

interface Filters {
  /** a key of `eventsByName` */
  readonly event: string | undefined;
  readonly person: string | undefined;
  readonly text: string | undefined;
  /** dates such as 2026-01-31, the last one included */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

function filtersOf({ event, person, text, from, to }: Query): Filters {
  const given = (value: string | undefined) => (value?.trim() ? value.trim().slice(0, 200) : undefined);
  const date = (value: string | undefined) => (value !== undefined && isDate(value) ? value : undefined);
  return {
    event: event !== undefined && eventsByName.has(event) ? event : undefined,
    ...{ person: given(person), text: given(text), from: date(from), to: date(to) },
  };
}

/** Whether PostgreSQL accepts the text as a date as well: `Date.parse` moves 31 February into March, and PostgreSQL has no year 0. */
function isDate(text: string): boolean {
  const time = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

export async function activityPage(reading: Reading, query: Query): Promise<{ head: Html; body: Html }> {
  const filters = filtersOf(query);
  const total = await countEvents(reading, filters);
  const page = pageIn(query['page'], total);
  const rows =
    total === 0 ? [] : await readEvents(reading, filters, { limit: pageSize, offset: (page - 1) * pageSize });
  return {
    head: html`<p class="muted">Drift of stacks, as checks found it, and who did it, where the target has an audit trail; and applies of the fleet, and who approved them. Of a drift that changed, the last change is shown.</p>`,
    body: html`<section aria-label="Events">
${filterForm(filters)}
${rows.length === 0 ? html`<p>No event matches these filters.</p>` : table(['Time', 'Event', 'Stack', 'Resources', 'By'], rows.map(cellsOf), 'Activity')}
<div class="actions">${pager({ path: '/activity', filters: { ...filters }, page, total, what: 'event' })}<span><a href="${link('/activity.csv', { ...filters })}">CSV</a> · <a href="${link('/activity.json', { ...filters })}">JSON</a></span></div>
</section>`,
  };
}

/** Events in an export, at most. Filters help to export the others. */
const maxExported = 10_000;

export async function exportActivity(reading: Reading, query: Query, kind: 'csv' | 'json'): Promise<string> {
  const rows = await readEvents(reading, filtersOf(query), { limit: maxExported, offset: 0 });
  const events = rows.map(exported);
  if (kind === 'json') return `${JSON.stringify({ version: 1, events }, null, 2)}\n`;
  const columns = [
    ...['at', 'event', 'repository', 'path', 'resources', 'people', 'because', 'commit', 'reason'],
  ] as const;
  return csvOf([
    columns,
    ...events.map((event) =>
      columns.map((column) => (column === 'people' ? event.people.join('; ') : String(event[column] ?? ''))),
    ),
  ]);
}

interface Exported {
  readonly at: string;
  readonly event: string;
  readonly repository: string;
  readonly path: string;
  /** null for an apply whose end is not known */
  readonly resources: number | null;
  readonly people: readonly string[];
  /** of drift that ended */
  readonly because?: string;
  /** of an apply */
  readonly commit?: string;
  readonly reason?: string;
}

function exported(row: Row): Exported {
  const [commit, reason] = [textOf(row['commit']), textOf(row['reason'])];
  return {
    at: new Date(timeOf(row['at']) ?? 0).toISOString(),
    event: String(row['event']),
    repository: String(row['repository']),
    path: String(row['path']),
    resources: row['resources'] === null ? null : Number(row['resources']),
    people: peopleOf(row),
    ...(row['event'] === 'closed' ? { because: String(row['closed_because']) } : {}),
    ...(commit === undefined ? {} : { commit }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** `$2` to `$6` are the filters. */
const events = `happened as (
  select drift.id, drift.repository, drift.path, drift.resources, drift.actors as people, drift.closed_because,
    null::text as commit, null::text as reason, each.event, each.at
  from trueup_fleet.drifts as drift,
    lateral (values ('opened', drift.opened), ('changed', case when drift.changed > drift.opened then drift.changed end), ('closed', drift.closed)) as each (event, at)
  where ${inScope('drift')}
  union all
  select made.id, made.repository, made.path, made.changes, made.people, null, made.commit, made.reason,
    case made.outcome when 'applied' then 'applied' else 'apply-' || made.outcome end, made.ended
  from trueup_fleet.applies as made
  where ${inScope('made')}
), events as (
  select * from happened
  where at is not null
    and ($2::text[] is null or event = any ($2))
    and ($3::text is null or exists (select from unnest(people) as person where position(lower($3) in lower(person)) > 0))
    and ($4::text is null or position(lower($4) in lower(repository || '/' || path)) > 0)
    and ($5::date is null or at >= $5::date::timestamp at time zone 'UTC')
    and ($6::date is null or at < ($6::date + 1)::timestamp at time zone 'UTC')
)`;

function valuesOf({ event, person, text, from, to }: Filters): readonly unknown[] {
  return [eventsByName.get(event ?? '') ?? null, person ?? null, text ?? null, from ?? null, to ?? null];
}

async function countEvents(reading: Reading, filters: Filters): Promise<number> {
  const rows = await reading.rows(
    `with ${events} select count(*) as count from events`,
    ...valuesOf(filters),
  );
  return Number(rows[0]?.['count'] ?? 0);
}

function readEvents(
  reading: Reading,
  filters: Filters,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly Row[]> {
  return reading.rows(
    `with ${events} select * from events order by at desc, id desc, event limit $7::integer offset $8::integer`,
    ...[...valuesOf(filters), limit, offset],
  );
}

function peopleOf(row: Row): readonly string[] {
  return row['people'] as readonly string[];
}

function cellsOf(row: Row): readonly Content[] {
  return [
    clockText(timeOf(row['at']) ?? 0),
    eventCell(row),
    stackLink(String(row['repository']), String(row['path'])),
    row['resources'] === null ? '' : Number(row['resources']),
    peopleCell(row),
  ];
}

function isApply(row: Row): boolean {
  return row['commit'] !== null;
}

function eventCell(row: Row): Html {
  const event = String(row['event']);
  const outcome = event.replace('apply-', '');
  if (isApply(row))
    return html`<span>${outcomeBadge(outcome, eventWords.get(event))}${reasonField({ ...row, outcome })}</span>`;
  const isRemoved = event === 'closed' && row['closed_because'] === 'removed';
  const tone = event === 'closed' ? 'create' : 'update';
  return html`<span><span class="action ${tone}">${eventWords.get(event)}</span>${isRemoved && ' the stack was removed'}</span>`;
}

function peopleCell(row: Row): Content {
  const people = clip(peopleOf(row).join(', '), 500);
  // Many applies need no approval.
  return people === '' && !isApply(row) ? html`<span class="muted">not known</span>` : people;
}

const eventWords: ReadonlyMap<string, string> = new Map([
  ['drift', 'drift'],
  ['opened', 'drift opened'],
  ['changed', 'drift changed'],
  ['closed', 'drift closed'],
  ['apply', 'applies'],
  ['applied', 'applied'],
  ['apply-partial', 'applied in part'],
  ['apply-failed', 'apply failed'],
  ['apply-interrupted', 'apply interrupted'],
  ['apply-lost', 'apply lost'],
]);

function filterForm({ event, person, text, from, to }: Filters): Html {
  const isFiltered = [event, person, text, from, to].some((one) => one !== undefined);
  return html`<form class="filters" action="/activity" method="get">
<label class="control words">Text in repository or path <input type="search" name="text" value="${text ?? ''}"></label>
<label class="control pick">Person <input type="search" name="person" value="${person ?? ''}"></label>
<label class="control pick">Event <select name="event"><option value="">any</option>${[...eventWords].map(([one, words]) => html`<option value="${one}"${one === event && html` selected`}>${words}</option>`)}</select></label>
<label class="control pick">From <input type="date" name="from" value="${from ?? ''}"></label>
<label class="control pick">To <input type="date" name="to" value="${to ?? ''}"></label>
<button type="submit">Filter</button>${isFiltered && html`<a href="/activity">Clear</a>`}
</form>`;
}
