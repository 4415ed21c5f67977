/**
 * The approved plan in the ledger: there from before the first call until an apply has ended well, so that the same job,
 * run again after a crash, is judged against what was approved and not against what is left of it (rule 28).
 */
import type { Fence } from '../../apply/fence.ts';
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import { sameJson } from '../../model/json/json.ts';
import type { ApprovedPlan, Ledger, LedgerStore } from '../../model/stack/ledger.ts';

/**
 * Written before the first call; what stands there already is not written again.
 * @param head goes along, so that whoever finds the approval knows which commit it was given for
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

/** The very same ledger when there is nothing to add to it. */
export function withApproved(ledger: Ledger, { approved, head }: HeadedApproval): Ledger {
  return approved === undefined || isKept(approved, ledger) ? ledger : { ...ledger, ...head, approved };
}

/** The same approval, with no guard passed that was not passed before. */
function isKept({ digest, passed = [] }: ApprovedPlan, { approved }: Ledger): boolean {
  return approved?.digest === digest && sameJson(passed, approved.passed);
}

/**
 * Once an apply has ended well, there is nothing left that anybody could have approved.
 * @param ledger as this run wrote it last: what another run has written since, an approval of its own, is not touched
 * @throws LedgerConflict, or LockLost when the lock is not this run's any more
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
