/**
 * Pages of a list: which rows a request asks for, and the links and numbers that go with them.
 * Invariant: a page beyond the end is an empty list with the real totals, never an error.
 */
import { badRequest } from './errors.ts';
import { PAGE_AFTER, type PageEnd, pageEndText } from './page-end.ts';
import type { Query } from './query.ts';
import { queryText } from './query.ts';

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

/** The first row of this page is still a number that SQLite and JavaScript count exactly. */
const LARGEST_NUMBER = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PAGE_SIZE);

export interface Page {
  readonly number: number;
  readonly size: number;
}

/** For a query's LIMIT and OFFSET. */
export function pageWindow(page: Page): { limit: number; offset: number } {
  return { limit: page.size, offset: (page.number - 1) * page.size };
}

/** The page a query asks for. What is no positive whole number means the default; a size above the maximum means it. @throws ApiError 400 */
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
  // A number too great to count with is one that was meant: the default would be another page than the one asked for.
  if (value > LARGEST_NUMBER)
    throw badRequest(`${name} may be at most ${LARGEST_NUMBER}`, { parameter: name });
  return value > 0 ? value : undefined;
}

/** The numbers of the pages around one; `hasMore` where something else than the count tells whether there is a next. */
export function pageNumbers(
  page: Page,
  totalCount: number,
  hasMore = page.number < Math.ceil(totalCount / page.size),
): { previous: number | null; next: number | null; total: number } {
  const next = hasMore ? page.number + 1 : null;
  // Rows before this page may have gone since the list was begun: what comes behind it is a page all the same.
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

/** The request that a page answers: `http://host:port`, and its path with its query. */
interface PagedRequest {
  readonly origin: string;
  readonly path: string;
}

/**
 * The `links` and `meta` of a page. Links are absolute and keep the request's other parameters. `end` is where the page
 * ends, null when nothing comes behind it; lists whose pages are told by their numbers alone leave it out.
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
