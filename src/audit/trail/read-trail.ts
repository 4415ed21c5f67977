/**
 * Reads a trail page by page, each event once. The order of a trail is the service's, and events come and go while it is read: new
 * ones at one end, those that have reached their age at the other. What moves away from the reader is met twice and dropped by
 * its id. What may have moved past it unseen is noticed, and the trail is read again.
 */
import { TrailError, type TrailChannel, type TrailEvent, type TrailPage } from '../../model/audit-trail.ts';
import { readTrailPage } from './read-page.ts';

export interface TrailQuery {
  /** milliseconds since 1970: only events after this time; from the oldest when absent */
  readonly since?: number | undefined;
  /** after so many pages the reading ends; without it, a bound that no trail reaches (rule 46) */
  readonly maxPages?: number;
  readonly pageSize?: number;
}

/** How a reading ended. */
export interface TrailEnd {
  /** whether every event was seen that was there when the reading began */
  readonly sawAll: boolean;
  readonly pages: number;
}

/** The default of the service (wire/audit-trails 1.1). */
const defaultPageSize = 1000;

const mostPages = 10_000;

/** How often a list that moves is read from its beginning. */
const mostPasses = 3;

/** One reading of all pages. */
interface Pass {
  readonly ids: ReadonlySet<string>;
  readonly first: TrailPage;
  readonly last: TrailPage;
}

/**
 * Yields the new events of each page, in the order of the service, and returns how the reading ended.
 * @throws WireError, TrailError
 */
export async function* readTrail(
  channel: TrailChannel,
  query: TrailQuery = {},
): AsyncGenerator<readonly TrailEvent[], TrailEnd> {
  const reading = { channel, query, seen: new Set<string>(), pages: 0 };
  for (let passes = 1; passes <= mostPasses; passes += 1) {
    const pass = yield* readPass(reading);
    if (pass === undefined) return { sawAll: false, pages: reading.pages };
    if (!(await hasMoved(reading, pass))) return { sawAll: true, pages: reading.pages };
  }
  return { sawAll: false, pages: reading.pages };
}

interface Reading {
  readonly channel: TrailChannel;
  readonly query: TrailQuery;
  /** the ids of all events so far */
  readonly seen: Set<string>;
  pages: number;
}

/** @returns undefined when there were more pages than it may read */
async function* readPass(reading: Reading): AsyncGenerator<readonly TrailEvent[], Pass | undefined> {
  const { maxPages = mostPages } = reading.query;
  const ids = new Set<string>();
  let first: TrailPage | undefined;
  for (let number = 1; ; number += 1) {
    if (reading.pages >= maxPages) return undefined;
    const page = await readPage(reading, number);
    first ??= page;
    for (const { id } of page.events) ids.add(id);
    // Also within a page: a service may tell an event twice.
    const fresh = page.events.filter(({ id }) => !reading.seen.has(id) && reading.seen.add(id));
    if (fresh.length > 0) yield fresh;
    if (page.nextPage === undefined) return { ids, first, last: page };
  }
}

function readPage(reading: Reading, page: number): Promise<TrailPage> {
  const { since, pageSize = defaultPageSize } = reading.query;
  reading.pages += 1;
  return readTrailPage(reading.channel, { since, page, pageSize });
}

/**
 * Whether an event may have slipped past: fewer were met than there were, or the oldest ones went from the front of the list, so
 * that the others moved towards the pages that had been read. A list of one page cannot move.
 */
async function hasMoved(reading: Reading, { ids, first, last }: Pass): Promise<boolean> {
  if (first === last) return false;
  if (ids.size < Math.min(first.totalCount, last.totalCount)) return true;
  if (isNewestFirst(first, last)) return false;
  const again = await readPage(reading, 1);
  return again.events[0]?.id !== first.events[0]?.id;
}

/** Then only new events move the list, away from the reader. */
function isNewestFirst(first: TrailPage, last: TrailPage): boolean {
  const [newest, oldest] = [first.events[0], last.events.at(-1)];
  if (newest === undefined || oldest === undefined) return false;
  return newest.at > oldest.at;
}

/** All events of a reading at once. @throws TrailError when these are not all, besides what reading throws */
export async function readFullTrail(
  channel: TrailChannel,
  query: Omit<TrailQuery, 'maxPages'> = {},
): Promise<TrailEvent[]> {
  const events: TrailEvent[] = [];
  const pages = readTrail(channel, query);
  for (;;) {
    const { done, value } = await pages.next();
    if (!done) events.push(...value);
    else if (value.sawAll) return events;
    else
      throw new TrailError('the audit trail kept changing while it was read, so it was not read whole', {
        passing: true,
      });
  }
}
