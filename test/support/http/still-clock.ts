/** A clock whose waits have no end but to be given up. */
import { type Clock, systemClock } from '../../../src/api/transport/clock.ts';

/** A pause that lasts until somebody gives it up, and tells when it has begun. */
export function stillClock(): { readonly clock: Clock; readonly begun: Promise<void> } {
  const begun = Promise.withResolvers<void>();
  const wait = (_: number, signal?: AbortSignal) =>
    new Promise<void>((__, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      begun.resolve();
    });
  return { clock: { now: () => systemClock.now(), wait }, begun: begun.promise };
}
