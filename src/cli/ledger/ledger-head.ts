/**
 * What the ledger says besides its records, once an apply begins: what each target is, and which commit of the manifests
 * was applied. That commit goes back only when somebody has acknowledged it (rule 43): an apply from an older one that
 * changes nothing, or whose files are the same, leaves the later one applied.
 */
import type { LedgerHead } from '../../apply/keep-ledger.ts';
import type { NoCommit, RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import type { CommitOrder } from '../../model/stack/commit-order.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Stack } from '../../model/stack/target.ts';
import { identitiesAfter } from '../../plan/ledger/moved-targets.ts';

export interface HeadInput {
  readonly ledger: Ledger;
  readonly stack: Stack;
  readonly plan: Plan;
  /** where the manifests come from */
  readonly from: RepositoryCommit | NoCommit;
  readonly order: CommitOrder | undefined;
}

export function ledgerHead({ ledger, stack, plan, from, order }: HeadInput): LedgerHead {
  const isStill = order?.is === 'behind' && (!order.differs || plan.changes.length === 0);
  const commit =
    from.commit === undefined || isStill
      ? ledger.commit
      : { id: from.commit, ...(from.dirty ? { dirty: true as const } : {}) };
  return {
    targets: identitiesAfter(ledger, stack.targets),
    ...(commit === undefined ? {} : { commit }),
  };
}
