/**
 * Stops a run early, by a signal of a person or a CI, or by its deadline. A run that only reads ends at once. For a run that
 * writes, the first signal means that nothing new is started; the second aborts requests in flight, whose outcome is then
 * unknown.
 */
import { untilAborted } from '../model/http.ts';
import type { Stack } from '../model/stack.ts';
import { CommandStop } from './command-stop.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { formatDuration } from '../model/duration.ts';

/** The signals that end a run. */
export interface RunSignals {
  /** the deadline has passed, or the first stop signal came */
  readonly runEnded: AbortSignal;
  /** the user does not want to wait any longer; never aborted before `runEnded` */
  readonly forceQuit: AbortSignal;
}

export interface StopSignals extends RunSignals {
  /** aborted by the first signal */
  readonly stopStarting: AbortSignal;
  /** aborted by the second signal; never before `stopStarting` */
  readonly abortRequests: AbortSignal;
  /** aborted by the second signal: the run waits for nothing any longer, not even for the revocation of a token */
  readonly abandonWaits: AbortSignal;
  /** Makes the deadline act like the first signal, and some time later like the second. */
  endWith(deadline: Pick<Deadline, 'passed'>): void;
  /** Stops listening: from now on a signal has its default effect. */
  dispose(): void;
}

/** The signals of a run that only reads. */
export type ReadSignals = Omit<StopSignals, 'abortRequests'>;

/** Milliseconds that requests in flight may take after the deadline. */
const grace = 60_000;

/** The exit code of a run that was stopped. @param code the exit code when the deadline stopped it */
export function exitCodeOfStop({ reason }: AbortSignal, code: ExitCode = exitCodes.error): ExitCode {
  return reason instanceof DeadlineError ? code : exitCodes.interrupted;
}

/**
 * The error of a run that writes and was stopped. As text, the stop was printed when it happened.
 * @param about.done what the run had done by then
 * @param about.mustPrint print it as text, too, because nothing else reports it
 * @param about.exit the exit code when the deadline stopped the run
 */
export function stoppedRun(
  stop: AbortSignal,
  {
    done,
    exit = exitCodes.error,
    mustPrint = false,
  }: { readonly done: string; readonly exit?: ExitCode; readonly mustPrint?: boolean },
): CommandStop {
  const { reason } = stop;
  const options = { exit: exitCodeOfStop(stop, exit), isPrinted: !mustPrint };
  return reason instanceof DeadlineError
    ? new CommandStop('deadline', `${done}: ${reason.message}`, options)
    : new CommandStop('interrupted', `${done}: interrupted`, options);
}

/** For runs that write. Each signal prints its effect on stderr. */
export function listenForSignals({ onStop, stderr }: Pick<CliHost, 'onStop' | 'stderr'>): StopSignals {
  const [stopStarting, abortRequests, forceQuit] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  let timer: NodeJS.Timeout | undefined;
  const end = ({ reason }: AbortSignal) => {
    if (stopStarting.signal.aborted) return;
    const { message } = reason as Error;
    stderr.write(`\n${message}: any write that was sent is waited for, nothing new is started\n`);
    stopStarting.abort(reason);
    timer = setTimeout(() => abortRequests.abort(reason), grace);
  };
  const stopListening = onStop(() => {
    if (!stopStarting.signal.aborted) {
      stderr.write(
        '\ninterrupted: any write that was sent is waited for, nothing new is started; a second signal gives up waiting\n',
      );
      stopStarting.abort(new Error('interrupted'));
    } else if (!forceQuit.signal.aborted) {
      stderr.write('\ninterrupted again: writes in flight are abandoned, and their results are unknown\n');
      abortRequests.abort(new Error('interrupted'));
      forceQuit.abort();
    }
  });
  return {
    stopStarting: stopStarting.signal,
    abortRequests: abortRequests.signal,
    runEnded: stopStarting.signal,
    forceQuit: forceQuit.signal,
    abandonWaits: forceQuit.signal,
    endWith: ({ passed }) => whenAborted(passed, () => end(passed)),
    dispose: () => {
      clearTimeout(timer);
      stopListening();
    },
  };
}

/**
 * For runs that only read: the first signal ends them. The second one ends what they still wait for then, such as the revocation of a
 * token.
 */
export function listenForEnd({ onStop, stderr }: Pick<CliHost, 'onStop' | 'stderr'>): ReadSignals {
  const [stopStarting, runEnded, abandonWaits] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  let signals = 0;
  const stopListening = onStop(() => {
    signals += 1;
    if (signals > 1) {
      abandonWaits.abort(new Error('interrupted again'));
      // If the run has not ended even then, the next signal has its default effect and ends the process.
      return stopListening();
    }
    stderr.write('\ninterrupted\n');
    const reason = new Error('interrupted');
    stopStarting.abort(reason);
    runEnded.abort(reason);
  });
  return {
    stopStarting: stopStarting.signal,
    runEnded: runEnded.signal,
    forceQuit: runEnded.signal,
    abandonWaits: abandonWaits.signal,
    endWith: ({ passed }) => whenAborted(passed, () => runEnded.abort(passed.reason)),
    dispose: stopListening,
  };
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

// Runs work until a signal comes. Only for work that reads: it can be abandoned, while writes must be waited for.

/**
 * The result of the work.
 * @throws CommandStop as soon as the signal is aborted; then the work's result is ignored
 */
export async function raceStop<T>(
  work: Promise<T>,
  stop: AbortSignal,
  stopped = () => CommandStop.reported(exitCodeOfStop(stop)),
): Promise<T> {
  return untilAborted(work, stop).catch((error: unknown) => {
    throw stop.aborted && error === stop.reason ? stopped() : error;
  });
}

// The time of one run: its deadline, and the signals that may end it earlier. It begins before the first request.

export interface RunTime extends RunSignals, Pick<StopSignals, 'abandonWaits'> {
  /** must be cleared at the end */
  readonly deadline: Deadline;
}

/** The stack of a run, and when the run began, if that was earlier: reading standard input counts, too. */
interface RunStart {
  readonly stack: Pick<Stack, 'timeout'>;
  readonly began?: number | undefined;
}

/** Starts the deadline of the stack; an hour when the stack has none. */
export function beginRun(
  { stack, began }: RunStart,
  stops: RunSignals & Pick<StopSignals, 'endWith' | 'abandonWaits'>,
  { now }: Pick<CliHost, 'now'>,
): RunTime {
  const deadline = openDeadline(stack.timeout, { now, began });
  stops.endWith(deadline);
  const { runEnded, forceQuit, abandonWaits } = stops;
  return { deadline, runEnded, forceQuit, abandonWaits };
}

// Makes one signal of one key press: the terminal sends Ctrl-C to npm and to us, and npm sends it to us again.

/** Milliseconds in which a repeated signal is ignored: shorter than the time between two intended key presses. */
const repeatTime = 250;

/**
 * Calls the handler for each signal, except when the same signal came just before.
 * @param now in milliseconds, from any starting point
 */
export function debounceSignal(handler: () => void, now: () => number): (signal: string) => void {
  const last = new Map<string, number>();
  return (signal) => {
    const at = now();
    if (at - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < repeatTime) return;
    last.set(signal, at);
    handler();
  };
}

// The deadline of a run, counted from its first request, so that a service that does not answer cannot hold it forever.

/** The timeout of a run when neither stack nor command line set one, in seconds. */
const defaultTimeout = 3600;

/** The longest time that a timer can count, in milliseconds: more than three weeks. */
const maxTimer = 2 ** 31 - 1;

export interface Deadline {
  /** milliseconds since 1970; extended by the time of `leaveOut` */
  readonly until: number;
  /** aborted at the deadline, with a DeadlineError */
  readonly passed: AbortSignal;
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
    super(
      `this run has reached its timeout of ${duration}; --timeout gives it more, or "timeout" in the stack's spec`,
    );
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
  readonly #passed = new AbortController();
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

  get passed(): AbortSignal {
    return this.#passed.signal;
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
    this.#timer = setTimeout(() => this.#passed.abort(new DeadlineError(this.#seconds)), left);
    // The timer alone must not keep the process alive.
    this.#timer.unref();
  }
}
