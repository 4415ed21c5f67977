/** The clock of this folder. Tests replace it, so nothing here uses any other source of time. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  /** milliseconds since 1970; never runs backwards */
  now(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted before. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  wait: async (milliseconds, signal) => {
    await delay(milliseconds, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      // The timer's own error does not contain the signal's reason.
      throw signal?.aborted ? signal.reason : error;
    });
  },
};
