/**
 * One attempt to send a request, and whether the request is sent again. A request that was not processed is always repeated. One that
 * may have been processed is repeated only if it is `repeatable`.
 */
import type { AttemptHistory } from '../../model/http.ts';
import type { Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import { type Exchange, headerOf, type RawAnswer } from './exchange.ts';

export interface RetryPolicy {
  /** maximal attempts of a request that fails, the first included */
  readonly attempts: number;
  /** maximal attempts while the target has not answered at all, so that a mistyped address is reported soon */
  readonly attemptsUnanswered: number;
  /** maximum number of 429 answers to a request */
  readonly throttled: number;
  /** maximum milliseconds spent on one request, without the queue and waits that the service requests */
  readonly total: number;
  /** maximal milliseconds before the second attempt; doubled for each further one up to `longest` */
  readonly base: number;
  readonly longest: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  attemptsUnanswered: 3,
  throttled: Number.POSITIVE_INFINITY,
  total: 180_000,
  base: 500,
  longest: 30_000,
};

export interface RetryInput {
  readonly exchange: Exchange;
  readonly repeatable: boolean;
  /** whether the target has sent any answer in this run */
  readonly hasAnswered: boolean;
  /** another attempt cannot succeed */
  readonly isPermanent: boolean;
  /** this exchange included */
  readonly history: AttemptHistory;
}

/**
 * All in milliseconds: `pause` delays all requests to the target, `wait` only this one, and `spends` is the part that counts as time
 * spent on the request. `past` is a wait that would end after the deadline; with `isOurs`, trueup chose it, not the service.
 */
export type RetryDecision =
  | { readonly repeat: false; readonly past?: number; readonly isOurs?: true }
  | { readonly repeat: true; readonly pause: number; readonly wait: number; readonly spends: number };

const noRepeat: RetryDecision = { repeat: false };

interface Moment {
  readonly now: number;
  readonly until: number;
  readonly random: () => number;
}

/** @param moment.until the deadline of the run, in milliseconds since 1970 like `now` */
export function decideRetry(input: RetryInput, policy: RetryPolicy, moment: Moment): RetryDecision {
  const { exchange, history } = input;
  const isThrottled = exchange.kind === 'answered' && exchange.status === 429;
  if (!isThrottled && !mayRepeat(input)) return noRepeat;
  const failures = isThrottled ? history.throttled : history.faults;
  if (isThrottled && failures >= policy.throttled) return noRepeat;
  const asked = exchange.kind === 'answered' ? requestedWait(exchange, moment.now) : undefined;
  if (asked !== undefined) return waitAsAsked(asked, failures, { policy, moment });
  const wait = backoff(failures, policy, moment.random);
  if (history.spent + wait > policy.total) return noRepeat;
  if (isThrottled) {
    return moment.now + wait > moment.until
      ? { repeat: false, past: wait, isOurs: true }
      : { repeat: true, pause: wait, wait: 0, spends: wait };
  }
  const attempts = input.hasAnswered ? policy.attempts : policy.attemptsUnanswered;
  return failures >= attempts ? noRepeat : { repeat: true, pause: 0, wait, spends: wait };
}

/** The wait delays all requests, the jitter only this one. A service may ask for waits again and again, until the deadline. */
function waitAsAsked(
  asked: number,
  failures: number,
  { policy, moment }: { readonly policy: RetryPolicy; readonly moment: Moment },
): RetryDecision {
  const { now, until, random } = moment;
  // The service did not ask for the minimum wait, so the message must not say that it did.
  if (now + asked > until) return { repeat: false, past: asked, ...(asked === minWait && { isOurs: true }) };
  const jitter = askedJitter(failures, asked, { policy, random });
  return { repeat: true, pause: asked, wait: jitter === 0 ? 0 : asked + jitter, spends: 0 };
}

/**
 * The addition to a wait that the service asks for: none after the first failure of a request, then a random time that grows with
 * each further one, at most as long as the wait itself, or a second if that is shorter.
 */
function askedJitter(
  failures: number,
  asked: number,
  { policy, random }: { readonly policy: RetryPolicy; readonly random: () => number },
): number {
  if (failures < 2) return 0;
  return Math.min(backoff(failures - 1, policy, random), random() * Math.max(asked, 1000));
}

function mayRepeat({ exchange, repeatable, isPermanent }: RetryInput): boolean {
  if (exchange.kind === 'broken') return !isPermanent && (repeatable || !exchange.sent);
  const { status } = exchange;
  return repeatable && !isPermanent && (status === 408 || status === 425 || status >= 500);
}

/** Exponential backoff with full jitter: a random time from 0 to the maximum. */
function backoff(attempts: number, { base, longest }: RetryPolicy, random: () => number): number {
  return random() * Math.min(longest, base * 2 ** Math.max(0, attempts - 1));
}

/** The minimal wait in milliseconds, because some services ask for 0 seconds. */
const minWait = 100;

/**
 * The wait that the service asks for, in milliseconds: `Retry-After` in seconds or as a date, else `X-RateLimit-Reset` in seconds. The
 * latter counts only with 429, because some services send it with every answer (wire/workspaces 1.2). Seconds since 1970 count, too.
 */
export function requestedWait(answer: RawAnswer, now: number): number | undefined {
  const reset = answer.status === 429 ? headerOf(answer, 'x-ratelimit-reset') : undefined;
  const wait = retryAfter(headerOf(answer, 'retry-after'), now) ?? readSeconds(reset, now);
  return wait === undefined ? undefined : Math.max(minWait, wait);
}

function retryAfter(value: string | undefined, now: number): number | undefined {
  const wait = readSeconds(value, now);
  if (wait !== undefined || value === undefined) return wait;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : moment - now;
}

/** Seconds from now, or since 1970, as milliseconds from now; undefined if it is not a number. */
export function readSeconds(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  const amount = Number(value);
  return amount > 1e9 ? amount * 1000 - now : amount * 1000;
}

// One attempt to send a request: what is sent, and what its result says about the request and about the next attempt.

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
  /** the history of attempts that the caller made before */
  readonly history?: AttemptHistory;
  /** starts before all waiting requests: a write relies on a read that must be recent */
  readonly isUrgent?: boolean;
  /** once aborted, no further attempt starts; an attempt in flight still gets its answer */
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

/** What a trace shows with a request. @param waited milliseconds until the rate limit let it start */
export function attemptNote({ number }: Pick<Attempt, 'number'>, waited: number): string {
  return [
    ...(number > 1 ? [`try ${number}`] : []),
    ...(waited >= 20 ? [`after ${spanText(waited)} for the rate limit`] : []),
  ].join(', ');
}

/** Why a request to a target is tried again. */
export function failureText(result: Exchange, { target }: { readonly target: Pick<Target, 'name'> }): string {
  const what = result.kind === 'answered' ? `answered ${result.status}` : 'gave no answer';
  return `${quoted(target.name)} ${what}`;
}

/** `320 ms`, `3.2 s` */
export function spanText(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
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

/** Whether the service may have carried out the request: its answer was lost, or it is a server error. */
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
