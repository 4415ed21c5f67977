/**
 * Stops a run early, by signals of a person or a CI or by its deadline. A run that only reads ends at once. For a run that
 * writes, the first signal means that nothing new is started; the second aborts requests in flight, whose outcome is then
 * unknown.
 */
import { untilAborted } from '../model/http.ts';
import type { Stack } from '../model/stack.ts';
import { type Deadline, DeadlineError, openDeadline } from './deadline.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import type { RunOver } from './ledger-waits.ts';
import { noteError, printError, type Terminal } from './terminal.ts';

export interface StopSignals extends RunOver {
  /** aborted by the first signal */
  readonly stop: AbortSignal;
  /** aborted by the second signal; never before `stop` */
  readonly cut: AbortSignal;
  /** aborted by the second signal: nothing is waited for any longer, not even what leaves a token behind */
  readonly leave: AbortSignal;
  /** Makes the deadline act like the first signal, and some time later like the second. */
  endWith(deadline: Pick<Deadline, 'over'>): void;
  /** Stops listening: from now on a signal has its default effect. */
  dispose(): void;
}

/** Milliseconds that requests in flight may take after the deadline. */
const grace = 60_000;

/** The exit code of a run that was stopped. @param code the exit code when the deadline stopped it */
export function exitCodeOfStop({ reason }: AbortSignal, code: ExitCode): ExitCode {
  return reason instanceof DeadlineError ? code : exitCodes.interrupted;
}

/**
 * Reports in the answer what stopped the run. As text, that was printed when it happened.
 * @param about.done what the run had done by then
 * @param about.isNews print it as text, too, because nothing else says it
 * @param about.code the exit code when the deadline stopped the run
 */
export function reportStop(
  stop: AbortSignal,
  terminal: Terminal,
  {
    done,
    code,
    isNews = false,
  }: { readonly done: string; readonly code: ExitCode; readonly isNews?: boolean },
): ExitCode {
  const [ending, why] =
    stop.reason instanceof DeadlineError
      ? (['deadline', stop.reason.message] as const)
      : (['interrupted', 'interrupted'] as const);
  (isNews ? printError : noteError)(terminal, ending, `${done}: ${why}`);
  return exitCodeOfStop(stop, code);
}

/** For runs that write. Each signal prints its effect on stderr. */
export function listenForSignals({ onStop, stderr }: Pick<CliHost, 'onStop' | 'stderr'>): StopSignals {
  const [stop, cut, insist] = [new AbortController(), new AbortController(), new AbortController()];
  let timer: NodeJS.Timeout | undefined;
  const end = (over: AbortSignal) => {
    if (stop.signal.aborted) return;
    const { message } = over.reason as Error;
    stderr.write(`\n${message}: any write that was sent is waited for, nothing new is started\n`);
    stop.abort(over.reason);
    timer = setTimeout(() => cut.abort(over.reason), grace);
  };
  const stopListening = onStop(() => {
    if (!stop.signal.aborted) {
      stderr.write(
        '\ninterrupted: any write that was sent is waited for, nothing new is started; a second signal gives up waiting\n',
      );
      stop.abort(new Error('interrupted'));
    } else if (!insist.signal.aborted) {
      stderr.write('\ninterrupted again: what was sent is given up, and what became of it is unknown\n');
      cut.abort(new Error('interrupted'));
      insist.abort();
    }
  });
  return {
    stop: stop.signal,
    cut: cut.signal,
    over: stop.signal,
    insist: insist.signal,
    leave: insist.signal,
    endWith: ({ over }) => whenAborted(over, () => end(over)),
    dispose: () => {
      clearTimeout(timer);
      stopListening();
    },
  };
}

/**
 * For runs that only read: the first signal ends them. What they still wait for then, such as the revocation of a token, is
 * given up at the second.
 */
export function listenForEnd({
  onStop,
  stderr,
}: Pick<CliHost, 'onStop' | 'stderr'>): Omit<StopSignals, 'cut'> {
  const [stop, over, leave] = [new AbortController(), new AbortController(), new AbortController()];
  let signals = 0;
  const stopListening = onStop(() => {
    signals += 1;
    if (signals > 1) {
      leave.abort(new Error('interrupted again'));
      // If the run has not ended even then, the next signal has its default effect and ends the process.
      return stopListening();
    }
    stderr.write('\ninterrupted\n');
    const reason = new Error('interrupted');
    stop.abort(reason);
    over.abort(reason);
  });
  return {
    stop: stop.signal,
    over: over.signal,
    insist: over.signal,
    leave: leave.signal,
    endWith: ({ over: late }) => whenAborted(late, () => over.abort(late.reason)),
    dispose: stopListening,
  };
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

// Runs work until a signal comes. Only for work that reads: it can be abandoned, while writes must be waited for.

/** @returns the result of the work, or `stopped` as soon as the signal is aborted; then the work's result is ignored */
export async function raceStop<T>(work: Promise<T>, stop: AbortSignal): Promise<T | 'stopped'> {
  return untilAborted(work, stop).catch((error: unknown) => {
    if (stop.aborted && error === stop.reason) return 'stopped' as const;
    throw error;
  });
}

// The time of one run: its deadline, and the signals that may end it earlier. It begins before the first request.

export interface RunTime extends RunOver, Pick<StopSignals, 'leave'> {
  /** must be cleared at the end */
  readonly deadline: Deadline;
}

/** The stack of a run, and when the run began, if that was earlier: reading standard input counts, too. */
export interface RunStart {
  readonly stack: Pick<Stack, 'timeout'>;
  readonly began?: number | undefined;
}

/** Starts the deadline of the stack; an hour when the stack has none. */
export function beginRun(
  { stack, began }: RunStart,
  stops: RunOver & Pick<StopSignals, 'endWith' | 'leave'>,
  { now }: Pick<CliHost, 'now'>,
): RunTime {
  const deadline = openDeadline(stack.timeout, { now, began });
  stops.endWith(deadline);
  return { deadline, over: stops.over, insist: stops.insist, leave: stops.leave };
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
