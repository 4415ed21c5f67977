/**
 * The page Access: which accounts may log in and which workspaces may read the state of others, by the last complete checks of all stacks.
 */
import { clip } from '../../../report/view/printable.ts';
import { type Content, type Html, html } from './html.ts';
import type { Query } from './fleet-page.ts';
import { link, pageIn, pager, pageSize, stackLink, table } from './layout.ts';
import { inScope, type Reading, type Row, textOf } from './reading.ts';

const gives = [
  ['login', 'log in'],
  ['state', 'read a state'],
] as const;

interface Filters {
  readonly text: string | undefined;
  readonly may: string | undefined;
}

function filtersOf({ text, may }: Query): Filters {
  return {
    text: text?.trim() ? text.trim().slice(0, 200) : undefined,
    may: gives.find(([one]) => one === may)?.[0],
  };
}

export async function accessPage(reading: Reading, query: Query): Promise<{ head: Html; body: Html }> {
  const filters = filtersOf(query);
  const [{ count = 0 } = {}] = await reading.rows(
    `${found} select count(*) as count from found`,
    ...valuesOf(filters),
  );
  const total = Number(count);
  const page = pageIn(query['page'], total);
  const rows =
    total === 0
      ? []
      : await reading.rows(
          `${found} select * from found order by repository collate "C", path collate "C", address collate "C"
           limit ${pageSize} offset $4::integer`,
          ...[...valuesOf(filters), (page - 1) * pageSize],
        );
  return {
    head: html`<p class="muted">Which service accounts may log in, and which workspaces may read the state of others, as the last complete check of each stack found it in the targets. What no stack declares is not here.</p>`,
    body: html`<section aria-label="Access">
${filterForm(filters)}
${rows.length === 0 ? html`<p>No known access matches these filters.</p>` : table(['Who', 'May', 'Given by', 'Stack'], rows.map(cellsOf), 'Access')}
${pager({ path: '/access', filters: { ...filters }, page, total, what: 'grant' })}
</section>`,
  };
}

/** An account as a pattern of LIKE in PostgreSQL: `*` matches any characters. */
const pattern = String.raw`replace(replace(replace(replace(lower(one), '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')`;

/** SQL: the rows that pass the filters `$2` and `$3`. A text finds names that contain it and patterns that match it. */
const found = `with found as (
  select access.* from trueup_fleet.access join trueup_fleet.stacks as stack using (repository, path)
  where stack.removed is null and ${inScope('access')} and ($3::text is null or access.gives = $3)
    and ($2::text is null or position(lower($2) in access.words) > 0
      or access.has_patterns and exists (select from unnest(access.who) as one where lower($2) like ${pattern}))
)`;

function valuesOf({ text, may }: Filters): readonly unknown[] {
  return [text ?? null, may ?? null];
}

function cellsOf(row: Row): readonly Content[] {
  const isLogin = row['gives'] === 'login';
  return [
    isLogin ? accountsCell(row) : readersCell(row),
    isLogin ? policiesCell(row) : html`<span>read the state of ${name(workspaceIn(row))}</span>`,
    html`<code>${clip(String(row['address']), 300)}</code>`,
    stackLink(String(row['repository']), String(row['path'])),
  ];
}

function accountsCell(row: Row): Html {
  const selector = detailOf(row, 'selector');
  const places = [
    ...wordsOf(row, 'places', 'every namespace'),
    ...(selector === undefined ? [] : [html`<span>namespaces with labels ${name(selector)}</span>`]),
  ];
  return html`<span>${list(wordsOf(row, 'who', 'every service account'))}<span class="field">in ${list(places)}</span></span>`;
}

function policiesCell(row: Row): Html {
  const policies = wordsOf(row, 'policies', '*');
  const audience = detailOf(row, 'audience');
  return html`<span>log in${policies.length === 0 ? ', with no policy' : html` with ${list(policies)}`}<span class="field muted">${audience === undefined ? 'a JWT for any audience' : html`a JWT for ${name(audience)}`}</span></span>`;
}

function readersCell(row: Row): Html {
  const sharedWith = detailOf(row, 'sharedWith');
  return sharedWith === undefined
    ? html`<span>${list(wordsOf(row, 'who', '*'))}</span>`
    : html`<span>every workspace of its ${sharedWith}</span>`;
}

function workspaceIn(row: Row): string {
  return String(row['address']).split('/').slice(2).join('/');
}

/** Names that a cell shows. More are only counted. */
const maxWords = 20;

/** @param all text for a pattern that matches every name */
function wordsOf(row: Row, column: string, all: string): readonly Html[] {
  const words = row[column] as readonly string[];
  if (all !== '*' && words.some((word) => /^\*+$/.test(word))) return [html`<span>${all}</span>`];
  const more = words.length - maxWords;
  return [
    ...words.slice(0, maxWords).map(name),
    ...(more > 0 ? [html`<span class="muted">and ${more} more</span>`] : []),
  ];
}

function list(words: readonly Html[]): Html {
  return html`${words.map((word, index) => html`${index > 0 && ', '}${word}`)}`;
}

function name(text: string): Html {
  return html`<code>${clip(text, 300)}</code>`;
}

function detailOf(row: Row, detail: string): string | undefined {
  return textOf((row['details'] as Readonly<Record<string, unknown>>)[detail]);
}

function filterForm({ text, may }: Filters): Html {
  const isFiltered = text !== undefined || may !== undefined;
  return html`<form class="filters" action="/access" method="get">
<label class="control words">Service account, policy or workspace <input type="search" name="text" value="${text ?? ''}"></label>
<label class="control pick">May <select name="may"><option value="">any</option>${gives.map(([one, words]) => html`<option value="${one}"${one === may && html` selected`}>${words}</option>`)}</select></label>
<button type="submit">Filter</button>${isFiltered && html`<a href="${link('/access', {})}">Clear</a>`}
</form>`;
}
