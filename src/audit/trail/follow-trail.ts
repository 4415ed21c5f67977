/**
 * Follows a trail: each look asks from some time before the last event, because `since` leaves out the very time, events may share
 * one, and some appear late; what was met before is dropped by its id.
 */
import { type TrailChannel, type TrailEvent, trailOverlap } from '../../model/audit-trail.ts';
import { oldestFirst } from './filter-events.ts';
import { readTrailPage } from './read-page.ts';
import { readFullTrail } from './read-trail.ts';

/** How far a trail was followed. */
export interface TrailCursor {
  /** milliseconds since 1970: when the following began; nothing earlier is told */
  readonly from: number;
  /** the same: the time of the newest event, but never later than the look, for one event with a wrong time would stop it all */
  readonly at: number;
  /** the events that were met and that the next look will meet again */
  readonly ids: readonly string[];
}

/** One look. */
interface Followed {
  /** those that are new, oldest first */
  readonly events: readonly TrailEvent[];
  /** for the next look */
  readonly cursor: TrailCursor;
}

/**
 * A cursor that begins now, by the clock of the service: that of this machine may be another one.
 * @param now the time here, in milliseconds since 1970
 * @throws WireError, TrailError
 */
export async function cursorFromNow(channel: TrailChannel, now: number): Promise<TrailCursor> {
  await readTrailPage(channel, { since: now, page: 1, pageSize: 1 });
  return cursorAfter(now + (channel.clockAhead() ?? 0));
}

/** A cursor stands at a time before which all was seen: what is new begins a millisecond later. */
export function cursorAfter(since: number): TrailCursor {
  const from = since + 1;
  return { from, at: from, ids: [] };
}

/**
 * @param now the time here, in milliseconds since 1970
 * @throws WireError, TrailError; then the same cursor goes for the next look
 */
export async function followTrail(
  channel: TrailChannel,
  cursor: TrailCursor,
  now: number,
): Promise<Followed> {
  const known = new Set(cursor.ids);
  const since = windowOf(cursor);
  const read = await readFullTrail(channel, { since: since - 1 });
  const found = read.filter((event) => event.at >= since).sort(oldestFirst);
  const at = Math.max(cursor.at, Math.min(found.at(-1)?.at ?? 0, now + (channel.clockAhead() ?? 0)));
  const next = windowOf({ from: cursor.from, at });
  const met = found.flatMap((event) => (event.at >= next ? [event.id] : []));
  return {
    events: found.filter(({ id }) => !known.has(id)),
    cursor: { from: cursor.from, at, ids: at === cursor.at ? [...new Set([...known, ...met])] : met },
  };
}

/** From when on a look meets events, in milliseconds since 1970. */
function windowOf({ from, at }: Pick<TrailCursor, 'from' | 'at'>): number {
  return Math.max(from, at - trailOverlap);
}
