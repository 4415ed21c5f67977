/**
 * What may be written in the place of a ledger that stands in a store. A write whose answer was lost may have been carried
 * out: each is remembered until a later one is known to stand there, so that a run never takes its own write for another run's.
 */
import { createHash } from 'node:crypto';
import { type Ledger, LedgerConflict } from '../model/stack/ledger.ts';
import { formatLedger, type LedgerLocation, parseLedger } from './ledger-text.ts';

/** One try to write a ledger. */
export interface Step {
  readonly written: Ledger;
  readonly text: string;
  /** of the ledger in whose place it goes */
  readonly from: number;
  /** it stands there already: an earlier try was carried out */
  readonly isDone: boolean;
}

/** Of one store and its writes, which come one after the other. */
export class OwnWrites {
  readonly #where: LedgerLocation;
  /** hashes of the texts that were sent since the last one that is known to stand there */
  readonly #unsure = new Set<string>();

  constructor(where: LedgerLocation) {
    this.#where = where;
  }

  /** For who has the store compare the serials: the step from the very ledger that this one was made from. */
  first(ledger: Ledger): Step {
    return this.#step(ledger, ledger.serial);
  }

  /**
   * The step from what stands there.
   * @param stored undefined when nothing does
   * @throws LedgerConflict when that is neither what the ledger was made from nor a write of this store
   */
  next(ledger: Ledger, stored: string | undefined): Step {
    const found = stored === undefined ? 0 : parseLedger(stored, this.#where).serial;
    const isOurs = stored !== undefined && this.#unsure.has(hashOf(stored));
    if (!isOurs) {
      if (found !== ledger.serial)
        throw new LedgerConflict(this.#where.place, { found, expected: ledger.serial });
      return this.#step(ledger, found);
    }
    const before = this.#step(ledger, found - 1);
    return before.text === stored ? { ...before, isDone: true } : this.#step(ledger, found);
  }

  /** From here on nobody knows whether it stands there. @returns the text to be sent */
  sending({ text }: Step): string {
    this.#unsure.add(hashOf(text));
    return text;
  }

  /** A step is known to have been made: what was sent before it can stand there no more. */
  settle({ written }: Step): Ledger {
    this.#unsure.clear();
    return written;
  }

  #step(ledger: Ledger, from: number): Step {
    const written = { ...ledger, known: true, serial: from + 1 };
    return { written, text: formatLedger(this.#where.stack, written), from, isDone: false };
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
