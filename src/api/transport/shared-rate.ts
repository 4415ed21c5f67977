/** A rate limit that processes share, and the start times that a process may still use when the answer with them arrives. */
import type { RatedAnswer } from './rate-controller.ts';

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
   * Start times for at most `count` requests.
   * @param delay the expected delay of the answer, in milliseconds. Start times in this period will have passed, so as many are added
   */
  take(count: number, delay: number): Promise<StartTimes>;
  /** No process may start a request for this many milliseconds, because the service refused one. */
  pause(milliseconds: number): void;
  /** Records what an answer says about the limit; undefined when a request got no answer. */
  observe(answer: RatedAnswer | undefined): void;
}

/** When start times were requested, and when the answer arrived, by the clock of this process. */
interface Exchange {
  readonly asked: number;
  readonly answered: number;
}

/** An answer that takes at most this many milliseconds loses none of its start times. */
const shortExchange = 100;

/** The longest expected delay of an answer, in milliseconds. */
export const longestDelay = 2000;

/**
 * The start times to use, by the clock of this process, earliest first; maybe none. They are counted from the arrival of the answer, so
 * no request starts too early, but each may be late by the duration of the exchange. Those later than a short exchange after the last
 * time that was taken are left out, because they belong to other processes.
 */
export function usableStarts({ count, wait, apart }: StartTimes, { asked, answered }: Exchange): number[] {
  const end = asked + wait + (count - 1) * apart + shortExchange;
  const starts = Array.from({ length: count }, (_, index) => answered + wait + index * apart);
  return starts.filter((start) => start <= end);
}

/** The expected delay of the next answer, in milliseconds: twice that of the last one, so that an even later one has usable times. */
export function expectedDelay({ asked, answered }: Exchange): number {
  const took = answered - asked;
  return took <= shortExchange ? 0 : Math.min(2 * took, longestDelay);
}
