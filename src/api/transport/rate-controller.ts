/**
 * Decides the rate of requests to a target. A limit that the service announces is used. Without one, the rate rises while the service
 * answers quickly and without errors, and is halved when it refuses requests or becomes slow (decision 0012).
 */
import type { Clock } from './clock.ts';
import { headerOf, type RawAnswer } from './exchange.ts';
import { readSeconds } from './retry.ts';

/** Requests per second at the beginning, unless the user or the service says otherwise (wire/workspaces 1.2). */
export const initialRate = 30;

/** The highest rate without a setting. It also bounds announced limits, because some services announce a limit per minute. */
export const highestRate = 200;

/** The lowest rate after refusals. */
const lowestRate = 1;

/** After a 429 to unpaced reads, the rate is half of the last second's answers. Fewer prove nothing, so they count as this many. */
const fewestAnswers = 10;

/** Milliseconds without an error before the rate rises, and at least between two halvings. */
const interval = 5_000;

/** How many of the last answers the median duration is taken from. */
const sample = 50;

/** Milliseconds. A median below this is never slow. */
const quick = 100;

/** Announced windows longer than this many milliseconds are ignored. */
const longestWindow = 3_600_000;

/** The state of a controller, as JSON: processes that share a limit keep it in one place. Free reads are not shared. */
interface RateState {
  readonly rate: number;
  readonly initial: number;
  readonly highest: number;
  readonly isAnnounced: boolean;
  readonly since: number;
  readonly loweredAt?: number | undefined;
  readonly durations: readonly number[];
  readonly usual?: number | undefined;
  readonly window?: { readonly remaining: number; readonly until: number } | undefined;
}

interface RateOptions {
  /** requests per second at the beginning; `Infinity` for no limit */
  readonly initial: number;
  /** maximum requests per second, even if the service announces more */
  readonly highest: number;
  /** whether reads are not paced until the service refuses a request or announces a limit */
  readonly freeReads?: boolean;
  /** continues from the state of another controller with the same clock */
  readonly state?: RateState | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** What an answer says about the rate. */
export interface RatedAnswer {
  readonly status: number;
  /** its duration */
  readonly milliseconds: number;
  /** the announced number of requests per second */
  readonly limit?: number | undefined;
  /** the announced number of requests that are left */
  readonly remaining?: number | undefined;
  /** milliseconds until the end of the window */
  readonly reset?: number | undefined;
}

/** @param now in milliseconds since 1970 */
export function ratedAnswer(answer: RawAnswer, milliseconds: number, now: number): RatedAnswer {
  const number = (name: string) => {
    const value = headerOf(answer, name);
    return value === undefined ? undefined : Number(value);
  };
  const text = headerOf(answer, 'x-ratelimit-reset');
  const reset = readSeconds(text, now);
  // A reset in whole seconds may have been rounded down, so a second is added; not to a window of one second, which it would double.
  const rounded = reset !== undefined && reset >= 2000 && !text?.includes('.') ? 1000 : 0;
  return {
    status: answer.status,
    milliseconds,
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset: reset === undefined ? undefined : reset + rounded,
  };
}

export class RateController {
  readonly #clock: Pick<Clock, 'now'>;
  /** the maximum in the options; `#highest` may be lower, because the service announced a limit */
  readonly #ceiling: number;
  /** Slow answers never lower the rate below this. */
  #initial: number;
  #highest: number;
  #rate: number;
  #isAnnounced = false;
  #freeReads: boolean;
  /** the time of the last change of the rate, or of the last error */
  #calmSince: number;
  #loweredAt = Number.NEGATIVE_INFINITY;
  /** the durations of the last answers at this rate, oldest first */
  #durations: number[] = [];
  /** the median duration at the initial rate */
  #usual: number | undefined;
  /** times of the answers in the last second, while reads are free */
  readonly #recent: number[] = [];
  #window = { remaining: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

  constructor({ initial, highest, freeReads = false, clock, state }: RateOptions) {
    this.#clock = clock;
    this.#ceiling = highest;
    this.#initial = initial;
    this.#highest = highest;
    this.#rate = initial;
    this.#freeReads = freeReads;
    this.#calmSince = clock.now();
    if (state !== undefined) this.#continue(state);
  }

  #continue({ rate, initial, highest, isAnnounced, since, loweredAt, durations, usual, window }: RateState) {
    this.#rate = rate;
    this.#initial = initial;
    this.#highest = highest;
    this.#isAnnounced = isAnnounced;
    this.#calmSince = since;
    this.#loweredAt = loweredAt ?? this.#loweredAt;
    this.#durations = [...durations];
    this.#usual = usual;
    this.#window = window ?? this.#window;
  }

  get state(): RateState {
    return {
      rate: this.#rate,
      initial: this.#initial,
      highest: this.#highest,
      isAnnounced: this.#isAnnounced,
      since: this.#calmSince,
      loweredAt: finite(this.#loweredAt),
      durations: [...this.#durations],
      usual: this.#usual,
      window: finite(this.#window.until) === undefined ? undefined : this.#window,
    };
  }

  get perSecond(): number {
    return this.#rate;
  }

  /** Whether only the number of requests in flight limits reads. */
  get readsAreFree(): boolean {
    return this.#freeReads;
  }

  /**
   * Milliseconds for which no request may start, because the requests in flight may use up the current window of the service; 0 if
   * one may start.
   */
  heldFor(inFlight: number): number {
    const { remaining, until } = this.#window;
    return inFlight < remaining ? 0 : Math.max(0, until - this.#clock.now());
  }

  answered(answer: RatedAnswer): void {
    this.#announced(answer);
    const { status, milliseconds } = answer;
    if (status === 429 || status === 503) this.#refused(status);
    else if (status >= 500) this.failed();
    else this.#succeeded(milliseconds);
  }

  /** A request had no answer, or a failed one. */
  failed(): void {
    this.#calmSince = this.#clock.now();
  }

  #announced({ limit, remaining, reset }: RatedAnswer): void {
    if (limit === undefined || !(limit > 0) || !Number.isFinite(limit)) return;
    const now = this.#clock.now();
    if (remaining !== undefined && remaining >= 0 && reset !== undefined && reset <= longestWindow)
      this.#window = { remaining, until: Math.max(this.#window.until, now + reset) };
    const rate = Math.min(limit, this.#ceiling);
    if (this.#isAnnounced && rate === this.#highest) return;
    this.#isAnnounced = true;
    this.#freeReads = false;
    this.#initial = rate;
    this.#highest = rate;
    this.#set(rate);
    this.#loweredAt = now;
  }

  #refused(status: number): void {
    const now = this.#clock.now();
    this.#calmSince = now;
    // Free reads have no rate, so the number of answers in the last second is halved. A 503 says nothing about a limit.
    const isUnpaced = this.#freeReads && status === 429;
    const answers = Math.max(fewestAnswers, this.#lastSecond());
    const half = isUnpaced ? Math.min(this.#highest, answers / 2) : this.#rate / 2;
    this.#freeReads = false;
    if (now - this.#loweredAt < interval) return;
    this.#loweredAt = now;
    this.#set(Math.max(Math.min(lowestRate, this.#initial), half));
  }

  #succeeded(milliseconds: number): void {
    if (this.#freeReads) {
      this.#lastSecond();
      this.#recent.push(this.#clock.now());
    }
    if (this.#rate === this.#initial && this.#rate === this.#highest) return;
    this.#durations.push(milliseconds);
    if (this.#durations.length > sample) this.#durations.shift();
    if (this.#rate < this.#initial) this.#raise(this.#initial);
    else if (this.#durations.length === sample) this.#adapt(medianOf(this.#durations));
  }

  #adapt(median: number): void {
    const isRaised = this.#rate > this.#initial;
    if (!isRaised) this.#usual = median;
    if (!isRaised || median < Math.max(quick, 2 * (this.#usual ?? median))) this.#raise(this.#highest);
    else if (this.#clock.now() - this.#loweredAt >= interval) {
      this.#loweredAt = this.#clock.now();
      this.#set(Math.max(this.#initial, this.#rate / 2));
    }
  }

  #raise(most: number): void {
    if (this.#rate >= most || this.#clock.now() - this.#calmSince < interval) return;
    this.#set(Math.min(most, this.#rate * 1.1));
  }

  #set(rate: number): void {
    this.#rate = rate;
    this.#calmSince = this.#clock.now();
    this.#durations = [];
  }

  /** Forgets answers older than a second. @returns the number of the others */
  #lastSecond(): number {
    const from = this.#clock.now() - 1000;
    while ((this.#recent[0] ?? from) < from) this.#recent.shift();
    return this.#recent.length;
  }
}

/** JSON has no infinity. */
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
