/** The time of one run: its deadline, and the signals that may end it earlier. It begins before the first request. */
import { type Deadline, openDeadline } from '../stop/deadline.ts';
import type { Stack } from '../../model/stack/target.ts';
import type { CliHost } from '../cli-host.ts';
import type { StopSignals } from '../stop/stop-signals.ts';
import type { RunOver } from '../ledger/ledger-waits.ts';

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
