/**
 * Counts approvals: which plans have enough of them. An approval counts only once and for a commit that is applied, and not if the
 * person who gave it made another part of the apply that has no approval.
 */
import type { CommitRange } from '../../ledger/git/commits-since.ts';
import {
  type Approval,
  type ApprovalRules,
  directPushes,
  type RefusedApproval,
} from '../../model/approval.ts';
import type { Ledger } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';

/** A pull request that was merged into the protected branch. */
export interface MergedPull {
  readonly number: number;
  /** its last commit before the merge */
  readonly head: string;
  /** index in the line of the commit that merged it, or of the first of several such commits */
  readonly merged: number;
}

/** A merged branch. */
export interface MergedBranch {
  /** its last commit */
  readonly commit: string;
  /** the commit of the protected branch before the merge */
  readonly before: string;
}

export interface CountQuestion {
  /** the stricter of the rules of the last apply and of now */
  readonly rules: ApprovalRules;
  readonly range: CommitRange;
  /** the commit that is applied */
  readonly head: string;
  readonly ledger: Pick<Ledger, 'endedApprovals'>;
}

/** A plan that enough people have approved. */
export interface PlanWithApprovals {
  readonly digest: string;
  /** its position in the order of the merges */
  readonly order: number;
  readonly approvals: readonly Approval[];
  /** time of its newest approval, in milliseconds since 1970 */
  readonly at: number;
}

interface GivenPlans {
  readonly plans: readonly PlanWithApprovals[];
  readonly refused: readonly RefusedApproval[];
}

/** One plan for each pull request: the fresh one if it was approved, else the newest approved one. @param fresh digest of the fresh plan */
export function onePlanPerPull(
  fresh: string,
  approvals: readonly Approval[],
  pulls: readonly MergedPull[],
  question: CountQuestion,
): GivenPlans {
  const enough = plansWithEnoughApprovals(approvals, pulls, question);
  const isFresh = ({ digest }: PlanWithApprovals) => digest === fresh;
  const plans = [...Map.groupBy(enough.plans, ({ order }) => order).values()].flatMap(
    (each) => each.toSorted((a, b) => Number(isFresh(b)) - Number(isFresh(a)) || b.at - a.at)[0] ?? [],
  );
  return { ...enough, plans: plans.toSorted((a, b) => (a.order < b.order ? -1 : 1)) };
}

/**
 * The plans with enough approvals. The plan of a pull request also shows earlier merges that are not applied yet, so an approval does
 * not count if the person made an earlier merge that has no approval. Without it, another merge may lack approvals, so this repeats.
 */
export function plansWithEnoughApprovals(
  approvals: readonly Approval[],
  pulls: readonly MergedPull[],
  question: CountQuestion,
): GivenPlans {
  const found = countPlans(approvals, pulls, question);
  if (question.rules.selfApprove === true) return found;
  const partsCoveredBy = ({ order, approvals: own }: PlanWithApprovals) => [
    order,
    ...own.flatMap((one) => pulls.findIndex(({ number }) => number === one.pullRequest)),
  ];
  const approvedParts = new Set(found.plans.flatMap(partsCoveredBy).filter((part) => part !== directPushes));
  const unapprovedPartOf = new Map<Approval, number>();
  for (const approval of found.plans.flatMap((plan) => plan.approvals))
    for (const part of approval.parts ?? [])
      if (!approvedParts.has(part)) unapprovedPartOf.set(approval, part);
  if (unapprovedPartOf.size === 0) return found;
  const rest = plansWithEnoughApprovals(
    approvals.filter((one) => !unapprovedPartOf.has(one)),
    pulls,
    question,
  );
  const refused = [...unapprovedPartOf].map(([approval, part]) => ({
    ...approval,
    why: whyPart(approval, pulls[part]),
  }));
  return { ...rest, refused: [...refused, ...rest.refused] };
}

function whyPart({ by }: Approval, pull: MergedPull | undefined): string {
  const what =
    pull === undefined
      ? 'commits that came without a pull request of their own'
      : `pull request ${pull.number}`;
  return `${quoted(by)} may have made ${what}, which is applied with this one, and which has not enough approvals; ask a person who made none of it to approve, or apply once by hand with "trueup apply"`;
}

function countPlans(
  approvals: readonly Approval[],
  pulls: readonly MergedPull[],
  { rules, ledger, range, head }: CountQuestion,
): GivenPlans {
  const refused: RefusedApproval[] = [];
  const refuse = (approval: Approval, why: string, isOld = false) =>
    void refused.push({ ...approval, why: `${why}: plan ${quoted(approval.digest)}`, isOld });
  const orderOf = ({ method, commit, pullRequest }: Approval): number | undefined => {
    if (method === 'environment' || commit === head) return Number.POSITIVE_INFINITY;
    const at = pulls.findIndex(
      (pull) => pull.head === commit && (pullRequest ?? pull.number) === pull.number,
    );
    if (at !== -1) return at;
    return pulls.length > 0 ? undefined : range.all.find(({ id }) => id === commit)?.merged;
  };
  const placed = approvals.flatMap((approval) => {
    const ended = ledger.endedApprovals?.get(approval.digest);
    // An invalid time is not later than any other, so such an approval is refused.
    if (ended !== undefined && !(Date.parse(approval.at) > Date.parse(ended))) {
      refuse(approval, `it was applied already, at ${ended}`);
      return [];
    }
    const order = orderOf(approval);
    if (order === undefined) refuse(approval, 'its commit was not merged since the last apply', true);
    return order === undefined ? [] : [{ approval, order }];
  });
  const { count = 1 } = rules;
  const plans = [...Map.groupBy(placed, ({ approval, order }) => `${order} ${approval.digest}`).values()]
    .map((each): PlanWithApprovals => {
      const [{ order = 0 } = {}] = each;
      const own = each.map(({ approval }) => approval);
      return {
        digest: own[0]?.digest ?? '',
        order,
        approvals: own,
        at: Math.max(...own.map(({ at }) => Date.parse(at) || 0)),
      };
    })
    .filter((plan) => {
      const people = countPeople(plan.approvals);
      if (people >= count) return true;
      for (const approval of plan.approvals) refuse(approval, `${people} of ${count} people approved it`);
      return false;
    });
  return { plans, refused };
}

/** The number of different people, counted for each method separately, because a person has different names in different methods. */
function countPeople(approvals: readonly Approval[]): number {
  const byMethod = Map.groupBy(approvals, ({ method }) => method);
  return Math.max(
    0,
    ...[...byMethod.values()].map((each) => new Set(each.map(({ by }) => by.toLowerCase())).size),
  );
}

/** The commit of the protected branch before a branch was merged; undefined if it is not known. */
export function commitBefore(
  commit: string | undefined,
  pullRequest: number | undefined,
  { pulls, range }: { readonly pulls: readonly MergedPull[]; readonly range: CommitRange },
): string | undefined {
  const merged = (
    pulls.find(({ number }) => number === pullRequest) ?? range.all.find(({ id }) => id === commit)
  )?.merged;
  return merged === undefined ? undefined : (range.line[merged - 1]?.id ?? range.base);
}
