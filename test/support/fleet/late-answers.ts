/** Responses of the shared rate limit that arrive late, because a worker was paused, or the database is slow. */
import fc from 'fast-check';
import { usableStarts } from '../../../src/api/transport/shared-rate.ts';
import type { StartTimes } from '../../../src/commands/fleet/rates/request-rate.ts';

export interface LateAnswer {
  /** milliseconds from the request until the database assigns the start times */
  readonly before: number;
  /** milliseconds from then until the response arrives */
  readonly after: number;
  /** the delay that the worker expects, in milliseconds */
  readonly late: number;
}

export const anyLateAnswer: fc.Arbitrary<LateAnswer> = fc.record({
  before: fc.constantFrom(0, 0, 20, 90, 400),
  after: fc.constantFrom(0, 0, 5, 80, 99, 101, 300, 900, 1600, 5000),
  late: fc.constantFrom(0, 0, 0, 202, 800, 2000),
});

/** When requests start, in milliseconds since 1970. @param taken when the start times were assigned */
export function startsOf(times: StartTimes, { before, after }: LateAnswer, taken: number): number[] {
  return usableStarts(times, { asked: taken - before, answered: taken + after });
}

/** Milliseconds by which a second may be shorter: a start time is a whole millisecond, and a short exchange takes a tenth of a second. */
export const tolerance = 102;
