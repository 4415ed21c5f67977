/** Chooses events by who did what to what. A trail cannot be asked for that: it knows only the time. */
import type { TrailEvent } from '../../model/audit-trail.ts';

/** Each is compared as a whole; absent: any. */
export interface EventFilter {
  /** id or name of the actor, or the id of who acted in their name */
  readonly actor?: string | undefined;
  /** id or type of the resource */
  readonly resource?: string | undefined;
  /** the action, or type and action: `update`, `workspace update` */
  readonly action?: string | undefined;
  /** milliseconds since 1970; events of this very time are left out */
  readonly since?: number | undefined;
  /** the same, and they are not */
  readonly until?: number | undefined;
}

export function matches(event: TrailEvent, filter: EventFilter): boolean {
  const { actor, resource, at } = event;
  const isOneOf = (wanted: string | undefined, ...found: readonly (string | undefined)[]) =>
    wanted === undefined || found.includes(wanted);
  return (
    isOneOf(filter.actor, actor.id, actor.name, actor.impersonatorId) &&
    isOneOf(filter.resource, resource.id, resource.type) &&
    isOneOf(filter.action, resource.action, `${resource.type} ${resource.action}`) &&
    at > (filter.since ?? Number.NEGATIVE_INFINITY) &&
    at <= (filter.until ?? Number.POSITIVE_INFINITY)
  );
}

/** The one order of lists: by time, and within a millisecond by id. */
export function oldestFirst(one: TrailEvent, other: TrailEvent): number {
  return one.at - other.at || (one.id < other.id ? -1 : 1);
}
