/** Compares the repository of this run with the one that the ledger was written from. */
import { join } from 'node:path';
import type { StackRepository } from '../../ledger/git/stack-repository.ts';
import { exists } from '../../manifest/files/find-repository.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { AppliedRepository } from '../../model/stack/ledger.ts';

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
