/**
 * Reads all pages of a list: the first page has the total, the others are read in parallel. A list is complete when each document
 * has an id, the ids are unique, their number is the total, and the total did not change. An inconsistent list is read again once,
 * because it may have changed meanwhile.
 */
import { counted } from '../model/quoted.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import type { Answer, Reader } from '../model/http.ts';

export interface Pages {
  readonly items: readonly JsonObject[];
  /** the service's count; absent when it has none */
  readonly total?: number;
  readonly complete: boolean;
  /** why it is not complete: an answer that is not a page, or a message */
  readonly problem?: Answer | string;
  /** how many items are missing, when that is the only problem */
  readonly missing?: number;
  /** whether every page except the last has the requested number of items */
  readonly isEven?: boolean;
}

/** One parsed page. */
interface ListPage {
  readonly items: readonly JsonObject[];
  /** how many documents have no id */
  readonly withoutId: number;
  readonly total?: number;
  readonly pages: number;
  /** whether the page names a next one, but no total */
  readonly endless: boolean;
}

/** The default number of items on a page: the most that a service allows (wire/workspaces 1.2). */
export const pageSize = 100;

interface PageOptions {
  /** items per page, `pageSize` at most */
  readonly size?: number;
  /**
   * Reduces the items of an arriving page to the members that are used: a list can have thousands of pages. The `included` documents
   * of the page are dropped afterwards.
   */
  readonly reduce?: (items: readonly JsonObject[], included: readonly JsonObject[]) => readonly JsonObject[];
}

/**
 * Reads every page of a JSON:API list.
 * @param path below the API root, with the query for all pages; its brackets are encoded here
 * @throws WireError when the service cannot be reached
 */
export async function readPages(reader: Reader, path: string, options: PageOptions = {}): Promise<Pages> {
  const first = await readAll(reader, path, options);
  if (first.complete || typeof first.problem !== 'string') return first;
  return readAll(reader, path, options);
}

const nothing: Omit<Pages, 'problem'> = { items: [], complete: false };

/** The maximal number of pages, a hundred times that of the largest known organization. */
const maxPages = 10_000;

/** Why a list is refused: it has many more pages than its total needs, or an impossible number. Undefined if it is accepted. */
function whyTooMany({ items, withoutId, total = 0, pages }: ListPage): string | undefined {
  const needed = Math.ceil(total / Math.max(1, items.length + withoutId));
  if (pages > needed + 10)
    return `the list has ${pages} pages, but its total of ${total} fits into ${needed}`;
  return pages > maxPages ? `the list has ${pages} pages, more than ${maxPages}` : undefined;
}

/**
 * Reads one page of the same list.
 * @param number from 1
 * @returns the answer if it is not a page
 * @throws WireError when the service cannot be reached
 */
export async function readPage(
  reader: Reader,
  path: string,
  { number, size = pageSize, reduce = (items) => items }: PageOptions & { readonly number: number },
): Promise<ListPage | Answer> {
  const answer = await reader.get(pagePath(path, size, number));
  return parsePage(answer, reduce) ?? answer;
}

async function readAll(reader: Reader, path: string, options: PageOptions): Promise<Pages> {
  const { size = pageSize } = options;
  const first = await readPage(reader, path, { ...options, number: 1 });
  if (!isPage(first)) return { ...nothing, problem: first };
  const tooMany = whyTooMany(first);
  if (tooMany !== undefined) return { ...nothing, problem: tooMany };
  const numbers = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  const rest = mayHaveMore(first, size)
    ? await readWhileFull(reader, path, { ...options, size, first })
    : await Promise.all(numbers.map((number) => readPage(reader, path, { ...options, number })));
  const pages = [first, ...rest.filter(isPage)];
  const items = pages.flatMap((page) => page.items);
  const defect = rest.find((page): page is Answer => !isPage(page)) ?? inconsistency(first, pages);
  const { total = items.length } = first;
  const problem =
    defect ??
    (total === items.length ? undefined : `the list has a total of ${total}, but ${items.length} items`);
  return {
    items,
    ...(first.total === undefined ? {} : { total: first.total }),
    complete: problem === undefined,
    isEven: pages.slice(0, -1).every((page) => page.items.length === size),
    ...(problem === undefined ? {} : { problem }),
    ...(defect === undefined && total > items.length ? { missing: total - items.length } : {}),
  };
}

/** Whether a page is full and has neither a total nor a link to a next page: only the next request shows whether it is the last. */
function mayHaveMore({ items, withoutId, total, endless }: ListPage, size: number): boolean {
  return total === undefined && !endless && items.length + withoutId === size;
}

/** The pages after the first one, up to one that is not full. A service without pages answers each request with the same page. */
async function readWhileFull(
  reader: Reader,
  path: string,
  { first, size, ...options }: PageOptions & { readonly first: ListPage; readonly size: number },
): Promise<(ListPage | Answer)[]> {
  const pages: (ListPage | Answer)[] = [];
  for (let number = 2; number <= maxPages; number += 1) {
    const page = await readPage(reader, path, { ...options, size, number });
    if (isPage(page) && page.items.length > 0 && page.items[0]?.['id'] === first.items[0]?.['id']) break;
    pages.push(page);
    if (!isPage(page) || !mayHaveMore(page, size)) break;
  }
  return pages;
}

/** `path` with the page added to its query. */
function pagePath(path: string, size: number, number: number): string {
  const separator = path.includes('?') ? '&' : '?';
  return encodeBrackets(`${path}${separator}page[size]=${size}&page[number]=${number}`);
}

/** Brackets in a query, percent-encoded. */
export function encodeBrackets(path: string): string {
  return path.replaceAll('[', '%5B').replaceAll(']', '%5D');
}

export function isPage(page: ListPage | Answer): page is ListPage {
  return 'items' in page;
}

/** @returns undefined when the answer is not a page of a list */
function parsePage(
  { status, body }: Answer,
  reduce: NonNullable<PageOptions['reduce']>,
): ListPage | undefined {
  if (status !== 200 || !isJsonObject(body)) return undefined;
  // Some services write an empty list as null (wire/workspaces 4).
  const documents = body['data'] === null ? [] : body['data'];
  if (!Array.isArray(documents)) return undefined;
  const identified = objectsOf(documents).filter(({ id }) => typeof id === 'string');
  const items = reduce(identified, objectsOf(body['included']));
  const withoutId = documents.length - items.length;
  const pagination = memberOf(body['meta'], 'pagination');
  const total = memberOf(pagination, 'total-count');
  if (typeof total !== 'number') {
    const next = memberOf(body['links'], 'next') ?? memberOf(pagination, 'next-page') ?? null;
    return { items, withoutId, pages: 1, endless: next !== null };
  }
  const totalPages = memberOf(pagination, 'total-pages');
  const pages =
    typeof totalPages === 'number' ? totalPages : Math.ceil(total / Math.max(1, documents.length));
  return { items, withoutId, total, pages, endless: false };
}

function inconsistency(first: ListPage, pages: readonly ListPage[]): string | undefined {
  if (first.endless) return 'the list has more pages, but no total';
  if (pages.some(({ total }) => total !== first.total))
    return 'the total of the list changed during the read';
  const withoutId = pages.reduce((sum, page) => sum + page.withoutId, 0);
  if (withoutId > 0) return `the list has ${counted(withoutId, 'document')} without an id`;
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  const repeated = ids.length - new Set(ids).size;
  return repeated > 0 ? `the list has ${repeated} of its ids more than once` : undefined;
}

function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
