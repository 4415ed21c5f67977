/**
 * Chance that a seed decides: a number from what is asked, and not from when it is asked, so that requests that overtake
 * each other do not change what becomes of them, and a seed that failed fails again.
 */
import { createHash } from 'node:crypto';

/** Evenly from 0 up to 1, the same for the same words. */
export type Dice = (...words: readonly (string | number)[]) => number;

export function diceOf(seed: number): Dice {
  return (...words) => {
    const digest = createHash('sha256')
      .update([seed, ...words].join('\n'))
      .digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  };
}
