/** Why a run sends nothing more, as a clause for its outcomes. */
import { LedgerConflict, LockLost } from '../model/stack/ledger.ts';

/** @param stop aborted */
export function whyStopped({ reason }: AbortSignal): string {
  if (reason instanceof LockLost) return reason.clause;
  if (reason instanceof LedgerConflict) return 'another run has written the ledger';
  return 'the run was stopped';
}
