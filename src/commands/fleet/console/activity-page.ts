/** What happened: drifts that were found, that changed and that ended, by person and time; as a page, CSV and JSON. */
import { type Content, type Html, html } from './html.ts';
import { csvOf } from './csv.ts';
import type { Query } from './fleet-page.ts';
import { clockText, link, pageIn, pager, pageSize, stackLink, table } from './layout.ts';
import { inScope, type Reading, type Row, timeOf } from './reading.ts';

const kinds = ['opened', 'changed', 'closed'] as const;
type Kind = (typeof kinds)[number];

const tones: Readonly<Record<Kind, string>> = { opened: 'update', changed: 'update', closed: 'create' };

interface Filters {
  readonly event: Kind | undefined;
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
    event: kinds.find((one) => one === event),
    ...{ person: given(person), text: given(text), from: date(from), to: date(to) },
  };
}

/** Whether PostgreSQL takes it for one, too: `Date.parse` moves 31 February into March, and PostgreSQL has no year 0. */
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
    head: html`<p class="muted">Drift of stacks: when a check found it, when it became another one, and when a check found it gone. Of a change, the last one is shown. People are those of the audit trail of the target, where it has one.</p>`,
    body: html`<section aria-label="Events">
${filterForm(filters)}
${rows.length === 0 ? html`<p>Nothing has happened that these filters find.</p>` : table(['Time', 'Drift', 'Stack', 'Resources', 'By'], rows.map(cellsOf), 'Activity')}
<div class="actions">${pager({ path: '/activity', filters: { ...filters }, page, total, what: 'event' })}<span><a href="${link('/activity.csv', { ...filters })}">CSV</a> · <a href="${link('/activity.json', { ...filters })}">JSON</a></span></div>
</section>`,
  };
}

/** More of them are cut off: the filters find fewer. */
const mostExported = 10_000;

export async function exportActivity(reading: Reading, query: Query, kind: 'csv' | 'json'): Promise<string> {
  const rows = await readEvents(reading, filtersOf(query), { limit: mostExported, offset: 0 });
  const events = rows.map((row) => ({
    at: new Date(timeOf(row['at']) ?? 0).toISOString(),
    event: String(row['event']),
    repository: String(row['repository']),
    path: String(row['path']),
    resources: Number(row['resources']),
    people: peopleOf(row),
    ...(row['event'] === 'closed' ? { because: String(row['closed_because']) } : {}),
  }));
  if (kind === 'json') return `${JSON.stringify({ version: 1, events }, null, 2)}\n`;
  return csvOf([
    ['at', 'event', 'repository', 'path', 'resources', 'people', 'because'],
    ...events.map(({ at, event, repository, path, resources, people, because = '' }) => [
      ...[at, event, repository, path, String(resources), people.join('; '), because],
    ]),
  ]);
}

/** `$2` to `$6` are the filters. */
const events = `events as (
  select drift.repository, drift.path, drift.resources, drift.actors, drift.closed_because, happened.event, happened.at, drift.id
  from trueup_fleet.drifts as drift,
    lateral (values ('opened', drift.opened), ('changed', case when drift.changed > drift.opened then drift.changed end), ('closed', drift.closed)) as happened (event, at)
  where ${inScope('drift')} and happened.at is not null
    and ($2::text is null or happened.event = $2)
    and ($3::text is null or exists (select from unnest(drift.actors) as actor where position(lower($3) in lower(actor)) > 0))
    and ($4::text is null or position(lower($4) in lower(drift.repository || '/' || drift.path)) > 0)
    and ($5::date is null or happened.at >= $5::date::timestamp at time zone 'UTC')
    and ($6::date is null or happened.at < ($6::date + 1)::timestamp at time zone 'UTC')
)`;

function valuesOf({ event, person, text, from, to }: Filters): readonly unknown[] {
  return [event ?? null, person ?? null, text ?? null, from ?? null, to ?? null];
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
  return row['actors'] as readonly string[];
}

function cellsOf(row: Row): readonly Content[] {
  const event = String(row['event']) as Kind;
  const [repository, path] = [String(row['repository']), String(row['path'])];
  const isRemoved = event === 'closed' && row['closed_because'] === 'removed';
  const people = peopleOf(row).join(', ');
  return [
    clockText(timeOf(row['at']) ?? 0),
    html`<span><span class="action ${tones[event]}">${event}</span>${isRemoved && ' the stack was removed'}</span>`,
    stackLink(repository, path),
    Number(row['resources']),
    people === '' ? html`<span class="muted">not known</span>` : people,
  ];
}

function filterForm({ event, person, text, from, to }: Filters): Html {
  const isFiltered = [event, person, text, from, to].some((one) => one !== undefined);
  return html`<form class="filters" action="/activity" method="get">
<label class="control words">Text in repository or path <input type="search" name="text" value="${text ?? ''}"></label>
<label class="control pick">Person <input type="search" name="person" value="${person ?? ''}"></label>
<label class="control pick">Drift <select name="event"><option value="">any</option>${kinds.map((one) => html`<option value="${one}"${one === event && html` selected`}>${one}</option>`)}</select></label>
<label class="control pick">From <input type="date" name="from" value="${from ?? ''}"></label>
<label class="control pick">To <input type="date" name="to" value="${to ?? ''}"></label>
<button type="submit">Filter</button>${isFiltered && html`<a href="/activity">Clear</a>`}
</form>`;
}
