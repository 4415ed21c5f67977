/**
 * Follows a trail: each look asks from a millisecond before the last event, because `since` leaves out the very time and events may
 * share one; what was met before is dropped by its id.
 */
import type { TrailChannel, TrailEvent } from '../../model/audit-trail.ts';
import { oldestFirst } from './filter-events.ts';
import { readWholeTrail } from './read-trail.ts';

/** How far a trail was followed. */
export interface TrailCursor {
  /** milliseconds since 1970: the time of the newest event, or when the following began */
  readonly at: number;
  /** the events of that very time that were met */
  readonly ids: readonly string[];
}

/** One look. */
interface Followed {
  /** those that are new, oldest first */
  readonly events: readonly TrailEvent[];
  /** for the next look */
  readonly cursor: TrailCursor;
}

/** @throws WireError, TrailError; then the same cursor goes for the next look */
export async function followTrail(channel: TrailChannel, cursor: TrailCursor): Promise<Followed> {
  const known = new Set(cursor.ids);
  const found = (await readWholeTrail(channel, { since: cursor.at - 1 })).filter(({ at }) => at >= cursor.at);
  const events = found.filter(({ id }) => !known.has(id)).sort(oldestFirst);
  const at = events.at(-1)?.at ?? cursor.at;
  const met = found.flatMap((event) => (event.at === at ? [event.id] : []));
  return { events, cursor: { at, ids: at === cursor.at ? [...new Set([...cursor.ids, ...met])] : met } };
}
