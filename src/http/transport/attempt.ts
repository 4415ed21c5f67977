/** One attempt to send a request: what is sent, and what its result says about the request and about the next attempt. */
import type { Json } from '../../model/json/json.ts';
import type { Exchange } from './exchange.ts';
import type { AttemptHistory } from '../../model/wire.ts';
import type { RetryDecision } from './retry.ts';

export interface Outgoing {
  readonly method: string;
  /** below the API root, encoded, with query */
  readonly path: string;
  /** in the dialect's own names */
  readonly body?: Json;
  readonly repeatable: boolean;
  /** values in the body that must be removed from all messages */
  readonly secrets?: readonly string[];
  /** replaces the connection's signal */
  readonly signal?: AbortSignal;
  /** awaited before each attempt, after all other waits; rejects when the request must not be sent */
  readonly permit?: () => Promise<void>;
  /** of attempts that the caller has made before this one */
  readonly history?: AttemptHistory;
  /** it goes before all requests that wait for their turn, because the read that it relies on must be recent */
  readonly isUrgent?: boolean;
  /** after it was aborted no further attempt is begun; an attempt in flight still gets its answer */
  readonly stop?: AbortSignal;
}

/** The history of a request that was not sent yet. */
export const noAttempts: AttemptHistory = { faults: 0, throttled: 0, spent: 0 };

/** One attempt to send a request. */
export interface Attempt {
  readonly request: Outgoing;
  readonly token: string | undefined;
  /** from 1 */
  readonly number: number;
  /** the history of the earlier attempts */
  readonly history: AttemptHistory;
  /** the service may have carried out an earlier attempt although it failed */
  readonly mayHaveActed: boolean;
}

/** How an attempt ended, and whether another one follows. */
export interface AttemptResult {
  readonly result: Exchange;
  readonly history: AttemptHistory;
  readonly decision: RetryDecision;
}

/** An attempt that was sent, with its result. */
export interface SentAttempt {
  readonly attempt: Attempt;
  readonly outcome: AttemptResult;
}

/** Whether the service may have carried out the request: its answer was lost, or it failed with a fault of its own. */
export function mayHaveActed(result: Exchange): boolean {
  return result.kind === 'broken' ? result.sent : result.status >= 500 || result.status === 408;
}

export function refusesToken(result: Exchange): boolean {
  return result.kind === 'answered' && (result.status === 401 || result.status === 403);
}

/** @param milliseconds that the attempt took */
export function withAttempt(history: AttemptHistory, result: Exchange, milliseconds: number): AttemptHistory {
  const throttled = result.kind === 'answered' && result.status === 429;
  return {
    ...history,
    faults: history.faults + (throttled ? 0 : 1),
    throttled: history.throttled + (throttled ? 1 : 0),
    spent: history.spent + milliseconds,
  };
}
