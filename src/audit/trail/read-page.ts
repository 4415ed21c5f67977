/** Reads one page of a trail: asks for it, and checks that the answer is that page. */
import { isJsonObject, type JsonObject, ownMember } from '../../model/json/json.ts';
import { type TrailChannel, TrailError, type TrailPage } from '../../model/audit-trail.ts';
import { type Answer, describeAnswer } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { parseEvent } from './parse-event.ts';

interface PageQuery {
  /** milliseconds since 1970: only events after this time; from the oldest when absent */
  readonly since?: number | undefined;
  /** from 1 on */
  readonly page: number;
  /** events a page */
  readonly pageSize: number;
}

/**
 * @throws WireError when the service cannot be reached, TrailError when it refuses or answers something else.
 * Source: wire/audit-trails 1
 */
export async function readTrailPage(channel: TrailChannel, query: PageQuery): Promise<TrailPage> {
  const answer = await channel.get(queryText(query));
  if (answer.status !== 200) throw new TrailError(refusalText(answer), { passing: isTemporary(answer) });
  const { body } = answer;
  const events = isJsonObject(body) ? ownMember(body, 'data') : undefined;
  const pagination = isJsonObject(body) ? ownMember(body, 'pagination') : undefined;
  if (!Array.isArray(events) || !isJsonObject(pagination))
    throw new TrailError(`no page of an audit trail: ${describeAnswer(answer)}`);
  const counts = readCounts(pagination, query.page);
  if (counts.nextPage !== undefined && events.length === 0)
    throw new TrailError(`page ${query.page} of the audit trail is empty and tells of a next one`);
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
    throw new TrailError(`${quoted(name)} in the pagination of the audit trail is no count`);
  };
  const current = count('current_page');
  if (current !== page)
    throw new TrailError(`page ${page} of the audit trail was asked for, and page ${current} came`);
  const next = (ownMember(pagination, 'next_page') ?? null) === null ? undefined : count('next_page');
  if (next !== undefined && next !== page + 1)
    throw new TrailError(`page ${page} of the audit trail tells of page ${next} as the next one`);
  const totalPages = count('total_pages');
  if (next === undefined && totalPages > page)
    throw new TrailError(`page ${page} of the audit trail tells of ${totalPages} pages and of no next one`);
  const counts = { page, totalPages, totalCount: count('total_count') };
  return next === undefined ? counts : { ...counts, nextPage: next };
}

/** The service was out of order, and not the question. */
function isTemporary({ status }: Answer): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Which tokens get the trail is said by wire/audit-trails 1.3. */
function refusalText(answer: Answer): string {
  const why = describeAnswer(answer);
  if (answer.status === 401 || answer.status === 403 || answer.status === 404)
    return (
      `the service gives no audit trail to this "auditToken": ${why}; it takes a token that was made for audit trails, ` +
      `or the organization's own, and no service that is hosted by oneself has a trail`
    );
  return `the audit trail was not answered: ${why}`;
}
