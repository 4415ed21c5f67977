/**
 * Keeps the approved plan in the ledger from before the first call until the apply has succeeded. A job that is run again after a
 * crash is then compared with the whole approved plan, and not only with the rest of it.
 */
import type { TargetConnection } from '../../api/open-target.ts';
import type { LedgerHead, LockGuard } from '../../apply/keep-ledger.ts';
import { sameJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { ApprovedPlan } from '../../model/approval.ts';
import type { HistoryEntry, Ledger, LedgerStore } from '../../model/ledger.ts';
import { importFormerLedger, isPending } from '../open-ledger.ts';
import { ledgerHead } from '../ledger-head.ts';
import type { PreparedRun } from '../prepare-run.ts';
import { takeOverMoves } from '../stack-moves.ts';

export type PreparedApply = PreparedRun<TargetConnection>;

/** A run that may write. */
export interface WritingRun extends PreparedApply {
  readonly head: LedgerHead;
  /** digests whose approval ends when the apply succeeds */
  readonly digests: readonly string[];
  /** who approved it, for the history */
  readonly approvals?: HistoryEntry['approvals'];
  /** guards that were acknowledged, for the history */
  readonly acknowledged?: HistoryEntry['acknowledged'];
}

/**
 * Writes the approval, before the first call, unless the ledger has it already. The head is written together with it, so that the
 * approval's commit is known.
 */
export async function storeApproval(
  plan: Plan,
  approved: ApprovedPlan | undefined,
  prepared: PreparedApply,
): Promise<WritingRun> {
  const { stack, stackIds, commitOrders } = prepared.request;
  const orders = (await commitOrders) ?? [];
  const head = ledgerHead({ ...prepared, stack, plan, orders, stackId: stackIds?.own });
  const imported = await importRecords(prepared, { approved, head });
  const kept = withApproved(imported, { approved, head });
  const ledger = kept === imported ? imported : await prepared.store.write(kept);
  return { ...prepared, ledger, head, digests: endedDigests(plan, approved) };
}

interface HeadedApproval {
  readonly approved: ApprovedPlan | undefined;
  readonly head: LedgerHead;
}

/**
 * Imports the ledger of the stack's former name, or records of other stacks, before anything is sent. The approval is written at the
 * same time, because after the import a new plan would have another digest.
 */
async function importRecords(
  { former, taking, store, ledger, request: { stack, stackIds, now } }: PreparedApply,
  approval: HeadedApproval,
): Promise<Ledger> {
  if (taking !== undefined)
    return takeOverMoves({
      ...taking,
      ...{ stack, stackId: stackIds?.own, store, now },
      own: withApproved({ ...taking.own, ...approval.head }, approval),
      ledger: withApproved({ ...ledger, ...approval.head }, approval),
    });
  if (former === undefined || !isPending(former)) return ledger;
  return importFormerLedger(former, { stack, store, ledger: withApproved(ledger, approval) });
}

/** The ledger with the approval; the same object if the ledger has the approval already. */
function withApproved(ledger: Ledger, { approved, head }: HeadedApproval): Ledger {
  if (approved === undefined || isKept(approved, ledger)) return ledger;
  const open = new Set([...openDigests(ledger), ...(approved.replaced ?? [])]);
  const replaced = [...open].filter((digest) => digest !== approved.digest);
  return {
    ...ledger,
    ...head,
    approved: { ...approved, ...(replaced.length === 0 ? {} : { replaced }) },
  };
}

/** The digests of approvals whose apply has begun and has not succeeded. */
function openDigests({ approved }: Ledger): readonly string[] {
  return approved === undefined ? [] : [...(approved.replaced ?? []), approved.digest];
}

/** Whether the ledger has the same approval, with the same passed guards, of the same pull requests. */
function isKept(
  { digest, passed = [], since, first, replaced = [] }: ApprovedPlan,
  { approved }: Ledger,
): boolean {
  const known = approved?.replaced ?? [];
  return (
    approved?.digest === digest &&
    approved.since === since &&
    approved.first === first &&
    replaced.every((one) => known.includes(one)) &&
    sameJson(passed, approved.passed)
  );
}

/** The digests whose approval a successful apply ends: of the approved plan, and of the plan that it carried out. */
function endedDigests({ digest, changes }: Plan, approved: ApprovedPlan | undefined): readonly string[] {
  const made = changes.length === 0 ? [] : [digest];
  return [...new Set([...made, ...(approved === undefined ? [] : [approved.digest])])];
}

interface Ending {
  readonly digests: readonly string[];
  /** nothing is left to do in the whole stack: that ends each approval whose apply has begun */
  readonly isProved: boolean;
  /** `isProved`, and no removal is pending, such as that of a locked workspace */
  readonly isConverged: boolean;
  /** milliseconds since 1970 */
  readonly now: () => number;
  readonly lockGuard: LockGuard | undefined;
}

/**
 * Ends approvals after an apply has succeeded: the ledger keeps their digests, so that none of them is used again unnoticed. With
 * `isConverged`, the ledger also drops ids that were taken over from another repository, and commits of earlier applies.
 * @returns the digests that ended, with the time, for the history
 * @param ledger as this run wrote it last; what another run has written since is not changed
 * @throws LedgerConflict when another run has written, LockLost when this run no longer holds the lock
 */
export async function endApprovals(
  store: LedgerStore,
  ledger: Ledger,
  { digests, isProved, isConverged, now, lockGuard }: Ending,
): Promise<Readonly<Record<string, string>>> {
  const { approved, endedApprovals = [], takenIds = [], otherCommits = [], ...rest } = ledger;
  const isOpen = takenIds.length + otherCommits.length > 0;
  const ending = [...digests, ...(isProved ? openDigests(ledger) : [])];
  if (ending.length === 0 && !(isConverged && isOpen)) return {};
  const time = new Date(now()).toISOString();
  const ended = ending.map((digest) => [digest, time] as const);
  const stillOpen = approved && approvedWithout(approved, ending);
  await lockGuard?.pass();
  await store.write({
    ...rest,
    ...(stillOpen === undefined ? {} : { approved: stillOpen }),
    // Nothing is left that these allow or protect: from now on, a tag with a former id belongs to another repository again.
    ...(isConverged ? {} : { takenIds, otherCommits }),
    endedApprovals: new Map([...endedApprovals, ...ended]),
  });
  return Object.fromEntries(ended);
}

/** The approvals that stay open after an apply that proves nothing about the whole stack, such as one of a selection. */
function approvedWithout(approved: ApprovedPlan, ended: readonly string[]): ApprovedPlan | undefined {
  const replaced = (approved.replaced ?? []).filter((digest) => !ended.includes(digest));
  if (!ended.includes(approved.digest)) return { ...approved, replaced };
  const digest = replaced.pop();
  // The changes of this digest are no longer known. With version 0, a different plan is not accepted as the rest of it.
  return digest === undefined ? undefined : { version: 0, digest, atoms: [], replaced };
}
