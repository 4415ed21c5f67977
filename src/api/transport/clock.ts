/**
 * The clock (tests replace it), its difference from a service's clock, and the lines that report long waits: "waiting for …".
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** milliseconds since 1970; never runs backwards */
  now(): number;
  /** Resolves after these milliseconds; rejects with the signal's reason if the signal is aborted before. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  wait: async (milliseconds, signal) => {
    await delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      // The timer's own error does not contain the signal's reason.
      throw signal?.aborted ? signal.reason : error;
    });
  },
};

/**
 * The difference between the clock of a service and the local one, from the `Date` of its responses. That header has whole seconds,
 * and a response takes time, so each response gives a range; if zero is in all ranges, the clocks count as equal.
 */
export class ClockDifference {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  /**
   * @param date the header; ignored if missing or not a time
   * @param exchange when the request was sent and the response was complete, by the local clock, in milliseconds since 1970
   */
  learn(
    date: string | undefined,
    { sent, answered }: { readonly sent: number; readonly answered: number },
  ): void {
    const time = date === undefined ? Number.NaN : Date.parse(date);
    if (Number.isNaN(time)) return;
    const [least, most] = [Math.floor(time - answered), Math.ceil(time + 999 - sent)];
    // If the clock was set meanwhile, the earlier range is invalid.
    const isSame = least <= this.#most && most >= this.#least;
    this.#least = isSame ? Math.max(least, this.#least) : least;
    this.#most = isSame ? Math.min(most, this.#most) : most;
  }

  /** How many milliseconds the service is ahead at least; negative if behind, 0 if both may agree; undefined before a `Date`. */
  get ahead(): number | undefined {
    if (this.#least === Number.NEGATIVE_INFINITY) return undefined;
    if (this.#least > 0) return this.#least;
    return Math.min(this.#most, 0);
  }
}

// Reports waits of more than a few seconds, on a terminal and without one. The lines become less frequent over time, and
// one line covers all waits for the same target or store.

interface WaitsOptions {
  readonly report: (message: string) => void;
  readonly clock: Clock;
}

/** Milliseconds before each line; the last value is for all further lines. */
const intervals = [5_000, 10_000, 30_000, 60_000];

interface OngoingWait {
  readonly message: string;
  readonly since: number;
}

export class Waits {
  readonly #what: string;
  readonly #report: (message: string) => void;
  readonly #clock: Clock;
  readonly #open = new Set<OngoingWait>();
  #reports = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param what what the run waits for: `target "acme"` */
  constructor(what: string, { report, clock }: WaitsOptions) {
    this.#what = what;
    this.#report = report;
    this.#clock = clock;
  }

  /** Begins a wait. @returns a function that ends it */
  begin(message: string): () => void {
    const wait = { message, since: this.#clock.now() };
    this.#open.add(wait);
    this.#arm();
    return () => {
      this.#open.delete(wait);
      if (this.#open.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Reports a wait of known length at once, if it is a long one. */
  reportPause(message: string, milliseconds: number): void {
    if (milliseconds < (intervals[0] ?? 0)) return;
    this.#reportedAt = this.#clock.now();
    this.#report(`waiting for ${this.#what}: ${message}`);
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#ring(), Math.max(0, this.#due() - this.#clock.now()));
    // The timer must not keep the process alive.
    this.#timer.unref();
  }

  /** When the next line is due: after the first interval of the oldest wait, and an interval after the last line. */
  #due(): number {
    const interval = intervals[Math.min(this.#reports, intervals.length - 1)] ?? 0;
    const [oldest] = this.#open;
    return Math.max((oldest?.since ?? this.#clock.now()) + (intervals[0] ?? 0), this.#reportedAt + interval);
  }

  #ring(): void {
    this.#timer = undefined;
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    if (this.#clock.now() >= this.#due()) {
      const seconds = Math.round((this.#clock.now() - oldest.since) / 1000);
      const more = this.#open.size === 1 ? '' : `, and ${this.#open.size - 1} more`;
      this.#reports += 1;
      this.#reportedAt = this.#clock.now();
      this.#report(`waiting for ${this.#what} for ${seconds} s: ${oldest.message}${more}`);
    }
    this.#arm();
  }
}
