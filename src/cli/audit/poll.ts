/**
 * Looks again and again, until a signal comes or the time is over. Each look is a run with a deadline of its own. What fails once may
 * go well the next time, and is told; but a first look that fails ends the command, for then something is set up wrongly.
 */
import { ArchiveError } from '../../audit/archive/archive-database.ts';
import { systemClock } from '../../http/transport/clock.ts';
import { TrailError } from '../../model/audit-trail.ts';
import { formatDuration } from '../../model/kind/duration.ts';
import { WireError } from '../../model/wire.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { ConnectionLimits } from '../run/connect.ts';
import { openDeadline } from '../stop/deadline.ts';
import type { AuditContext } from './with-stack.ts';

export interface PollOptions {
  /** seconds between two looks */
  readonly interval: number;
  /** seconds after which no further look begins; without end when absent */
  readonly duration?: number | undefined;
}

/** @returns the exit code: to be stopped is how such a command ends */
export async function poll(
  { stack, host, stops }: AuditContext,
  { interval, duration = Number.POSITIVE_INFINITY }: PollOptions,
  look: (limits: ConnectionLimits) => Promise<void>,
): Promise<ExitCode> {
  const end = host.now() + duration * 1000;
  for (let looks = 1; ; looks += 1) {
    const deadline = openDeadline(stack.timeout, host);
    const signal = AbortSignal.any([stops.over, deadline.over]);
    try {
      await look({ deadline, signal, leave: stops.leave });
    } catch (error) {
      if (stops.over.aborted) return exitCodes.done;
      if (looks === 1 || !isPassing(error)) throw error;
      host.stderr.write(`${error.message}; the next look is in ${formatDuration(interval)}\n`);
    } finally {
      deadline.clear();
    }
    if (stops.over.aborted || host.now() + interval * 1000 > end) return exitCodes.done;
    const stopped = await systemClock.wait(interval * 1000, stops.over).then(
      () => false,
      () => true,
    );
    if (stopped) return exitCodes.done;
  }
}

function isPassing(error: unknown): error is Error {
  return (
    error instanceof WireError ||
    error instanceof ArchiveError ||
    (error instanceof TrailError && error.passing)
  );
}
