/**
 * Keeps the approved plan in the ledger from before the first call until the apply has succeeded. A job that is run again after a
 * crash is then compared with the whole approved plan, and not only with the rest of it (rule 28).
 */
import type { LedgerHead, LockGuard } from '../../apply/keep-ledger.ts';
import { sameJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { ApprovedPlan, Ledger, LedgerStore } from '../../model/ledger.ts';

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
  if (approved === undefined || isKept(approved, ledger)) return ledger;
  const replaced = openDigests(ledger).filter((digest) => digest !== approved.digest);
  return {
    ...ledger,
    ...head,
    approved: { ...approved, ...(replaced.length === 0 ? {} : { replaced }) },
  };
}

/** The approvals whose apply has begun and has not ended well. */
function openDigests({ approved }: Ledger): readonly string[] {
  return approved === undefined ? [] : [...(approved.replaced ?? []), approved.digest];
}

/** Whether the ledger has the same approval with the same passed guards. */
function isKept({ digest, passed = [] }: ApprovedPlan, { approved }: Ledger): boolean {
  return approved?.digest === digest && sameJson(passed, approved.passed);
}

/** What an apply that ended well has used up: the plan that was approved, and the plan that it carried out. */
export function endedDigests(
  { digest, changes }: Plan,
  approved: ApprovedPlan | undefined,
): readonly string[] {
  const made = changes.length === 0 ? [] : [digest];
  return [...new Set([...made, ...(approved === undefined ? [] : [approved.digest])])];
}

interface Ending {
  readonly digests: readonly string[];
  /** nothing is left to do in the whole stack: that ends each approval whose apply has begun */
  readonly isProved: boolean;
  /** milliseconds since 1970 */
  readonly now: () => number;
  readonly fence: LockGuard | undefined;
}

/**
 * Ends approvals after an apply has succeeded: the ledger keeps their digests, so that none of them is used again unnoticed.
 * @returns the digests that ended, with the time, for the history
 * @param ledger as this run wrote it last; what another run has written since is not changed
 * @throws LedgerConflict when another run has written, LockLost when this run no longer holds the lock
 */
export async function endApprovals(
  store: LedgerStore,
  ledger: Ledger,
  { digests, isProved, now, fence }: Ending,
): Promise<Readonly<Record<string, string>>> {
  const { approved, endedApprovals = [], ...rest } = ledger;
  if (digests.length === 0 && approved === undefined) return {};
  const time = new Date(now()).toISOString();
  const ended = [...digests, ...(isProved ? openDigests(ledger) : [])].map(
    (digest) => [digest, time] as const,
  );
  await fence?.pass();
  await store.write({ ...rest, endedApprovals: new Map([...endedApprovals, ...ended]) });
  return Object.fromEntries(ended);
}
