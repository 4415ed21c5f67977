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
import type { AuditContext } from './with-trails.ts';

export interface PollOptions {
  /** seconds between two looks */
  readonly interval: number;
  /** seconds after which no further look begins; without end when absent */
  readonly duration?: number | undefined;
}

/** @returns the exit code: to be stopped is how such a command ends */
export async function poll(
  context: AuditContext,
  { interval, duration = Number.POSITIVE_INFINITY }: PollOptions,
  look: Poll,
): Promise<ExitCode> {
  const { host, stops } = context;
  const pause = interval * 1000;
  const end = host.now() + duration * 1000;
  const { over: until } = stops;
  await pollOnce(context, look).catch(unlessStopped(until));
  while (!until.aborted && host.now() + pause <= end) {
    await systemClock.wait(pause, until).catch(unlessStopped(until));
    if (until.aborted) break;
    await pollOnce(context, look).catch((error: unknown) => {
      if (until.aborted) return;
      if (!isTemporary(error)) throw error;
      host.stderr.write(`${error.message}; the next look is in ${formatDuration(interval)}\n`);
    });
  }
  return exitCodes.done;
}

type Poll = (limits: ConnectionLimits) => Promise<void>;

async function pollOnce({ stack, host, stops }: AuditContext, look: Poll): Promise<void> {
  const deadline = openDeadline(stack.timeout, host);
  const signal = AbortSignal.any([stops.over, deadline.over]);
  try {
    await look({ deadline, signal, leave: stops.leave });
  } finally {
    deadline.clear();
  }
}

/** What fails because somebody has stopped it has not failed. */
function unlessStopped(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

function isTemporary(error: unknown): error is Error {
  return (
    error instanceof WireError ||
    error instanceof ArchiveError ||
    (error instanceof TrailError && error.passing)
  );
}
