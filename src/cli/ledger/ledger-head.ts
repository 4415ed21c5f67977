/**
 * What an apply writes into the ledger besides records: the identities of the targets, and the commit of the manifests. The commit
 * goes back to an older one only when that was acknowledged (rule 43). An apply from an older commit that changes nothing, or whose
 * files are the same, keeps the later commit.
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
  const keepsCommit = order?.is === 'behind' && (!order.differs || plan.changes.length === 0);
  const commit =
    from.commit === undefined || keepsCommit
      ? ledger.commit
      : { id: from.commit, ...(from.dirty ? { dirty: true as const } : {}) };
  return {
    targets: identitiesAfter(ledger, stack.targets),
    ...(commit === undefined ? {} : { commit }),
  };
}
