/**
 * The two ways in which a person or a CI stops an apply. The first signal asks it to end: nothing new is started. The
 * second gives up what is still in flight; what became of that is then unknown.
 */
import type { World } from './world.ts';

export interface Stops {
  /** the first signal */
  readonly stop: AbortSignal;
  /** the second one; never before `stop` */
  readonly cut: AbortSignal;
  /** Hears no more: from now on a signal does what it always does. */
  forget(): void;
}

/** Each of the two says on stderr what it leads to. */
export function hearStops({ onStop, stderr }: Pick<World, 'onStop' | 'stderr'>): Stops {
  const [stop, cut] = [new AbortController(), new AbortController()];
  const forget = onStop(() => {
    if (!stop.signal.aborted) {
      stderr.write(
        '\ninterrupted: what was sent is waited for, nothing new is started; a second signal gives up waiting\n',
      );
      stop.abort();
    } else if (!cut.signal.aborted) {
      stderr.write('\ninterrupted again: what was sent is given up, and what became of it is unknown\n');
      cut.abort(new Error('interrupted'));
    }
  });
  return { stop: stop.signal, cut: cut.signal, forget };
}
