/** The time of one run: its deadline, and all that may end it before. It begins before anything is asked of anybody. */
import { type Deadline, openDeadline } from '../stop/deadline.ts';
import type { Stops } from '../stop/stop-signals.ts';
import type { RunOver } from '../ledger/ledger-waits.ts';

export interface RunTime extends RunOver {
  /** to be cleared */
  readonly deadline: Deadline;
}

/** @param seconds that the run may take; an hour when absent */
export function beginRun(seconds: number | undefined, stops: RunOver & Pick<Stops, 'endWith'>): RunTime {
  const deadline = openDeadline(seconds);
  stops.endWith(deadline);
  return { deadline, over: stops.over, insist: stops.insist };
}
