/**
 * A clock that can be moved: it shows the time of another one, so much later or earlier, and goes on from there.
 * Invariants: moving it changes nothing that is stored, so it can be moved back; it shows the years 1 to 9998 only, whose
 * texts sort like the times that they tell.
 */

export interface MovableClock {
  now(): Date;
  /** How far it is from the true time, in milliseconds. */
  offset(): number;
  /** Shows the true time, so many milliseconds later. @throws RangeError when it cannot show that. */
  move(offset: number): void;
}

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-01-01T00:00:00Z');

/** `trueNow` is the clock of the machine. */
export function movableClock(trueNow: () => Date): MovableClock {
  let current = 0;
  return {
    now: () => new Date(trueNow().getTime() + current),
    offset: () => current,
    move: (offset) => {
      const shown = trueNow().getTime() + offset;
      if (!(shown >= EARLIEST && shown < LATEST)) throw new RangeError('the clock shows the years 1 to 9998');
      current = offset;
    },
  };
}
