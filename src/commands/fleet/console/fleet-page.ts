/** The page Fleet: how many stacks have each standing, and a table with filters. */
import { type Standing, standings, waitingWords, waitReasons } from '../apply/standing.ts';
import { waitMark, waitTable } from './applies.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import { dueText, link, numberText, pageIn, pager, pageSize, stackLink, table, timeText } from './layout.ts';
import { type Reading, type Row, visibleStacks, textOf, timeOf } from './reading.ts';
import { unreadBanner } from './unread.ts';

export type Query = Readonly<Record<string, string | undefined>>;

const standingLabels: Readonly<Record<Standing, { readonly name: string; readonly tone: string }>> = {
  stale: { name: 'stale', tone: 'delete' },
  attention: { name: 'needs attention', tone: 'update' },
  working: { name: 'working', tone: 'none' },
  'in-sync': { name: 'in sync', tone: 'create' },
};

export function badge(standing: string): Html {
  const { name, tone } = standingLabels[standing as Standing] ?? standingLabels.working;
  return html`<span class="action ${tone}">${name}</span>`;
}

/** Values of the filter for what an apply waits for; `waits` matches everything that waits. */
const waitFilters = ['waits', ...waitReasons] as const;

interface Filters {
  readonly is: Standing | undefined;
  readonly apply: (typeof waitFilters)[number] | undefined;
  readonly repository: string | undefined;
  readonly text: string | undefined;
  /** key and value, with a colon between them */
  readonly label: string | undefined;
}

function filtersOf({ is, apply, repository, text, label }: Query): Filters {
  const given = (value: string | undefined) => (value?.trim() ? value.trim().slice(0, 200) : undefined);
  return {
    is: standings.find((one) => one === is),
    apply: waitFilters.find((one) => one === apply),
    ...{ repository: given(repository), text: given(text), label: given(label) },
  };
}

export async function fleetPage(reading: Reading, query: Query): Promise<{ head: Html; body: Html }> {
  const filters = filtersOf(query);
  const counts = await readCounts(reading, filters);
  const total = sumOf(
    counts.filter((one) => matches(one, filters)),
    'found',
  );
  const page = pageIn(query['page'], total);
  const rows = total === 0 ? [] : await readPage(reading, filters, page);
  const waiting = sumOf(
    counts.filter(({ waitsFor }) => waitsFor !== undefined),
    'all',
  );
  const shown = filters.apply === undefined ? stackTable(rows) : waitTable(rows);
  return {
    head: html`${await unreadBanner(reading)}<div class="tiles">${standings.map((standing) => standingTile(standing, counts, filters))}${waitingTile(waiting, filters)}</div>
<p class="muted">Stale: no complete check for two intervals. Needs attention: drift, a check or an apply that failed, or a plan that waits for an approval or an acknowledgement. Working: before the first check, or while an apply goes on by itself.</p>`,
    body: html`<section aria-label="Stacks">
${filterForm(filters, {
  repositories: [...new Set(counts.map(({ repository }) => repository))],
  hasWaits: waiting > 0,
  hasLabels: counts.some(({ hasLabels }) => hasLabels),
})}
${rows.length === 0 ? emptyText(counts.length === 0) : shown}
${pager({ path: '/', filters: { ...filters }, page, total, what: 'stack' })}
</section>`,
  };
}

function stackTable(rows: readonly Row[]): Html {
  return table(
    ['Standing', 'Stack', 'Found', 'Checked', 'Next check'],
    rows.map(cellsOf),
    'Stacks of the fleet',
  );
}

interface Count {
  readonly repository: string;
  readonly standing: string;
  /** undefined when no apply waits */
  readonly waitsFor: string | undefined;
  readonly all: number;
  /** those that match the text and the label */
  readonly found: number;
  readonly hasLabels: boolean;
}

function sumOf(counts: readonly Count[], member: 'all' | 'found'): number {
  return counts.reduce((sum, one) => sum + one[member], 0);
}

/** Counts stacks by standing, repository and what an apply waits for: all of them, and those that match the text and the label. */
async function readCounts(reading: Reading, { text, label }: Filters): Promise<Count[]> {
  const rows = await reading.rows(
    `with ${visibleStacks}
     select repository, standing, waits_for, count(*)::integer as all, count(*) filter (where ${hasText} and ${hasLabel('$3')})::integer as found,
       bool_or(labels <> '{}') as labelled
     from seen group by repository, standing, waits_for order by repository collate "C"`,
    ...[text ?? null, label ?? null],
  );
  return rows.map(({ repository, standing, waits_for: waitsFor, all, found, labelled }) => ({
    repository: String(repository),
    standing: String(standing),
    waitsFor: textOf(waitsFor),
    all: Number(all),
    found: Number(found),
    hasLabels: labelled === true,
  }));
}

const hasText = `($2::text is null or position(lower($2) in lower(repository || '/' || path)) > 0)`;

/** A condition for `key:value`, or for a key with any value. Keys and values have no colon. */
function hasLabel(value: string): string {
  return `(${value}::text is null or case when position(':' in ${value}) = 0 then labels ? ${value}
    else labels ->> split_part(${value}, ':', 1) = substr(${value}, position(':' in ${value}) + 1) end)`;
}

function matches({ repository, standing, waitsFor }: Count, { is, apply, ...filters }: Filters): boolean {
  const hasStanding = is === undefined || standing === is;
  const isWaiting = apply === undefined || (apply === 'waits' ? waitsFor !== undefined : waitsFor === apply);
  return hasStanding && isWaiting && (filters.repository === undefined || repository === filters.repository);
}

function readPage(
  reading: Reading,
  { is, apply, repository, text, label }: Filters,
  page: number,
): Promise<readonly Row[]> {
  return reading.rows(
    `with ${visibleStacks}
     select * from seen
     where ${hasText} and ($3::text is null or standing = $3) and ($4::text is null or repository = $4)
       and ($6::text is null or $6 = waits_for or $6 = 'waits' and waits_for is not null)
       and ${hasLabel('$7')}
     order by ${apply === undefined ? `array_position(array['stale', 'attention', 'working', 'in-sync'], standing)` : 'waits_since'}, repository collate "C", path collate "C"
     limit ${pageSize} offset $5::integer`,
    ...[text ?? null, is ?? null, repository ?? null, (page - 1) * pageSize, apply ?? null, label ?? null],
  );
}

function standingTile(standing: Standing, counts: readonly Count[], { is, ...filters }: Filters): Html {
  const isOn = is === standing;
  const count = sumOf(
    counts.filter((one) => one.standing === standing),
    'all',
  );
  const target = link('/', { ...filters, is: isOn ? undefined : standing });
  return tile({ ...standingLabels[standing], count, target, isOn });
}

/** Left out if no apply waits: most fleets apply nothing. */
function waitingTile(count: number, { apply, ...filters }: Filters): Html | undefined {
  const isOn = apply !== undefined;
  if (count === 0 && !isOn) return undefined;
  const target = link('/', { ...filters, apply: isOn ? undefined : 'waits' });
  return tile({ name: count === 1 ? 'apply waits' : 'applies wait', tone: 'none', count, target, isOn });
}

interface Tile {
  readonly name: string;
  readonly tone: string;
  readonly count: number;
  readonly target: string;
  /** whether its filter is active */
  readonly isOn: boolean;
}

function tile({ name, tone, count, target, isOn }: Tile): Html {
  return html`<a class="tile ${tone} ${count === 0 ? 'zero' : ''}" href="${target}"${isOn && html` aria-current="true"`}><strong>${numberText(count)}</strong> ${name}</a>`;
}

/** Repositories in the list, at most. */
const maxRepositories = 200;

/** The choices of the filters. */
interface Choices {
  readonly repositories: readonly string[];
  readonly hasWaits: boolean;
  readonly hasLabels: boolean;
}

function filterForm(
  { is, apply, repository, text, label }: Filters,
  { repositories, hasWaits, hasLabels }: Choices,
): Html {
  const option = (value: string, name: string, chosen: string | undefined) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${name}</option>`;
  const listed = repositories.slice(0, maxRepositories);
  const choices = repository === undefined || listed.includes(repository) ? listed : [repository, ...listed];
  const isFiltered = [is, apply, repository, text, label].some((one) => one !== undefined);
  const applies =
    (hasWaits || apply !== undefined) &&
    html`<label class="control pick">Apply <select name="apply">${option('', 'any', apply)}${waitFilters.map((one) => option(one, one === 'waits' ? 'waits' : waitingWords(one), apply))}</select></label>`;
  const labelled =
    (hasLabels || label !== undefined) &&
    html`<label class="control">Label <input type="search" name="label" value="${label ?? ''}" placeholder="tier:production"></label>`;
  return html`<form class="filters" action="/" method="get">
<label class="control words">Text in repository or path <input type="search" name="text" value="${text ?? ''}"></label>
<label class="control pick">Standing <select name="is">${option('', 'any', is)}${standings.map((one) => option(one, standingLabels[one].name, is))}</select></label>
<label class="control pick">Repository <select name="repository">${option('', 'any', repository)}${choices.map((one) => option(one, one, repository))}</select></label>
${applies}${labelled}
<button type="submit">Filter</button>${isFiltered && html`<a href="/">Clear</a>`}
</form>`;
}

function emptyText(isEmpty: boolean): Html {
  return isEmpty
    ? html`<p>There are no stacks that you may see.</p>`
    : html`<p>No stack matches these filters.</p>`;
}

function cellsOf(row: Row) {
  const [repository, path] = [String(row['repository']), String(row['path'])];
  const now = timeOf(row['time']) ?? 0;
  const failures = Number(row['failures']);
  const checks =
    row['running'] === true
      ? html`<span class="muted">running</span>`
      : dueText(timeOf(row['next_due']), now);
  return [
    badge(String(row['standing'])),
    stackLink(repository, path),
    html`<span>${foundText(row)}${failures > 1 && html` <span class="muted">(${failures} failures)</span>`}${waitMark(row)}</span>`,
    timeText(timeOf(row['last_complete']), now),
    checks,
  ];
}

const longestError = 160;

/** What the last check found, and why it failed. */
export function foundText(row: Row): Html {
  const [drifted, pending] = [Number(row['drifted']), Number(row['pending'])];
  const error = textOf(row['last_error']);
  const short =
    error !== undefined && error.length > longestError ? `${error.slice(0, longestError)}…` : error;
  const wasChecked = row['last_complete'] !== null;
  const words = [
    drifted > 0 ? `${drifted} drifted` : wasChecked ? 'no drift' : '',
    pending > 0 ? `${pending} pending` : '',
  ];
  return html`${words.filter(Boolean).join(', ')}${short !== undefined && html`<span class="field error">${short}</span>`}`;
}
