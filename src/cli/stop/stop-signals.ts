/**
 * The ways in which a run is stopped before its end: a person or a CI sends signals, or its time is over. What only reads
 * ends at once. For what writes the first signal asks it to end: nothing new is started; the second gives up what is still in
 * flight, and what became of that is then unknown.
 */
import { type Deadline, DeadlineError } from './deadline.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { RunOver } from '../ledger/ledger-waits.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import type { CliHost } from '../cli-host.ts';

export interface Stops extends RunOver {
  /** the first signal */
  readonly stop: AbortSignal;
  /** the second one; never before `stop` */
  readonly cut: AbortSignal;
  /** An end like the first signal's, and a while later like the second's, when the time is over. */
  endWith(deadline: Pick<Deadline, 'over'>): void;
  /** Hears no more: from now on a signal does what it always does. */
  forget(): void;
}

/** Milliseconds that what is in flight may take when the time is over. */
const grace = 60_000;

/** The exit code of a run that was stopped. @param code what it is when its time was over */
export function codeOfStop({ reason }: AbortSignal, code: ExitCode): ExitCode {
  return reason instanceof DeadlineError ? code : exitCodes.interrupted;
}

/**
 * What ended a run before its end, for its answer in JSON: as text it was said on stderr when it came.
 * @param about.done what became of the run by then
 * @param about.isNews nothing else tells it, as text neither
 * @param about.code the exit code when its time was over
 */
export function tellStop(
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
  if (terminal.format === 'json' || isNews) printError(terminal, ending, `${done}: ${why}`);
  return codeOfStop(stop, code);
}

/** For what writes. Each of them says on stderr what it leads to. */
export function listenForStops({ onStop, stderr }: Pick<CliHost, 'onStop' | 'stderr'>): Stops {
  const [stop, cut, insist] = [new AbortController(), new AbortController(), new AbortController()];
  let timer: NodeJS.Timeout | undefined;
  const end = (over: AbortSignal) => {
    if (stop.signal.aborted) return;
    const { message } = over.reason as Error;
    stderr.write(`\n${message}: any write that was sent is waited for, nothing new is started\n`);
    stop.abort(over.reason);
    timer = setTimeout(() => cut.abort(over.reason), grace);
  };
  const deafen = onStop(() => {
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
    endWith: ({ over }) => whenAborted(over, () => end(over)),
    forget: () => {
      clearTimeout(timer);
      deafen();
    },
  };
}

/** For what only reads, and has nothing to leave in order: the first signal ends all of it, with one word. */
export function hearEnd({ onStop, stderr }: Pick<CliHost, 'onStop' | 'stderr'>): Omit<Stops, 'cut'> {
  const [stop, over] = [new AbortController(), new AbortController()];
  let heard = 0;
  const deafen = onStop(() => {
    heard += 1;
    // Whoever still has to wait may end it as every process is ended.
    if (heard > 1) return deafen();
    stderr.write('\ninterrupted\n');
    const reason = new Error('interrupted');
    stop.abort(reason);
    over.abort(reason);
  });
  return {
    stop: stop.signal,
    over: over.signal,
    insist: over.signal,
    endWith: ({ over: late }) => whenAborted(late, () => over.abort(late.reason)),
    forget: deafen,
  };
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
