/** The deadline of a run, counted from its first request, so that no service that does not answer can hold it for ever (rule 46). */
import { formatDuration } from '../model/duration.ts';

/** The timeout of a run when neither stack nor command line set one, in seconds. */
const defaultTimeout = 3600;

/** The longest time that a timer can count, in milliseconds: more than three weeks. */
const maxTimer = 2 ** 31 - 1;

export interface Deadline {
  /** milliseconds since 1970; moves on by the time of `leaveOut` */
  readonly until: number;
  /** aborted at the deadline, with a DeadlineError */
  readonly over: AbortSignal;
  /** The time of this work does not count; used for the wait for another run. */
  leaveOut<T>(work: Promise<T>): Promise<T>;
  /** Stops counting. */
  clear(): void;
}

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  /** the run's timeout: `30m` */
  readonly duration: string;

  constructor(seconds: number) {
    const duration = formatDuration(seconds);
    super(`this run has had its ${duration}; --timeout gives it more, or "timeout" in the stack's spec`);
    this.duration = duration;
  }
}

/**
 * @param seconds an hour when absent
 * @param clock.now milliseconds since 1970
 * @param clock.began when the run began, in the same unit; now when absent
 */
export function openDeadline(
  seconds: number | undefined,
  { now, began = now() }: { readonly now: () => number; readonly began?: number | undefined },
): Deadline {
  return new Countdown(seconds ?? defaultTimeout, now, began);
}

class Countdown implements Deadline {
  readonly #seconds: number;
  readonly #now: () => number;
  readonly #over = new AbortController();
  #until: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, now: () => number, began: number) {
    this.#seconds = seconds;
    this.#now = now;
    this.#until = began + seconds * 1000;
    this.#arm();
  }

  get until(): number {
    return this.#until;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  async leaveOut<T>(work: Promise<T>): Promise<T> {
    const began = this.#now();
    this.clear();
    try {
      return await work;
    } finally {
      this.#until += this.#now() - began;
      this.#arm();
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #arm(): void {
    const left = Math.min(Math.max(this.#until - this.#now(), 0), maxTimer);
    this.#timer = setTimeout(() => this.#over.abort(new DeadlineError(this.#seconds)), left);
    // The timer alone must not keep the process alive.
    this.#timer.unref();
  }
}
