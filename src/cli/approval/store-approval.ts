/**
 * Keeps the approved plan in the ledger from before the first call until the apply has succeeded. A job that is run again after a
 * crash is then compared with the whole approved plan, and not only with the rest of it (rule 28).
 */
import type { Fence } from '../../apply/fence.ts';
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import { sameJson } from '../../model/json/json.ts';
import type { ApprovedPlan, Ledger, LedgerStore } from '../../model/stack/ledger.ts';

/**
 * Writes the approval, before the first call, unless the ledger has it already.
 * @param approval.head is written together with it, so that the approval's commit is known
 */
export async function storeApproval(
  store: LedgerStore,
  ledger: Ledger,
  approval: HeadedApproval,
): Promise<Ledger> {
  const kept = withApproved(ledger, approval);
  return kept === ledger ? ledger : store.write(kept);
}

export interface HeadedApproval {
  readonly approved: ApprovedPlan | undefined;
  readonly head: LedgerHead;
}

/** Returns the same object when the ledger has the approval already. */
export function withApproved(ledger: Ledger, { approved, head }: HeadedApproval): Ledger {
  return approved === undefined || isKept(approved, ledger) ? ledger : { ...ledger, ...head, approved };
}

/** Whether the ledger has the same approval with the same passed guards. */
function isKept({ digest, passed = [] }: ApprovedPlan, { approved }: Ledger): boolean {
  return approved?.digest === digest && sameJson(passed, approved.passed);
}

/**
 * Removes the approval after an apply has succeeded.
 * @param ledger as this run wrote it last; what another run has written since is not changed
 * @throws LedgerConflict when another run has written, LockLost when this run no longer holds the lock
 */
export async function forgetApproved(
  store: LedgerStore,
  { approved, ...ledger }: Ledger,
  fence: Fence | undefined,
): Promise<void> {
  if (approved === undefined) return;
  await fence?.pass();
  await store.write(ledger);
}
