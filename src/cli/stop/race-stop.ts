/** Runs work until a signal comes. Only for work that reads: it can be abandoned, while writes must be waited for. */
import { untilAborted } from '../../model/until-aborted.ts';

/** @returns the result of the work, or `stopped` as soon as the signal is aborted; then the work's result is ignored */
export async function raceStop<T>(work: Promise<T>, stop: AbortSignal): Promise<T | 'stopped'> {
  return untilAborted(work, stop).catch((error: unknown) => {
    if (stop.aborted && error === stop.reason) return 'stopped' as const;
    throw error;
  });
}
