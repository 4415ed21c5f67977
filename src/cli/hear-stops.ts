/**
 * The ways in which an apply is stopped before its end: a person or a CI sends signals, or its time is over. The first
 * signal asks it to end: nothing new is started. The second gives up what is still in flight; what became of that is
 * then unknown.
 */
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { DeadlineError } from './deadline.ts';
import { printError, type Screen } from './screen.ts';
import type { World } from './world.ts';

export interface Stops {
  /** the first signal */
  readonly stop: AbortSignal;
  /** the second one; never before `stop` */
  readonly cut: AbortSignal;
  /** An end like the first signal's, and a while later like the second's, when the time is over. */
  endWith(deadline: AbortSignal): void;
  /** Hears no more: from now on a signal does what it always does. */
  forget(): void;
}

/** Milliseconds that what is in flight may take when the time is over. */
const grace = 60_000;

/** The exit code of an apply that was stopped. @param code what it is when its time was over */
export function codeOfStop({ reason }: AbortSignal, code: ExitCode): ExitCode {
  return reason instanceof DeadlineError ? code : exitCodes.interrupted;
}

/**
 * What ended a run before its end, for its answer in JSON: as text it was said on stderr when it came.
 * @param about.done what became of the run by then
 * @param about.code the exit code when its time was over
 */
export function tellStop(
  stop: AbortSignal,
  screen: Screen,
  { done, code }: { readonly done: string; readonly code: ExitCode },
): ExitCode {
  const why = stop.reason instanceof DeadlineError ? stop.reason.message : 'interrupted';
  if (screen.format === 'json') printError(screen, `${done}: ${why}`);
  return codeOfStop(stop, code);
}

/** Each of them says on stderr what it leads to. */
export function hearStops({ onStop, stderr }: Pick<World, 'onStop' | 'stderr'>): Stops {
  const [stop, cut] = [new AbortController(), new AbortController()];
  let timer: NodeJS.Timeout | undefined;
  const end = (deadline: AbortSignal) => {
    if (stop.signal.aborted) return;
    const { message } = deadline.reason as Error;
    stderr.write(`\n${message}: what was sent is waited for, nothing new is started\n`);
    stop.abort(deadline.reason);
    timer = setTimeout(() => cut.abort(deadline.reason), grace);
  };
  const deafen = onStop(() => {
    if (!stop.signal.aborted) {
      stderr.write(
        '\ninterrupted: what was sent is waited for, nothing new is started; a second signal gives up waiting\n',
      );
      stop.abort();
    } else if (!cut.signal.aborted) {
      stderr.write('\ninterrupted again: what was sent is given up, and what became of it is unknown\n');
      cut.abort(new Error('interrupted'));
    }
  });
  const endWith = (deadline: AbortSignal) => {
    if (deadline.aborted) end(deadline);
    else deadline.addEventListener('abort', () => end(deadline), { once: true });
  };
  const forget = () => {
    clearTimeout(timer);
    deafen();
  };
  return { stop: stop.signal, cut: cut.signal, endWith, forget };
}
