/**
 * Reads standard input as a part of the run: it counts for the run's deadline, a long wait is reported, and the run's signals stop
 * it, because the writing program may never end (rule 46).
 */
import { systemClock, Waits } from '../api/transport/clock.ts';
import { untilAborted } from '../model/http.ts';
import type { CliHost } from './host.ts';
import { DeadlineError, openDeadline } from './deadline.ts';
import { listenForEnd } from './stop-signals.ts';

/** Standard input did not end before the run did. */
export class InputWaitEnded extends Error {
  override readonly name = 'InputWaitEnded';
  /** a signal has ended the run, and not its deadline */
  readonly interrupted: boolean;

  constructor(reason: unknown) {
    const late = reason instanceof DeadlineError ? reason : undefined;
    super(`standard input did not come to its end, and nothing was done: ${late?.message ?? 'interrupted'}`, {
      cause: reason,
    });
    this.interrupted = late === undefined;
  }
}

export interface InputEnds {
  /** seconds that the run may take; an hour when absent */
  readonly timeout?: number | undefined;
  /** aborted when the run ends; without it, the first signal ends the reading */
  readonly over?: AbortSignal | undefined;
}

/**
 * @param max in bytes; of a longer input at least one byte more is returned
 * @throws InputWaitEnded
 */
export async function readInput(
  host: CliHost,
  max: number,
  { timeout, over }: InputEnds,
): Promise<Uint8Array> {
  const stops = over === undefined ? listenForEnd(host) : undefined;
  const deadline = openDeadline(timeout, host);
  const signals = [over, stops?.over].filter((signal) => signal !== undefined);
  const end = AbortSignal.any([deadline.over, ...signals]);
  const waits = new Waits('standard input', {
    report: (message) => host.stderr.write(`${message}\n`),
    clock: systemClock,
  });
  const answered = waits.begin('it has not come to its end');
  try {
    return await untilAborted(host.readStdin(max, end), end);
  } catch (error) {
    throw end.aborted ? new InputWaitEnded(end.reason) : error;
  } finally {
    answered();
    deadline.clear();
    stops?.dispose();
  }
}
