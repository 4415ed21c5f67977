/** Time, as a value that a test can replace. Nothing in this folder asks for the time in any other way. */
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
      // What it rejects with says only that it was aborted.
      throw signal?.aborted ? signal.reason : error;
    });
  },
};
