/**
 * Where a page of a list ended, as its `next` link carries it: `page[after]`.
 * Invariant: who follows that link gets what comes behind the last row of the page before, whatever was added or removed
 * meanwhile. A count of rows could not say that: it is only as good as the rows that are counted stay where they are.
 */
import { badRequest } from './errors.ts';
import { type Query, queryText } from './query.ts';

export const PAGE_AFTER = 'page[after]';

export interface PageEnd {
  /** What the list is sorted by, of the last row. */
  readonly key: string;
  /** The number of that row: it decides between equal keys. */
  readonly row: number;
}

export function pageEndText({ key, row }: PageEnd): string {
  return Buffer.from(JSON.stringify([key, row])).toString('base64url');
}

/** Behind what a request wants its page; undefined where only the number of the page counts. @throws ApiError 400 */
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
