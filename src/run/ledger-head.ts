/**
 * What an apply writes into the ledger besides records: the identities of the targets, the id of the stack, its repository, and
 * the commit of the manifests. The commit goes back to an older one only when that was acknowledged (rule 43).
 */
import { join } from 'node:path';
import type { LedgerHead } from '../apply/keep-ledger.ts';
import type { NoCommit, RepositoryCommit, StackRepository } from '../ledger/git/checkout.ts';
import { exists } from '../manifest/files/find-stack.ts';
import type { AppliedFields, CommitOrder } from '../model/checkout.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { AppliedRepository, HistoryChange, HistoryStore, Ledger } from '../model/ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { Stack } from '../model/stack.ts';
import { identitiesAfter } from '../plan/moved-targets.ts';

export interface HeadInput {
  readonly ledger: Ledger;
  readonly stack: Stack;
  readonly plan: Plan;
  /** where the manifests come from */
  readonly from: RepositoryCommit | NoCommit;
  readonly order: CommitOrder | undefined;
  readonly stackId?: string | undefined;
  /** of this run; undefined outside of a repository */
  readonly repository?: AppliedRepository | undefined;
}

export function ledgerHead({
  ledger,
  stack,
  plan,
  from,
  order,
  stackId,
  repository: found = ledger.repository,
}: HeadInput): LedgerHead {
  // A checkout without a remote says less than the ledger knows.
  const repository = found?.remote === undefined ? (ledger.repository ?? found) : found;
  const keepsCommit = order?.is === 'behind' && (!order.differs || plan.changes.length === 0);
  const commit =
    from.commit === undefined || keepsCommit
      ? ledger.commit
      : { id: from.commit, ...(from.dirty ? { dirty: true as const } : {}) };
  return {
    targets: identitiesAfter(ledger, stack.targets),
    ...(stackId === undefined ? {} : { stackId }),
    ...(repository === undefined ? {} : { repository }),
    ...(commit === undefined ? {} : { commit }),
  };
}

/** How many applies are searched for those of the last commit. */
const searched = 200;

/**
 * What the applies from a commit changed. An apply that changed nothing is not in the history.
 * @returns undefined when the history does not tell
 */
export async function fieldsSetFrom(
  commit: string,
  history: Pick<HistoryStore, 'readEntries'>,
): Promise<AppliedFields | undefined> {
  const entries = await history.readEntries(searched).catch(() => []);
  const found = entries.flatMap((entry) => (entry instanceof Error ? [] : [entry]));
  if (found.length === 0 || found.length < entries.length) return undefined;
  const changes = found
    .flatMap((entry) => (entry.commit === commit ? entry.changes : []))
    .filter(mayHaveSent);
  const byAddress = Map.groupBy(changes, ({ address }) => address);
  return new Map(
    [...byAddress].map(([address, some]) => [
      address,
      some.flatMap(({ fields }) => fields.map(({ path }) => path)),
    ]),
  );
}

/** Also a change of an apply that was killed, and one that failed after its first call. */
function mayHaveSent({ outcome, done = [], inDoubt }: HistoryChange): boolean {
  return (
    outcome === undefined ||
    outcome === 'applied' ||
    outcome === 'unknown' ||
    inDoubt === true ||
    done.length > 0
  );
}

// Compares the repository of this run with the one that the ledger was written from.

/**
 * A conflict if the ledger is of another repository, or of another stack file that is still there: a stack file that was moved is the
 * same stack. Undefined also where one of the two is not known.
 */
export async function repositoryProblem(
  recorded: AppliedRepository | undefined,
  place: StackRepository | undefined,
): Promise<Diagnostic | undefined> {
  if (recorded === undefined || place === undefined) return undefined;
  const { applied, remotes, root } = place;
  const isOther = recorded.remote !== undefined && remotes.length > 0 && !remotes.includes(recorded.remote);
  if (!isOther) {
    const isMoved = recorded.path !== applied.path;
    if (!isMoved || !(await exists(join(root, recorded.path)))) return undefined;
  }
  return {
    code: 'other-repository',
    severity: 'error',
    class: 'conflict',
    message: isOther
      ? "the ledger was written from another repository: two repositories with one ledger undo each other's changes"
      : "the ledger was written from another stack file of this repository: two stacks with one ledger undo each other's changes",
    found: describeRepository(applied),
    allowed: describeRepository(recorded),
    fix: 'rename one of the two stacks; if this one continues the other one: trueup recover --adopt-repository',
  };
}

export function describeRepository({ remote, path }: AppliedRepository): string {
  return remote === undefined ? path : `${remote}, ${path}`;
}
