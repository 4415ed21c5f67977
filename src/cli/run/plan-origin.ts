/** When a plan was made and from which commit, as its file records it: whoever shows the plan later must not guess. */
import type { GitContext } from '../../ledger/git/git-command.ts';
import { isParent, type NoCommit, type RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import type { Plan, PlanOrigin } from '../../model/plan/plan.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import { readEvent } from '../comment/read-event.ts';
import { jobCommit } from '../comment/review-place.ts';

interface OriginInput {
  /** milliseconds since 1970: before anything was read */
  readonly began: number;
  readonly from: RepositoryCommit | NoCommit;
  readonly at: GitContext;
}

export async function planOrigin({ began, from, at }: OriginInput): Promise<PlanOrigin> {
  const origin = { at: new Date(began).toISOString() };
  const { commit } = from;
  if (commit === undefined) return origin;
  const named = jobCommit(at.env, await readEvent(at));
  const isOfJob =
    named !== undefined && (named === commit || (isCommit(named) && (await isParent(named, commit, at))));
  return {
    ...origin,
    commit,
    ...(from.dirty ? { dirty: true as const } : {}),
    ...(isOfJob ? { pullRequestCommit: named } : {}),
  };
}

/** Adds its origin to a plan, with the end of an earlier approval of the same plan, which this plan therefore comes after. */
export function withOrigin(
  plan: Plan,
  { origin, ledger }: { readonly origin: PlanOrigin; readonly ledger: Ledger },
): Plan {
  const lastEnded = ledger.endedApprovals?.get(plan.digest) ?? null;
  return { ...plan, made: { ...origin, lastEnded } };
}

function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}
