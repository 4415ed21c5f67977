/**
 * Pages of a list: which rows a request asks for, and the links and numbers that go with them.
 * Invariant: a page beyond the end is an empty list with the real totals, never an error.
 */
import type { Query } from './query.ts';
import { queryText } from './query.ts';

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export interface Page {
  readonly number: number;
  readonly size: number;
}

/** For a query's LIMIT and OFFSET. */
export function pageWindow(page: Page): { limit: number; offset: number } {
  return { limit: page.size, offset: (page.number - 1) * page.size };
}

/** The page a query asks for. What is no positive whole number means the default; a size above the maximum means it. */
export function requestedPage(query: Query): Page {
  return {
    number: positive(queryText(query, 'page[number]')) ?? 1,
    size: Math.min(positive(queryText(query, 'page[size]')) ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
  };
}

function positive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value > 0 ? value : undefined;
}

export interface PageLinks {
  readonly self: string;
  readonly first: string;
  readonly prev: string | null;
  readonly next: string | null;
  readonly last: string;
}

export interface PageNumbers {
  readonly 'current-page': number;
  readonly 'page-size': number;
  readonly 'prev-page': number | null;
  readonly 'next-page': number | null;
  readonly 'total-pages': number;
  readonly 'total-count': number;
}

/** The request that a page answers: `http://host:port`, and its path with its query. */
export interface PagedRequest {
  readonly origin: string;
  readonly path: string;
}

/** The `links` and `meta` of a page. Links are absolute and keep the request's other parameters. */
export function describePage(
  request: PagedRequest,
  page: Page,
  totalCount: number,
): { links: PageLinks; meta: { pagination: PageNumbers } } {
  const totalPages = Math.max(1, Math.ceil(totalCount / page.size));
  const previous = page.number > 1 ? Math.min(page.number - 1, totalPages) : null;
  const next = page.number < totalPages ? page.number + 1 : null;
  const link = (number: number): string => pageUrl(request, { ...page, number });
  return {
    links: {
      self: link(page.number),
      first: link(1),
      prev: previous === null ? null : link(previous),
      next: next === null ? null : link(next),
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

function pageUrl(request: PagedRequest, page: Page): string {
  // Only path and query are parsed: the origin comes from a header, and a strange one must not fail the request.
  const url = new URL(request.path, 'http://localhost');
  url.searchParams.set('page[number]', String(page.number));
  url.searchParams.set('page[size]', String(page.size));
  return `${request.origin}${url.pathname}${url.search}`;
}
