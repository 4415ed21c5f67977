/**
 * Pages of a list: the requested rows, and the links and numbers of the answer. A page beyond the end is an empty
 * list with the real totals, not an error.
 */
import type { Database, SqlParameters } from './database.ts';
import { badRequest, type Resource } from './documents.ts';
import { type ApiAnswer, type ApiRequest, ok, type Query, queryText } from './endpoint.ts';

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

/** The largest page number whose first row is still an exact number in SQLite and JavaScript. */
const LARGEST_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PAGE_SIZE);

export interface Page {
  readonly number: number;
  readonly size: number;
}

/** The LIMIT and OFFSET of a query for a page. */
export function pageWindow(page: Page): { limit: number; offset: number } {
  return { limit: page.size, offset: (page.number - 1) * page.size };
}

/** The requested page. A value that is not a positive whole number means the default; sizes are capped. @throws ApiError 400 */
export function requestedPage(query: Query): Page {
  return {
    number: positive(query, 'page[number]') ?? 1,
    size: Math.min(positive(query, 'page[size]') ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
  };
}

/** @throws ApiError 400 */
function positive(query: Query, name: string): number | undefined {
  const text = queryText(query, name);
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  // A number that is too large was intended: with the default, the client would get another page than it requested.
  if (value > LARGEST_NUMBER)
    throw badRequest(`${name} may be at most ${LARGEST_NUMBER}`, { parameter: name });
  return value > 0 ? value : undefined;
}

/** The numbers of the pages around one. `hasMore` replaces the count in deciding whether there is a next page. */
export function pageNumbers(
  page: Page,
  totalCount: number,
  hasMore = page.number < Math.ceil(totalCount / page.size),
): { previous: number | null; next: number | null; total: number } {
  const next = hasMore ? page.number + 1 : null;
  // Rows before this page may have been deleted since the first page was read. Then the count is too low: the next rows are still a page.
  const total = Math.max(1, Math.ceil(totalCount / page.size), next ?? 0);
  return { previous: page.number > 1 ? Math.min(page.number - 1, total) : null, next, total };
}

interface PageLinks {
  readonly self: string;
  readonly first: string;
  readonly prev: string | null;
  readonly next: string | null;
  readonly last: string;
}

interface PageNumbers {
  readonly 'current-page': number;
  readonly 'page-size': number;
  readonly 'prev-page': number | null;
  readonly 'next-page': number | null;
  readonly 'total-pages': number;
  readonly 'total-count': number;
}

/** The request for a page: `http://host:port`, and the path with its query. */
interface PagedRequest {
  readonly origin: string;
  readonly path: string;
}

/**
 * The `links` and `meta` of a page. Links are absolute and keep the request's other parameters. `end` is the last row of the
 * page, or null when no row follows; lists with pages by number omit it.
 */
export function describePage(
  request: PagedRequest,
  page: Page,
  totalCount: number,
  end?: PageEnd | null,
): { links: PageLinks; meta: { pagination: PageNumbers } } {
  const hasMore = end === undefined ? undefined : end !== null;
  const { previous, next, total: totalPages } = pageNumbers(page, totalCount, hasMore);
  const link = (number: number, after?: string): string => pageUrl(request, { ...page, number }, after);
  const given = new URL(request.path, 'http://localhost').searchParams.get(PAGE_AFTER);
  return {
    links: {
      self: link(page.number, given ?? undefined),
      first: link(1),
      prev: previous === null ? null : link(previous),
      next: next === null ? null : link(next, end ? pageEndText(end) : undefined),
      last: link(totalPages),
    },
    meta: {
      pagination: {
        'current-page': page.number,
        'page-size': page.size,
        'prev-page': previous,
        'next-page': next,
        'total-pages': totalPages,
        'total-count': totalCount,
      },
    },
  };
}

function pageUrl(request: PagedRequest, page: Page, after: string | undefined): string {
  // Only path and query are parsed: the origin comes from a header, and a strange one must not fail the request.
  const url = new URL(request.path, 'http://localhost');
  url.searchParams.set('page[number]', String(page.number));
  url.searchParams.set('page[size]', String(page.size));
  url.searchParams.delete(PAGE_AFTER);
  if (after !== undefined) url.searchParams.set(PAGE_AFTER, after);
  return `${request.origin}${url.pathname}${url.search}`;
}

// The end of a page, as its `next` link contains it: `page[after]`.
// Invariant: that link leads to the rows after the last row of the page before, even if others were added or removed
// meanwhile. An offset cannot guarantee that: it shifts when rows before it are added or removed.

const PAGE_AFTER = 'page[after]';

export interface PageEnd {
  /** The sort key of the last row. */
  readonly key: string;
  /** The number of that row, which orders rows with equal keys. */
  readonly row: number;
}

function pageEndText({ key, row }: PageEnd): string {
  return Buffer.from(JSON.stringify([key, row])).toString('base64url');
}

/** The row after which the requested page begins; undefined if only the page number counts. @throws ApiError 400 */
export function requestedStart(query: Query): PageEnd | undefined {
  const text = queryText(query, PAGE_AFTER);
  if (text === undefined || text === '') return undefined;
  const [key, row] = parsed(text);
  if (typeof key === 'string' && Number.isSafeInteger(row)) return { key, row: Number(row) };
  throw badRequest(`"${text}" is no place in this list: take it from a link of a page`, {
    parameter: PAGE_AFTER,
  });
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

// One page of a query's rows, and the count of all rows.
// Invariant: the given order is total. Otherwise pages repeat and skip rows.

interface PagedQuery {
  /** The columns: `s.*`. */
  readonly select: string;
  /** Tables and conditions: `state_versions s WHERE s.workspace_id = :workspace`. */
  readonly from: string;
  readonly order: string;
  readonly parameters: SqlParameters;
}

/** `Row` must fit the caller's SQL. `window` is the LIMIT and OFFSET of the page. */
export function pageOfRows<Row>(
  database: Database,
  { select, from, order, parameters }: PagedQuery,
  window: { readonly limit: number; readonly offset: number },
): { rows: Row[]; totalCount: number } {
  const count = database.get<{ total: number }>(`SELECT COUNT(*) AS total FROM ${from}`, parameters);
  const rows = database.all<Row>(
    `SELECT ${select} FROM ${from} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
    {
      ...parameters,
      ...window,
    },
  );
  return { rows, totalCount: count?.total ?? 0 };
}

// The answer of a list that is read page by page: one shape for every subject.

interface Shown {
  readonly data: readonly Resource[];
  readonly included?: readonly Resource[];
}

/** The requested page. `show` gets all of its rows at once, and returns their resources and, where needed, included ones. */
export function pagedAnswer<Row>(
  request: ApiRequest,
  query: PagedQuery,
  show: (rows: Row[]) => readonly Resource[] | Shown,
): ApiAnswer {
  const page = requestedPage(request.query);
  const { rows, totalCount } = pageOfRows<Row>(request.services.database, query, pageWindow(page));
  const shown = show(rows);
  return ok({ ...('data' in shown ? shown : { data: shown }), ...describePage(request, page, totalCount) });
}
