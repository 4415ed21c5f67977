/**
 * Decides whether a request is sent again. A request that was not processed is always repeated; one that may have been processed
 * only if it is repeatable (rule 34). Waits have full jitter, or are those that the service asks for, up to the deadline of the
 * run (rule 46).
 */
import { type Exchange, headerOf, type RawAnswer } from './exchange.ts';

export interface RetryPolicy {
  /** maximal attempts of a request that fails, the first included */
  readonly attempts: number;
  /** the same while the target has not answered at all, so that a mistyped address is reported soon */
  readonly attemptsUnanswered: number;
  /** how often a request may get 429 */
  readonly throttled: number;
  /** milliseconds spent on one request, without the queue and waits that the service asked for, after which it is not sent again */
  readonly total: number;
  /** maximal milliseconds before the second attempt; doubled for each further one up to `longest` */
  readonly base: number;
  readonly longest: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 6,
  attemptsUnanswered: 3,
  throttled: 30,
  total: 180_000,
  base: 500,
  longest: 30_000,
};

/** The earlier attempts of one request. */
export interface RetryHistory {
  /** attempts without a 429 */
  readonly faults: number;
  /** attempts with a 429 */
  readonly throttled: number;
  /** milliseconds */
  readonly spent: number;
}

export interface RetryInput {
  readonly exchange: Exchange;
  readonly repeatable: boolean;
  /** whether the target has sent any answer in this run */
  readonly hasAnswered: boolean;
  /** another attempt cannot succeed */
  readonly isPermanent: boolean;
  /** the number of 429 answers of the target since its last other answer, this exchange included */
  readonly throttledInARow: number;
  /** this exchange included */
  readonly history: RetryHistory;
}

/**
 * All in milliseconds: `pause` delays all requests to the target, `wait` only this one, and `spends` is the part that counts as time
 * spent on the request. `past` is a wait that would end after the deadline; with `isOurs` it is longer than the service asked for.
 */
export type RetryDecision =
  | { readonly repeat: false; readonly past?: number; readonly isOurs?: true }
  | { readonly repeat: true; readonly pause: number; readonly wait: number; readonly spends: number };

const stop: RetryDecision = { repeat: false };

/** After more 429 answers in a row than this, the wait that the service asks for is too short and is made longer. */
const maxTrusted = 3;

/** @param moment.until the deadline of the run, in milliseconds since 1970 like `now` */
export function decideRetry(
  input: RetryInput,
  policy: RetryPolicy,
  moment: { now: number; until: number; random: () => number },
): RetryDecision {
  const { now, until, random } = moment;
  const { exchange, history, throttledInARow } = input;
  const asked = exchange.kind === 'answered' ? askedWait(exchange, now) : undefined;
  const within = (pause: number, wait: number): RetryDecision =>
    now + pause > until
      ? { repeat: false, past: pause, ...(asked === undefined || asked < pause ? { isOurs: true } : {}) }
      : { repeat: true, pause, wait, spends: asked === undefined ? pause : wait };
  if (exchange.kind === 'answered' && exchange.status === 429) {
    if (history.throttled >= policy.throttled) return stop;
    const growing = backoff(Math.max(history.throttled, throttledInARow), policy, random);
    const pause = throttledPause(input, asked, growing);
    if (asked === undefined && history.spent + pause > policy.total) return stop;
    return within(pause, 0);
  }
  if (!mayRepeat(input)) return stop;
  if (history.faults >= (input.hasAnswered ? policy.attempts : policy.attemptsUnanswered)) return stop;
  const wait = backoff(history.faults, policy, random);
  // A wait that the service asks for is meant for all requests.
  if (asked !== undefined) return within(asked, Math.max(0, wait - asked));
  return history.spent + wait > policy.total ? stop : { repeat: true, pause: 0, wait, spends: wait };
}

/** The wait that the service asks for; after several 429 answers in a row at least the growing one. */
function throttledPause({ throttledInARow }: RetryInput, asked: number | undefined, growing: number): number {
  return throttledInARow > maxTrusted ? Math.max(asked ?? 0, growing) : (asked ?? growing);
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
 * The wait that the service asks for, in milliseconds: `Retry-After` in seconds or as a date, else `X-RateLimit-Reset` in seconds,
 * fractions allowed, which counts only with 429 because some services send it with every answer (wire/workspaces 1.2). Seconds
 * since 1970 are understood, too.
 */
export function askedWait(answer: RawAnswer, now: number): number | undefined {
  const reset = answer.status === 429 ? headerOf(answer, 'x-ratelimit-reset') : undefined;
  const wait = retryAfter(headerOf(answer, 'retry-after'), now) ?? seconds(reset, now);
  return wait === undefined ? undefined : Math.max(minWait, wait);
}

function retryAfter(value: string | undefined, now: number): number | undefined {
  const wait = seconds(value, now);
  if (wait !== undefined || value === undefined) return wait;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : moment - now;
}

function seconds(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return undefined;
  const amount = Number(value);
  return amount > 1e9 ? amount * 1000 - now : amount * 1000;
}
