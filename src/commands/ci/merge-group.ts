/**
 * A merge queue merges pull requests together and asks whether the result may be merged. What would be applied then must be what the pull
 * requests have shown to their reviewers: the plan of the group must be what is left of their plans.
 */
import type { PullRequest, PullRequests } from '../../api/code-host/pull-requests.ts';
import { guardKeys } from '../../approvals/guard-keys.ts';
import { readState } from '../../approvals/hidden-lines.ts';
import { findPlanComment } from '../../approvals/plan-comment.ts';
import { runGit } from '../../ledger/git/git-command.ts';
import { blockingIds } from '../../model/guard.ts';
import { quoted } from '../../model/quoted.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { checkApprovedPlans, type ProvedPlan } from '../../plan/approved-plans.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import type { CiScope } from '../../run/ci/scope.ts';
import { readCarriedPlan } from '../../run/carried-plan.ts';
import type { CliHost } from '../../run/host.ts';
import type { CodeHostSession } from './code-host-session.ts';

export type GroupVerdict =
  | { readonly is: 'reviewed'; readonly by: readonly number[] }
  | {
      readonly is: 'not-reviewed';
      /** clauses */
      readonly reasons: readonly string[];
      readonly difference?: PlanDifference;
    };

/**
 * The pull requests whose changes the group has besides the base branch, oldest first: from the subjects of the commits that the queue made, and
 * from its branch. Groups that wait before this one count as well.
 */
export async function pullsOfGroup(
  { job, reader, head, tip }: CiScope,
  env: CliHost['env'],
): Promise<number[]> {
  const { baseBranch } = job;
  const newest = baseBranch === undefined ? tip?.commit : await reader.tipOf(baseBranch);
  // Fetches the commits between the two where the clone is shallow.
  if (newest !== undefined) await reader.between(newest, head.commit);
  const range = newest === undefined ? head.commit : `${newest}..${head.commit}`;
  const listed = await runGit(['log', '--first-parent', '--reverse', '--format=%s', range, '--'], reader.at);
  const subjects = listed.code === 0 ? listed.out.toString().split('\n') : [];
  const found = [
    ...subjects.map((subject) => /^Merge pull request #(\d+) |\(#(\d+)\)$/.exec(subject)),
    /\/pr-(\d+)-[0-9a-f]+$/.exec(env['GITHUB_REF'] ?? ''),
  ];
  return [...new Set(found.flatMap((match) => (match ? [Number(match[1] ?? match[2])] : [])))];
}

/** @throws CodeHostError, WireError */
export async function checkGroup(
  planning: PlanResult,
  numbers: readonly number[],
  { pullRequests, accounts }: Pick<CodeHostSession, 'pullRequests' | 'accounts'>,
): Promise<GroupVerdict> {
  const { plan } = planning;
  if (plan.changes.length === 0 && blockingIds(plan.guards).length === 0) return { is: 'reviewed', by: [] };
  if (pullRequests === undefined || numbers.length === 0)
    return {
      is: 'not-reviewed',
      reasons: ['the pull requests of this merge group are not known, so nothing shows what was reviewed'],
    };
  const shown: (ShownInPull & { readonly number: number })[] = [];
  const reasons: string[] = [];
  for (const number of numbers) {
    const found = await shownPlan(await pullRequests.get(number), plan, { pullRequests, accounts });
    if (typeof found === 'string') reasons.push(found);
    else shown.push({ number, ...found });
  }
  const checked = checkApprovedPlans(
    planning,
    shown.map((one) => one.plan),
  );
  const unseen = unseenGuards(plan, shown);
  const isReviewed = checked.is === 'equal' || checked.is === 'subset';
  if (isReviewed && unseen.length === 0) return { is: 'reviewed', by: shown.map(({ number }) => number) };
  return {
    is: 'not-reviewed',
    reasons: [...reasons, ...unseen],
    ...(checked.is === 'differs' ? { difference: checked.difference } : {}),
  };
}

interface ShownInPull {
  readonly plan: ProvedPlan;
  /** of the guards that block it */
  readonly guards: readonly string[];
}

/** A digest covers no guards, so they are compared by themselves. @returns clauses */
function unseenGuards({ guards }: Plan, shown: readonly ShownInPull[]): string[] {
  const seen = new Set(shown.flatMap((one) => one.guards));
  return guards
    .filter((guard) => guardKeys([guard]).some((key) => !seen.has(key)))
    .map(({ id, message }) => `none of them shows the guard ${quoted(id)}: ${message}`);
}

/** The plan that the comment of a pull request shows. @returns a clause where there is none */
async function shownPlan(
  pullRequest: PullRequest,
  plan: Plan,
  { pullRequests, accounts }: { readonly pullRequests: PullRequests } & Pick<CodeHostSession, 'accounts'>,
): Promise<ShownInPull | string> {
  const { stack } = plan;
  const found = await findPlanComment({ pullRequests, pullRequest, stack, accounts });
  const name = `pull request ${pullRequest.number}`;
  if (found.is === 'missing') return `${name}: ${found.why}`;
  const { digest, body } = found.comment;
  const guards = readState(body)?.shown.guards ?? [];
  const carried = readCarriedPlan(body, stack);
  if (carried?.digest === digest) return { plan: carried, guards };
  // Without the content, only the very same plan can be recognized.
  if (digest === plan.digest) return { plan, guards };
  return `${name}: its comment does not hold the content of the plan ${quoted(digest)}`;
}
