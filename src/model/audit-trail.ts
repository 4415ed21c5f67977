/**
 * The audit trail of an organization: what happened in it, who did it, and so who last modified a resource. A trail
 * knows the resource and the action, never the field.
 */
import type { Answer } from './http.ts';
import type { JsonObject } from './json.ts';

/** Who did something, according to the trail. */
export interface TrailActor {
  readonly id: string;
  /** empty when the trail has none */
  readonly name: string;
  /** `Client`, `Impersonated`, `System`, or any other value of the trail */
  readonly kind: string;
  /** who acted in the actor's name */
  readonly impersonatorId?: string;
}

/** One entry of the trail (wire/audit-trails 2). */
export interface TrailEvent {
  readonly id: string;
  /** the version of the format of the event; a service may return a number or a text */
  readonly version: string;
  readonly type: string;
  /** as returned */
  readonly timestamp: string;
  /** the same in milliseconds since 1970 */
  readonly at: number;
  readonly actor: TrailActor;
  readonly organizationId: string;
  readonly requestId?: string;
  readonly resource: { readonly id: string; readonly type: string; readonly action: string };
  /** the whole event as returned, with members that are not used here */
  readonly raw: JsonObject;
}

/** One page of the trail, in the order of the service. */
export interface TrailPage {
  readonly events: readonly TrailEvent[];
  readonly page: number;
  readonly totalPages: number;
  readonly totalCount: number;
  readonly nextPage?: number;
}

/** Reads the trail of one organization, and can read nothing else. */
export interface TrailChannel {
  /** @param query without `?`, already encoded */
  get(query: string): Promise<Answer>;
  /**
   * How far the service's clock is ahead of the local one, in milliseconds, according to its responses; negative if it is behind;
   * undefined before the first response with a time.
   */
  clockAhead(): number | undefined;
}

/** The trail was refused, or the response is not a trail. The message says what to do. */
export class TrailError extends Error {
  override readonly name = 'TrailError';
  /** the next attempt may succeed: the service failed, or the list kept changing */
  readonly temporary: boolean;

  constructor(message: string, { temporary = false } = {}) {
    super(message);
    this.temporary = temporary;
  }
}

/**
 * In milliseconds. An event may appear late, after others with later times. So each poll reads again the events that are up to this
 * much older than the newest known one, and drops those whose ids it knows.
 */
export const trailOverlap = 60_000;

/** How long the service keeps events, in milliseconds (wire/audit-trails 1.4). */
export const trailRetention = 14 * 24 * 3_600_000;

// Who last modified a resource. The trail has the resource and the action, never the field. The digest of a plan does not
// contain modifications, so an approval does not cover them.

export interface Modification {
  /** RFC 3339 */
  readonly at: string;
  readonly actor: TrailActor;
  /** type and action of the resource, in the words of the trail */
  readonly resource: { readonly type: string; readonly action: string };
  /** the event's id in the trail */
  readonly event: string;
  readonly requestId?: string;
  /** it happened during an apply of this stack whose requests got no ids from the service, so it may be our own write */
  readonly maybeOurs?: true;
}

export interface LastModified {
  /** newest first; our own writes are not among them */
  readonly modifications: readonly Modification[];
  /** why others may have modified it as well: the trail was not read back to the last apply */
  readonly unknown?: string;
  /** how far the clock of these times is ahead of the local one, in milliseconds; absent if they agree */
  readonly clockAhead?: number;
}
