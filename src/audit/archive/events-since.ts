/** What an archive has of one trail since a time, and whether that is all that happened. */
import type { TrailEvent } from '../../model/audit-trail.ts';
import type { Archive, TrailGap } from './archive.ts';

export interface ArchivedEvents {
  /** oldest first */
  readonly events: readonly TrailEvent[];
  /** milliseconds since 1970: what happened later was not yet archived; undefined for a trail that was never read whole, or never had an event */
  readonly until?: number;
  /** the newest event, with its time by the service's clock: what the trail told up to then is here */
  readonly newest?: { readonly at: number; readonly id: string };
  /** whether nothing is missing between the time that was asked for and `until` */
  readonly whole: boolean;
  /** the gaps in that time */
  readonly gaps: readonly TrailGap[];
}

/**
 * @param trail the name of the trail: the identity of its target
 * @param since milliseconds since 1970; events of this very time are left out
 * @throws ArchiveError, TrailError for a damaged event
 */
export async function eventsSince(archive: Archive, trail: string, since: number): Promise<ArchivedEvents> {
  const head = await archive.head(trail);
  const events: TrailEvent[] = [];
  for await (const some of archive.newestFirst(trail, { since })) events.push(...some);
  const gaps = (await archive.gaps(trail)).filter(({ to }) => to > since);
  const whole = head !== undefined && head.wholeFrom <= since && gaps.length === 0;
  const newest = head?.cursor && { newest: head.cursor };
  // A trail in which nothing was may have been that of another organization.
  const until = head?.organizationId === undefined ? undefined : { until: head.lookedAt };
  return { events: events.reverse(), ...until, ...newest, whole, gaps };
}
