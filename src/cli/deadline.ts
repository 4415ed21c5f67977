/** How long a run may take from its first request on, so that no service and nobody's silence can hold it for ever (RULES 46). */
import { formatDuration } from '../model/duration.ts';

/** Seconds of a run whose stack and command line say nothing. */
const defaultTimeout = 3600;

/** The longest time that a timer of this machine can count: more than three weeks, in milliseconds. */
const longest = 2 ** 31 - 1;

export interface Deadline {
  /** milliseconds since 1970 */
  readonly until: number;
  /** aborted then, with a DeadlineError */
  readonly over: AbortSignal;
  /** Stops counting. */
  clear(): void;
}

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';

  constructor(seconds: number) {
    super(
      `this run has had its ${formatDuration(seconds)}; --timeout gives it more, or "timeout" in the stack's spec`,
    );
  }
}

/** @param seconds an hour when absent */
export function openDeadline(seconds: number = defaultTimeout): Deadline {
  const over = new AbortController();
  const milliseconds = Math.min(seconds * 1000, longest);
  const timer = setTimeout(() => over.abort(new DeadlineError(seconds)), milliseconds);
  // What waits for a service keeps the process alive; the deadline alone does not.
  timer.unref();
  return { until: Date.now() + milliseconds, over: over.signal, clear: () => clearTimeout(timer) };
}
