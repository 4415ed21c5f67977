/** A clock whose waits end only when they are aborted. */
import { type Clock, systemClock } from '../../../src/api/transport/clock.ts';

/** @returns the clock, and a promise that resolves when its first wait starts */
export function stillClock(): { readonly clock: Clock; readonly begun: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const wait = (_: number, signal?: AbortSignal) =>
    new Promise<void>((__, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      begun.resolve();
    });
  return { clock: { now: () => systemClock.now(), wait }, begun: begun.promise };
}
