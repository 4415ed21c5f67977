/** How long a run may take from the first that it asks of anybody on, so that no service and nobody's silence can hold it for ever (rule 46). */
import { formatDuration } from '../../model/kind/duration.ts';

/** Seconds of a run whose stack and command line say nothing. */
const defaultTimeout = 3600;

/** The longest time that a timer of this machine can count: more than three weeks, in milliseconds. */
const longest = 2 ** 31 - 1;

export interface Deadline {
  /** milliseconds since 1970; moves by what `leaveOut` leaves out */
  readonly until: number;
  /** aborted then, with a DeadlineError */
  readonly over: AbortSignal;
  /** What goes on meanwhile does not count: to wait for another run is no work of this one. */
  leaveOut<T>(work: Promise<T>): Promise<T>;
  /** Stops counting. */
  clear(): void;
}

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  /** how long the run might take: `30m` */
  readonly words: string;

  constructor(seconds: number) {
    const words = formatDuration(seconds);
    super(`this run has had its ${words}; --timeout gives it more, or "timeout" in the stack's spec`);
    this.words = words;
  }
}

/**
 * @param seconds an hour when absent
 * @param began milliseconds since 1970; now when absent
 */
export function openDeadline(seconds: number = defaultTimeout, began: number = Date.now()): Deadline {
  return new Countdown(seconds, began);
}

class Countdown implements Deadline {
  readonly #seconds: number;
  readonly #over = new AbortController();
  #until: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number, began: number) {
    this.#seconds = seconds;
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
    const began = Date.now();
    this.clear();
    try {
      return await work;
    } finally {
      this.#until += Date.now() - began;
      this.#arm();
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #arm(): void {
    const left = Math.min(Math.max(this.#until - Date.now(), 0), longest);
    this.#timer = setTimeout(() => this.#over.abort(new DeadlineError(this.#seconds)), left);
    // What waits for a service keeps the process alive; the deadline alone does not.
    this.#timer.unref();
  }
}
