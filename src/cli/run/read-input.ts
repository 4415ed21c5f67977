/**
 * Standard input, read as a part of the run: its time is the run's time, a wait for it is said, and what stops the run stops
 * it, for whoever should write there may never come to an end (rule 46).
 */
import { systemClock } from '../../http/transport/clock.ts';
import { Waits } from '../../http/transport/waits.ts';
import { untilAborted } from '../../model/until-aborted.ts';
import type { CliHost } from '../cli-host.ts';
import { DeadlineError, openDeadline } from '../stop/deadline.ts';
import { hearEnd } from '../stop/stop-signals.ts';

/** Standard input did not come to its end before the run did. */
export class InputGivenUp extends Error {
  override readonly name = 'InputGivenUp';
  /** a person or a CI has ended the run, not its time */
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
  /** what stops the run; without it, the first signal does */
  readonly over?: AbortSignal | undefined;
}

/**
 * @param most bytes; of what is longer at least one byte more
 * @throws InputGivenUp
 */
export async function readInput(
  host: CliHost,
  most: number,
  { timeout, over }: InputEnds,
): Promise<Uint8Array> {
  const stops = over === undefined ? hearEnd(host) : undefined;
  const deadline = openDeadline(timeout);
  const signals = [over, stops?.over].filter((signal) => signal !== undefined);
  const end = AbortSignal.any([deadline.over, ...signals]);
  const waits = new Waits('standard input', {
    tell: (says) => host.stderr.write(`${says}\n`),
    clock: systemClock,
  });
  const answered = waits.begin('it has not come to its end');
  try {
    return await untilAborted(host.readStdin(most, end), end);
  } catch (error) {
    throw end.aborted ? new InputGivenUp(end.reason) : error;
  } finally {
    answered();
    deadline.clear();
    stops?.forget();
  }
}
