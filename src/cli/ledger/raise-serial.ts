/**
 * Whoever takes a lock over raises the serial of the ledger first (rule 45): the next write of the run that held it is
 * refused then, whatever that run still believes, and it sends nothing more.
 */
import { DamagedLedger, LedgerConflict, type LedgerStore } from '../../model/stack/ledger.ts';

/** Who writes faster than this often is alive. */
const attempts = 10;

/**
 * Where no ledger is, there is nothing to raise, and none is made.
 * @returns a sentence when it could not be raised, for the ledger is damaged: then nobody can go on from it either
 * @throws LedgerError when it cannot be read or written
 */
export async function raiseSerial(store: LedgerStore): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const ledger = await store.read();
      if (ledger.known) await store.write(ledger);
      return undefined;
    } catch (error) {
      if (error instanceof DamagedLedger) return `the serial of the ledger was not raised: ${error.message}`;
      if (!(error instanceof LedgerConflict) || attempt === attempts) throw error;
    }
  }
}
