/**
 * Filters events by actor, action and resource, and keeps the newest of many. A service filters a trail only by time, and a trail may
 * not fit into memory.
 */
import type { TrailEvent } from '../../model/audit-trail.ts';

/** Each value is compared as a whole; an absent one allows any. */
export interface EventFilter {
  /** id or name of the actor, or id of the impersonator */
  readonly actor?: string | undefined;
  /** id or type of the resource */
  readonly resource?: string | undefined;
  /** the action, or type and action: `update`, `workspace update` */
  readonly action?: string | undefined;
  /** milliseconds since 1970; events of exactly this time are left out */
  readonly since?: number | undefined;
  /** milliseconds since 1970; events of exactly this time are included */
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

/** The order of all lists: by time, and within a millisecond by id. */
export function oldestFirst(one: TrailEvent, other: TrailEvent): number {
  return one.at - other.at || (one.id < other.id ? -1 : 1);
}

// Keeps the newest of many events: a trail may not fit into memory, and the service decides the order of its pages.

export class NewestEvents {
  readonly #filter: EventFilter;
  readonly #most: number;
  #events: TrailEvent[] = [];

  /** @param most the number of events to keep */
  constructor(filter: EventFilter, most: number) {
    this.#filter = filter;
    this.#most = most;
  }

  add(events: readonly TrailEvent[]): void {
    for (const event of events) if (matches(event, this.#filter)) this.#events.push(event);
    // Older events are dropped only now and then, because that sorts all of them.
    if (this.#events.length > 4 * this.#most + 1000) this.#events = [...this.newestFirst()];
  }

  /** the number of kept events; may be more than `most` until older ones are dropped */
  get size(): number {
    return this.#events.length;
  }

  newestFirst(): readonly TrailEvent[] {
    return this.#events.toSorted((one, other) => oldestFirst(other, one)).slice(0, this.#most);
  }
}
