/**
 * The audit trail of an organization: what happened in it, who did it, and so who last modified a resource (rule 50). A trail
 * knows the resource and the action, never the field.
 */
import type { Answer } from './http.ts';
import type { JsonObject } from './json.ts';

/** Who did something, as the trail tells it. */
export interface TrailActor {
  readonly id: string;
  /** empty when the trail tells none */
  readonly name: string;
  /** `Client`, `Impersonated`, `System`, or whatever else the trail says */
  readonly kind: string;
  /** who acted in the actor's name */
  readonly impersonatorId?: string;
}

/** One entry of the trail (wire/audit-trails 2). */
export interface TrailEvent {
  readonly id: string;
  /** of the form of the event; a service may tell it as a number or as a text */
  readonly version: string;
  readonly type: string;
  /** as answered */
  readonly timestamp: string;
  /** the same in milliseconds since 1970 */
  readonly at: number;
  readonly actor: TrailActor;
  readonly organizationId: string;
  readonly requestId?: string;
  /** the trail knows the resource and the action, never the field */
  readonly resource: { readonly id: string; readonly type: string; readonly action: string };
  /** the whole event as answered, with members that nothing here knows */
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

/** Asks for the trail of one organization, and can ask for nothing else. */
export interface TrailChannel {
  /** @param query without `?`, already encoded */
  get(query: string): Promise<Answer>;
  /** how many milliseconds the clock of the service is ahead of the one here, as its answers prove, below 0 when it is behind; undefined while none told its time */
  clockAhead(): number | undefined;
}

/** The trail was refused, or what came is no trail. The message says what to do. */
export class TrailError extends Error {
  override readonly name = 'TrailError';
  /** the next try may succeed: the service was out of order, or the list kept changing */
  readonly passing: boolean;

  constructor(message: string, { passing = false } = {}) {
    super(message);
    this.passing = passing;
  }
}

/**
 * Each look reads so many milliseconds before the last one again, and drops by its id what it met: an event may appear later than its
 * time says, after others with later times.
 */
export const trailOverlap = 60_000;

/** How long the service keeps events, in milliseconds (wire/audit-trails 1.4). */
export const trailRetention = 14 * 24 * 3_600_000;

// Who touched a resource, as the audit trail tells it (rule 50). The trail knows the resource and the action, never the field: so
// nobody is said to have changed a field. Never a part of what is approved.

export interface Modification {
  /** RFC 3339 */
  readonly at: string;
  readonly actor: TrailActor;
  /** type and action of the resource, in the words of the trail */
  readonly resource: { readonly type: string; readonly action: string };
  /** the event's id in the trail */
  readonly event: string;
  readonly requestId?: string;
  /** within an apply of this stack whose requests the service gave no ids for */
  readonly maybeOurs?: true;
}

export interface LastModified {
  /** newest first; our own writes are not among them */
  readonly touches: readonly Modification[];
  /** why somebody else may have touched it, too: the trail was not seen back to the last apply */
  readonly unknown?: string;
  /** milliseconds by which the clock that the times are of is ahead of the one here; absent where they agree */
  readonly clockAhead?: number;
}
