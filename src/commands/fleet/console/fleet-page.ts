/** All stacks: how many stand how, and a table with filters. */
import type { Html } from './html.ts';
import { html } from './html.ts';
import { dueText, link, numberText, pageIn, pager, pageSize, stackLink, table, timeText } from './layout.ts';
import { type Reading, type Row, seenStacks, type Standing, standings, textOf, timeOf } from './reading.ts';

export type Query = Readonly<Record<string, string | undefined>>;

const labels: Readonly<Record<Standing, { readonly name: string; readonly tone: string }>> = {
  stale: { name: 'stale', tone: 'delete' },
  attention: { name: 'needs attention', tone: 'update' },
  working: { name: 'working', tone: 'none' },
  'in-sync': { name: 'in sync', tone: 'create' },
};

export function badge(standing: string): Html {
  const { name, tone } = labels[standing as Standing] ?? labels.working;
  return html`<span class="action ${tone}">${name}</span>`;
}

interface Filters {
  readonly is: Standing | undefined;
  readonly repository: string | undefined;
  readonly text: string | undefined;
}

function filtersOf({ is, repository, text }: Query): Filters {
  const given = (value: string | undefined) => (value?.trim() ? value.trim().slice(0, 200) : undefined);
  return { is: standings.find((one) => one === is), repository: given(repository), text: given(text) };
}

export async function fleetPage(reading: Reading, query: Query): Promise<{ head: Html; body: Html }> {
  const filters = filtersOf(query);
  const counts = await readCounts(reading, filters);
  const total = counts
    .filter(({ repository, standing }) => matches({ repository, standing }, filters))
    .reduce((sum, { found }) => sum + found, 0);
  const page = pageIn(query['page'], total);
  const rows = total === 0 ? [] : await readPage(reading, filters, page);
  const count = (standing: Standing) =>
    counts.filter((one) => one.standing === standing).reduce((sum, { all }) => sum + all, 0);
  return {
    head: html`<div class="tiles">${standings.map((standing) => tile(standing, count(standing), filters))}</div>
<p class="muted">Stale: no complete check for two intervals. Needs attention: drift, or the last check failed. Working: waiting for the first check.</p>`,
    body: html`<section aria-label="Stacks">
${filterForm(filters, [...new Set(counts.map(({ repository }) => repository))])}
${rows.length === 0 ? nothing(counts.length === 0) : table(['Standing', 'Stack', 'Found', 'Checked', 'Next check'], rows.map(cellsOf), 'Stacks of the fleet')}
${pager({ path: '/', filters: { ...filters }, page, total, what: 'stack' })}
</section>`,
  };
}

interface Count {
  readonly repository: string;
  readonly standing: string;
  readonly all: number;
  /** of the text */
  readonly found: number;
}

/** By standing and repository: all, and those that the text finds. */
async function readCounts(reading: Reading, { text }: Filters): Promise<Count[]> {
  const rows = await reading.rows(
    `with ${seenStacks}
     select repository, standing, count(*)::integer as all, count(*) filter (where ${hasText})::integer as found
     from seen group by repository, standing order by repository collate "C"`,
    text ?? null,
  );
  return rows.map(({ repository, standing, all, found }) => ({
    repository: String(repository),
    standing: String(standing),
    all: Number(all),
    found: Number(found),
  }));
}

const hasText = `($2::text is null or position(lower($2) in lower(repository || '/' || path)) > 0)`;

function matches(
  { repository, standing }: Pick<Count, 'repository' | 'standing'>,
  filters: Filters,
): boolean {
  const isOne = filters.is === undefined || standing === filters.is;
  return isOne && (filters.repository === undefined || repository === filters.repository);
}

function readPage(
  reading: Reading,
  { is, repository, text }: Filters,
  page: number,
): Promise<readonly Row[]> {
  return reading.rows(
    `with ${seenStacks}
     select * from seen
     where ${hasText} and ($3::text is null or standing = $3) and ($4::text is null or repository = $4)
     order by array_position(array['stale', 'attention', 'working', 'in-sync'], standing), repository collate "C", path collate "C"
     limit ${pageSize} offset $5::integer`,
    ...[text ?? null, is ?? null, repository ?? null, (page - 1) * pageSize],
  );
}

function tile(standing: Standing, count: number, { is, ...filters }: Filters): Html {
  const { name, tone } = labels[standing];
  const isOn = is === standing;
  const target = link('/', { ...filters, is: isOn ? undefined : standing });
  return html`<a class="tile ${tone} ${count === 0 ? 'zero' : ''}" href="${target}"${isOn && html` aria-current="true"`}><strong>${numberText(count)}</strong> ${name}</a>`;
}

/** More of them are no help in a list. */
const mostRepositories = 200;

function filterForm({ is, repository, text }: Filters, repositories: readonly string[]): Html {
  const option = (value: string, name: string, chosen: string | undefined) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${name}</option>`;
  const listed = repositories.slice(0, mostRepositories);
  const choices = repository === undefined || listed.includes(repository) ? listed : [repository, ...listed];
  const isFiltered = is !== undefined || repository !== undefined || text !== undefined;
  return html`<form class="filters" action="/" method="get">
<label class="control words">Text in repository or path <input type="search" name="text" value="${text ?? ''}"></label>
<label class="control pick">Standing <select name="is">${option('', 'any', is)}${standings.map((one) => option(one, labels[one].name, is))}</select></label>
<label class="control pick">Repository <select name="repository">${option('', 'any', repository)}${choices.map((one) => option(one, one, repository))}</select></label>
<button type="submit">Filter</button>${isFiltered && html`<a href="/">Clear</a>`}
</form>`;
}

function nothing(isEmpty: boolean): Html {
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
    html`<span>${foundText(row)}${failures > 1 && html` <span class="muted">(${failures} failures)</span>`}</span>`,
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
  const known = row['last_complete'] !== null;
  const words = [
    drifted > 0 ? `${drifted} drifted` : known ? 'no drift' : '',
    pending > 0 ? `${pending} pending` : '',
  ];
  return html`${words.filter(Boolean).join(', ')}${short !== undefined && html`<span class="field error">${short}</span>`}`;
}
