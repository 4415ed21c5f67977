/** The audit trail of an organization: what happened in it, and who did it (wire/audit-trails). Pure words; `src/audit` reads it. */
import type { JsonObject } from './json/json.ts';
import type { Answer } from './wire.ts';

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
