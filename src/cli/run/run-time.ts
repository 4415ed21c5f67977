/** The time of one run: its deadline, and all that may end it before. It begins before anything is asked of anybody. */
import { type Deadline, openDeadline } from '../stop/deadline.ts';
import type { Stack } from '../../model/stack/target.ts';
import type { Stops } from '../stop/stop-signals.ts';
import type { RunOver } from '../ledger/ledger-waits.ts';

export interface RunTime extends RunOver {
  /** to be cleared */
  readonly deadline: Deadline;
}

/** The stack that a run is about, and when the run began if that was before: to wait for standard input takes of its time. */
export interface RunOf {
  readonly stack: Pick<Stack, 'timeout'>;
  readonly began?: number | undefined;
}

/** The run may take what its stack says; an hour when that says nothing. */
export function beginRun({ stack, began }: RunOf, stops: RunOver & Pick<Stops, 'endWith'>): RunTime {
  const deadline = openDeadline(stack.timeout, began);
  stops.endWith(deadline);
  return { deadline, over: stops.over, insist: stops.insist };
}
