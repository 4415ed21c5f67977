/**
 * When a request is sent again. What was not processed is repeated for every request; what may have been processed,
 * only for those that are repeatable (rule 34). Every wait has full jitter or was asked for by the service, which is
 * believed up to the end of the run (rule 46).
 */
import { type Exchange, headerOf, type RawAnswer } from './exchange.ts';

export interface RetryPolicy {
  /** tries of a request that meets faults, the first included */
  readonly attempts: number;
  /** the same while the target has never answered: a mistyped address should not take long */
  readonly attemptsUnanswered: number;
  /** how often a request may be told 429 */
  readonly throttled: number;
  /**
   * milliseconds spent on one request, neither its turn in the queue nor what the service asked for counted, after which
   * it is not sent again
   */
  readonly total: number;
  /** milliseconds before the second try, at most; doubled for each further one up to `longest` */
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

/** What has become of one request so far. */
export interface RetryHistory {
  /** tries that ended in anything but 429 */
  readonly faults: number;
  /** tries that ended in 429 */
  readonly throttled: number;
  /** milliseconds */
  readonly spent: number;
}

export interface RetryInput {
  readonly exchange: Exchange;
  readonly repeatable: boolean;
  /** the target has answered something in this run */
  readonly hasAnswered: boolean;
  /** another try cannot mend what went wrong */
  readonly lasts: boolean;
  /** how often the target has answered 429 since it answered anything else, this exchange included */
  readonly rebuffs: number;
  /** this exchange included */
  readonly history: RetryHistory;
}

/**
 * `pause` holds up the whole target, `wait` only this request; both in milliseconds. `past` is a wait that
 * does not fit into the run, `isOurs` when the service asked for less; `spends` is what of it all counts as time spent on the request.
 */
export type RetryDecision =
  | { readonly repeat: false; readonly past?: number; readonly isOurs?: true }
  | { readonly repeat: true; readonly pause: number; readonly wait: number; readonly spends: number };

const stop: RetryDecision = { repeat: false };

/** So many 429 in a row are believed at their word, however short the wait that they ask for. */
const patientRebuffs = 3;

/** @param moment `until` is the end of the run, in milliseconds since 1970 like `now` */
export function decideRetry(
  situation: RetryInput,
  patience: RetryPolicy,
  { now, until, random }: { now: number; until: number; random: () => number },
): RetryDecision {
  const { exchange, history, rebuffs } = situation;
  const asked = exchange.kind === 'answered' ? askedWait(exchange, now) : undefined;
  const within = (pause: number, wait: number): RetryDecision =>
    now + pause > until
      ? { repeat: false, past: pause, ...(asked === undefined || asked < pause ? { isOurs: true } : {}) }
      : { repeat: true, pause, wait, spends: asked === undefined ? pause : wait };
  if (exchange.kind === 'answered' && exchange.status === 429) {
    if (history.throttled >= patience.throttled) return stop;
    const pause = rebuffPause(
      situation,
      asked,
      backoff(Math.max(history.throttled, rebuffs), patience, random),
    );
    if (asked === undefined && history.spent + pause > patience.total) return stop;
    return within(pause, 0);
  }
  if (!mayRepeat(situation)) return stop;
  if (history.faults >= (situation.hasAnswered ? patience.attempts : patience.attemptsUnanswered))
    return stop;
  const wait = backoff(history.faults, patience, random);
  // Whoever says when to come back means everyone.
  if (asked !== undefined) return within(asked, Math.max(0, wait - asked));
  return history.spent + wait > patience.total ? stop : { repeat: true, pause: 0, wait, spends: wait };
}

/** A service that asks for a moment again and again is given more than that. */
function rebuffPause({ rebuffs }: RetryInput, asked: number | undefined, growing: number): number {
  return rebuffs > patientRebuffs ? Math.max(asked ?? 0, growing) : (asked ?? growing);
}

function mayRepeat({ exchange, repeatable, lasts }: RetryInput): boolean {
  if (exchange.kind === 'broken') return !lasts && (repeatable || !exchange.sent);
  const { status } = exchange;
  return repeatable && (status === 408 || status === 425 || status >= 500);
}

/** Full jitter: anything from nothing to the doubled base. */
function backoff(tries: number, { base, longest }: RetryPolicy, random: () => number): number {
  return random() * Math.min(longest, base * 2 ** Math.max(0, tries - 1));
}

/** At least this long, in milliseconds: some services say 0 and mean "in a moment". */
const shortest = 100;

/**
 * The wait that the service asks for, in milliseconds: `Retry-After` as seconds or a date, else, with 429,
 * `X-RateLimit-Reset` as seconds remaining, fractions allowed (wire/workspaces 1.2): some send that with every answer,
 * and then it asks for nothing. A moment since 1970 in place of seconds is understood.
 */
export function askedWait(answer: RawAnswer, now: number): number | undefined {
  const reset = answer.status === 429 ? headerOf(answer, 'x-ratelimit-reset') : undefined;
  const wait = retryAfter(headerOf(answer, 'retry-after'), now) ?? seconds(reset, now);
  return wait === undefined ? undefined : Math.max(shortest, wait);
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
