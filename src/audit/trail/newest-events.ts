/** Keeps the newest of many events: a trail may be longer than memory, and its order is the service's. */
import type { TrailEvent } from '../../model/audit-trail.ts';
import { type EventFilter, matches, oldestFirst } from './filter-events.ts';

export class NewestEvents {
  readonly #filter: EventFilter;
  readonly #most: number;
  #events: TrailEvent[] = [];

  /** @param most how many are kept */
  constructor(filter: EventFilter, most: number) {
    this.#filter = filter;
    this.#most = most;
  }

  add(events: readonly TrailEvent[]): void {
    for (const event of events) if (matches(event, this.#filter)) this.#events.push(event);
    if (this.#events.length > 4 * this.#most + 1000) this.#events = [...this.newestFirst()];
  }

  /** how many were added, up to where older ones are dropped */
  get size(): number {
    return this.#events.length;
  }

  newestFirst(): readonly TrailEvent[] {
    return this.#events.toSorted((one, other) => oldestFirst(other, one)).slice(0, this.#most);
  }
}
