/**
 * Reports waits of more than a few seconds, on a terminal and without one (rule 46). The lines become less frequent over time, and
 * one line covers all waits for the same target or store.
 */
import type { Clock } from './clock.ts';

interface WaitsOptions {
  readonly report: (message: string) => void;
  readonly clock: Clock;
}

/** Milliseconds before each line; the last value applies to all further lines. */
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
