/**
 * A run that takes a lock over raises the serial of the ledger first (rule 45). Then the next ledger write of the run that held the
 * lock is refused, even if that run still believes that it holds the lock, and it sends nothing more.
 */
import { DamagedLedger, LedgerConflict, type LedgerStore } from '../../model/stack/ledger.ts';

/** After so many conflicts the other run is alive and writing. */
const maxAttempts = 10;

/**
 * Does nothing when there is no ledger.
 * @returns a message when the serial was not raised because the ledger is damaged; then the other run cannot write it either
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
      if (!(error instanceof LedgerConflict) || attempt === maxAttempts) throw error;
    }
  }
}
