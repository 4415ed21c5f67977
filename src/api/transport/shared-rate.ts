/** A limit of requests that processes share, and which of its start times a process may still use when the answer arrives. */
import type { RatedAnswer } from './rate.ts';

/** Evenly spaced times at which requests may start. */
interface StartTimes {
  readonly count: number;
  /** milliseconds from the moment at which they were taken to the first one */
  readonly wait: number;
  /** milliseconds between two of them */
  readonly apart: number;
}

/** A limit that this process shares with others. */
export interface SharedRate {
  /**
   * Start times for at most `count` requests. @param late milliseconds by which the answer is expected to be late: it has as many more start
   * times as that takes, which are not used
   */
  take(count: number, late: number): Promise<StartTimes>;
  /** No process may start a request for this many milliseconds, because the service refused one. */
  pause(milliseconds: number): void;
  /** What an answer says about the limit; undefined when a request had none. */
  observe(answer: RatedAnswer | undefined): void;
}

/** When the limit was asked, and when its answer arrived, by the clock of this process. */
interface Exchange {
  readonly asked: number;
  readonly answered: number;
}

/** Milliseconds that an answer may take, with all of its start times in use. */
const shortExchange = 100;

/** Milliseconds by which an answer is expected to be late, at most. */
export const longestLate = 2000;

/**
 * By the clock of this process, earliest first. The times were taken at some moment of the exchange, and others have those before and after
 * them. Counted from the arrival, a request never starts before its time, but perhaps as much later as the exchange took. So the last
 * ones are not used: what is used ends at the latest a short exchange after the last one that was taken. It may be none.
 */
export function usableStarts({ count, wait, apart }: StartTimes, { asked, answered }: Exchange): number[] {
  const end = asked + wait + (count - 1) * apart + shortExchange;
  const starts = Array.from({ length: count }, (_, index) => answered + wait + index * apart);
  return starts.filter((start) => start <= end);
}

/** By how many milliseconds the next answer may be late. Twice as much, so that it has times to use also when it takes a bit longer. */
export function expectedLate({ asked, answered }: Exchange): number {
  const took = answered - asked;
  return took <= shortExchange ? 0 : Math.min(2 * took, longestLate);
}
