/**
 * A list that comes in pages, read whole: the first page tells the total, the rest is read side by side. Complete means
 * that each document has an id, and that ids are unique and as many as a total that stayed the same; pages that shifted
 * meanwhile are read once more (rule 8).
 */
import { counted } from '../model/counted.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json/json.ts';
import type { Answer, Reader } from '../model/wire.ts';

export interface Pages {
  readonly items: readonly JsonObject[];
  /** of all pages, in their order; an item that several pages include stands here several times */
  readonly included: readonly JsonObject[];
  /** by the service's own count; absent where it tells none */
  readonly total?: number;
  readonly complete: boolean;
  /** why it is not complete: the answer that was no page, or a sentence */
  readonly problem?: Answer | string;
  /** how many it lacks of a total that stayed the same, where nothing else is amiss */
  readonly missing?: number;
}

/** One page, understood. */
interface ListPage {
  readonly items: readonly JsonObject[];
  /** how many documents stand in it that are none */
  readonly odd: number;
  readonly included: readonly JsonObject[];
  readonly total?: number;
  readonly pages: number;
  /** there is more, but no total that says how much */
  readonly endless: boolean;
}

/**
 * Reads every page of a JSON:API list.
 * @param path below the API root, with the query that all pages share; brackets are encoded here
 * @param options.size items a page, 100 at most (wire/workspaces 1.2)
 * @throws WireError when the service cannot be reached
 */
export async function readPages(reader: Reader, path: string, { size = 100 } = {}): Promise<Pages> {
  const first = await readAll(reader, path, size);
  if (first.complete || typeof first.problem !== 'string') return first;
  return readAll(reader, path, size);
}

const nothing: Omit<Pages, 'problem'> = { items: [], included: [], complete: false };

/** Pages that anyone could have: a hundred times the largest organization that is known of. */
const mostPages = 10_000;

/** A service that tells of many more pages than its total fills, or of more than anyone has, is not asked for them (rule 46). */
function whyTooMany({ items, odd, total = 0, pages }: ListPage): string | undefined {
  const needed = Math.ceil(total / Math.max(1, items.length + odd));
  if (pages > needed + 10)
    return `the list tells of ${pages} pages, and its total of ${total} fills ${needed}`;
  return pages > mostPages ? `the list tells of ${pages} pages, which nobody has` : undefined;
}

async function readAll(reader: Reader, path: string, size: number): Promise<Pages> {
  const opening = await reader.get(pagePath(path, size, 1));
  const first = understand(opening);
  if (first === undefined) return { ...nothing, problem: opening };
  const beyond = whyTooMany(first);
  if (beyond !== undefined) return { ...nothing, problem: beyond };
  const numbers = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  const answers = await Promise.all(numbers.map((number) => reader.get(pagePath(path, size, number))));
  const rest = answers.map(understand);
  const pages = [first, ...rest.filter((page) => page !== undefined)];
  const items = pages.flatMap((page) => page.items);
  const amiss = answers[rest.indexOf(undefined)] ?? inconsistency(first, pages);
  const { total = items.length } = first;
  const problem =
    amiss ??
    (total === items.length ? undefined : `the list tells a total of ${total} and gave ${items.length}`);
  return {
    items,
    included: pages.flatMap(({ included }) => included),
    ...(first.total === undefined ? {} : { total: first.total }),
    complete: problem === undefined,
    ...(problem === undefined ? {} : { problem }),
    ...(amiss === undefined && total > items.length ? { missing: total - items.length } : {}),
  };
}

/** `path` with the page added to its query and brackets percent-encoded. */
function pagePath(path: string, size: number, number: number): string {
  const separator = path.includes('?') ? '&' : '?';
  return `${path}${separator}page[size]=${size}&page[number]=${number}`
    .replaceAll('[', '%5B')
    .replaceAll(']', '%5D');
}

/** undefined when the answer is no page of a list */
function understand({ status, body }: Answer): ListPage | undefined {
  if (status !== 200 || !isJsonObject(body) || !Array.isArray(body['data'])) return undefined;
  const items = objectsOf(body['data']).filter(({ id }) => typeof id === 'string');
  const odd = body['data'].length - items.length;
  const included = objectsOf(body['included']);
  const pagination = memberOf(body['meta'], 'pagination');
  const total = memberOf(pagination, 'total-count');
  if (typeof total !== 'number') {
    const next = memberOf(body['links'], 'next') ?? memberOf(pagination, 'next-page') ?? null;
    return { items, odd, included, pages: 1, endless: next !== null };
  }
  const told = memberOf(pagination, 'total-pages');
  const pages = typeof told === 'number' ? told : Math.ceil(total / Math.max(1, body['data'].length));
  return { items, odd, included, total, pages, endless: false };
}

function inconsistency(first: ListPage, pages: readonly ListPage[]): string | undefined {
  if (first.endless) return 'the list has more pages and does not tell how many';
  if (pages.some(({ total }) => total !== first.total)) return 'the list changed its total while it was read';
  const odd = pages.reduce((sum, page) => sum + page.odd, 0);
  if (odd > 0) return `the list gave ${counted(odd, 'document')} without an id`;
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  const repeated = ids.length - new Set(ids).size;
  return repeated > 0 ? `the list gave ${repeated} of its ids more than once` : undefined;
}

function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
