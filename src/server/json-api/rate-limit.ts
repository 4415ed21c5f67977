/**
 * How many requests a second one client may send.
 * Invariants: windows of one second, the same for everybody; all tokens of a user share one count. Clients wait for what
 * `X-RateLimit-Reset` says, which is seconds from now and no time of day (wire/workspaces 1.2).
 */
import { ApiError } from './errors.ts';

const WINDOW_MS = 1000;

/** The state of one client after a request: what the three headers say, and whether the request is one too many. */
interface Counted {
  readonly headers: Readonly<Record<string, string>>;
  readonly exceeded: boolean;
}

/** Counts a request of a client, who is known by any text of its own. */
type RequestCounter = (client: string, now: Date) => Counted;

/** A counter that allows so many requests a second to each client. */
export function countRequests(perSecond: number): RequestCounter {
  let opened = Number.NEGATIVE_INFINITY;
  let counts = new Map<string, number>();
  return (client, now) => {
    const time = now.getTime();
    // The clock may have been set back.
    if (time < opened || time >= opened + WINDOW_MS) {
      opened = time;
      counts = new Map();
    }
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    return {
      headers: {
        'x-ratelimit-limit': String(perSecond),
        'x-ratelimit-remaining': String(Math.max(0, perSecond - count)),
        'x-ratelimit-reset': ((opened + WINDOW_MS - time) / 1000).toFixed(3),
      },
      exceeded: count > perSecond,
    };
  };
}

export function tooManyRequests(): ApiError {
  return new ApiError(429, [{ detail: 'You have sent more requests than this service allows in a second' }]);
}
