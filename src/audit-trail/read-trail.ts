/**
 * Reads a trail page by page, each event once. Events may be added and removed meanwhile: repeated ones are dropped by id, and if one
 * may have been missed, the trail is read again.
 */
import {
  type TrailActor,
  type TrailChannel,
  TrailError,
  type TrailEvent,
  type TrailPage,
} from '../model/audit-trail.ts';
import { type Answer, describeAnswer } from '../model/http.ts';
import { isJsonObject, type Json, type JsonObject, ownMember } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';

export interface TrailQuery {
  /** milliseconds since 1970: only events after this time; from the oldest when absent */
  readonly since?: number | undefined;
  /** maximum number of pages; without it, a bound that no trail reaches */
  readonly maxPages?: number;
  readonly pageSize?: number;
}

/** How a reading ended. */
export interface TrailEnd {
  /** whether all events were read that existed at the start */
  readonly sawAll: boolean;
  readonly pages: number;
}

/** The default of the service (wire/audit-trails 1.1). */
const defaultPageSize = 1000;

const defaultMaxPages = 10_000;

/** How often a list that changes is read from its beginning. */
const maxPasses = 3;

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
  for (let passes = 1; passes <= maxPasses; passes += 1) {
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

/** @returns undefined when there are more pages than allowed */
async function* readPass(reading: Reading): AsyncGenerator<readonly TrailEvent[], Pass | undefined> {
  const { maxPages = defaultMaxPages } = reading.query;
  const ids = new Set<string>();
  let first: TrailPage | undefined;
  for (let number = 1; ; number += 1) {
    if (reading.pages >= maxPages) return undefined;
    const page = await readPage(reading, number);
    first ??= page;
    for (const { id } of page.events) ids.add(id);
    // Also within a page: a service may return an event twice.
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
 * Whether an event may have been missed: fewer were read than counted, or the oldest ones were removed from the front of the list, so
 * that others moved to pages that had been read. A list of one page cannot move.
 */
async function hasMoved(reading: Reading, { ids, first, last }: Pass): Promise<boolean> {
  if (first === last) return false;
  if (ids.size < Math.min(first.totalCount, last.totalCount)) return true;
  if (isNewestFirst(first, last)) return false;
  const again = await readPage(reading, 1);
  return again.events[0]?.id !== first.events[0]?.id;
}

/** If the newest event is first, only new events move the list, so none is missed. */
function isNewestFirst(first: TrailPage, last: TrailPage): boolean {
  const [newest, oldest] = [first.events[0], last.events.at(-1)];
  if (newest === undefined || oldest === undefined) return false;
  return newest.at > oldest.at;
}

/** All events at once. @throws TrailError also when they are not complete */
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
      throw new TrailError('the audit trail kept changing while it was read, so it was not read completely', {
        temporary: true,
      });
  }
}

// Reads one page of a trail, and checks that the answer is that page.

interface PageQuery {
  /** milliseconds since 1970: only events after this time; from the oldest when absent */
  readonly since?: number | undefined;
  /** from 1 on */
  readonly page: number;
  /** events per page */
  readonly pageSize: number;
}

/**
 * @throws WireError when the service cannot be reached, TrailError when it refuses or answers something else.
 * Source: wire/audit-trails 1
 */
export async function readTrailPage(channel: TrailChannel, query: PageQuery): Promise<TrailPage> {
  const answer = await channel.get(queryText(query));
  if (answer.status !== 200) throw new TrailError(refusalText(answer), { temporary: isTemporary(answer) });
  const { body } = answer;
  const events = isJsonObject(body) ? ownMember(body, 'data') : undefined;
  const pagination = isJsonObject(body) ? ownMember(body, 'pagination') : undefined;
  if (!Array.isArray(events) || !isJsonObject(pagination))
    throw new TrailError(`the answer is not a page of an audit trail: ${describeAnswer(answer)}`);
  const counts = readCounts(pagination, query.page);
  if (counts.nextPage !== undefined && events.length === 0)
    throw new TrailError(`page ${query.page} of the audit trail is empty, but has a next page`);
  return {
    ...counts,
    events: events.map((event, index) => parseEvent(event, `event ${index + 1} on page ${query.page}`)),
  };
}

function queryText({ since, page, pageSize }: PageQuery): string {
  const after = since === undefined ? '' : `since=${encodeURIComponent(new Date(since).toISOString())}&`;
  return `${after}page%5Bnumber%5D=${page}&page%5Bsize%5D=${pageSize}`;
}

function readCounts(pagination: JsonObject, page: number): Omit<TrailPage, 'events'> {
  const count = (name: string): number => {
    const value = ownMember(pagination, name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new TrailError(`${quoted(name)} in the pagination of the audit trail is not a count`);
  };
  const current = count('current_page');
  if (current !== page)
    throw new TrailError(`the service returned page ${current} instead of page ${page} of the audit trail`);
  const next = (ownMember(pagination, 'next_page') ?? null) === null ? undefined : count('next_page');
  if (next !== undefined && next !== page + 1)
    throw new TrailError(`page ${page} of the audit trail has page ${next} as its next page`);
  const totalPages = count('total_pages');
  if (next === undefined && totalPages > page)
    throw new TrailError(
      `page ${page} of the audit trail has no next page, but a total of ${totalPages} pages`,
    );
  const counts = { page, totalPages, totalCount: count('total_count') };
  return next === undefined ? counts : { ...counts, nextPage: next };
}

/** Whether the service failed, and not the request. */
function isTemporary({ status }: Answer): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Why the service refused, with the fix. Wire/audit-trails 1.3 names the tokens that may read the trail. */
function refusalText(answer: Answer): string {
  const why = describeAnswer(answer);
  if (answer.status === 401 || answer.status === 403 || answer.status === 404)
    return (
      `the service refuses this "auditToken": ${why}; use a token for audit trails or the token of the organization; ` +
      `self-hosted services have no audit trail`
    );
  return `the audit trail could not be read: ${why}`;
}

// Reads one event of a trail, and refuses events of another organization. The members about actor and action must have the expected
// types, so that nothing is attributed by a guess. Unknown members are kept.

/** @throws TrailError that names the member that is wrong. Source: wire/audit-trails 2 */
export function parseEvent(value: Json | undefined, position: string): TrailEvent {
  const event = new Members(value, position);
  const auth = event.object('auth');
  const resource = event.object('resource');
  const timestamp = event.text('timestamp');
  const requestId = event.optionalObject('request')?.optionalText('id');
  return {
    id: event.text('id'),
    version: event.version('version'),
    type: event.optionalText('type') ?? 'Resource',
    timestamp,
    at: parseTimestamp(timestamp) ?? event.refuse('timestamp', 'a time such as 2026-11-20T11:42:00.123Z'),
    actor: readActor(auth),
    organizationId: auth.text('organization_id'),
    ...(requestId === undefined ? {} : { requestId }),
    resource: { id: resource.text('id'), type: resource.text('type'), action: resource.text('action') },
    raw: event.raw,
  };
}

/** Id and name may be missing, as for actions of the system. */
function readActor(auth: Members): TrailActor {
  const impersonatorId = auth.optionalText('impersonator_id');
  return {
    id: auth.optionalText('accessor_id') ?? '',
    name: auth.optionalText('description') ?? '',
    kind: auth.text('type'),
    ...(impersonatorId === undefined ? {} : { impersonatorId }),
  };
}

/** Milliseconds since 1970 of an RFC 3339 time; undefined for any other text, even if `Date` accepts it. */
export function parseTimestamp(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text)) return undefined;
  const at = Date.parse(text.toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}

/** Reads the members of an object with the required types. */
class Members {
  readonly raw: JsonObject;
  readonly #path: string;

  constructor(value: Json | undefined, path: string) {
    if (!isJsonObject(value)) throw new TrailError(`${path} of the audit trail is not an object`);
    this.raw = value;
    this.#path = path;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.refuse(name, 'a text');
  }

  /** The text of a member; undefined if it is absent, null or empty. */
  optionalText(name: string): string | undefined {
    const value = ownMember(this.raw, name) ?? null;
    if (value === null || value === '') return undefined;
    return typeof value === 'string' ? value : this.refuse(name, 'a text');
  }

  version(name: string): string {
    const value = ownMember(this.raw, name);
    return typeof value === 'number' ? String(value) : this.text(name);
  }

  object(name: string): Members {
    return new Members(ownMember(this.raw, name), `${quoted(name)} of ${this.#path}`);
  }

  optionalObject(name: string): Members | undefined {
    return (ownMember(this.raw, name) ?? null) === null ? undefined : this.object(name);
  }

  refuse(name: string, wanted: string): never {
    const is = Object.hasOwn(this.raw, name) ? 'is not' : 'is missing: it must be';
    throw new TrailError(`${quoted(name)} of ${this.#path} of the audit trail ${is} ${wanted}`);
  }
}

// The token determines the organization of a trail, so the events must show that the organization is the right one.

/**
 * @param organization the opaque id that the events must have (wire/audit-trails 2)
 * @throws TrailError for an event of another one
 */
export function refuseForeign({ organizationId }: TrailEvent, organization: string): void {
  if (organizationId === organization) return;
  throw new TrailError(
    `this is the audit trail of another organization: the target has the organization id ${quoted(organization)}, an event has ${quoted(organizationId)}; check the target's "auditToken"`,
  );
}
