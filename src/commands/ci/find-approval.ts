/**
 * Decides whether a fresh plan was approved: reads the approvals of what was merged since the last apply, and compares what was
 * approved with the plan. A source that cannot be read in full throws, so that nothing is applied.
 */
import type { Approval, ApprovalMethod, ApprovalRules, RefusedApproval } from '../../model/approval.ts';
import { approvalMethods } from '../../model/approval.ts';
import type { CommitRange } from '../../ledger/git/commits-since.ts';
import { blockingIds, type GuardId, type LoosenedSetting } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { Ledger } from '../../model/ledger.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { checkApprovedPlans, planContent, proveContent, type ProvedPlan } from '../../plan/approved-plans.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { quoted } from '../../model/quoted.ts';
import { digestVersion } from '../../plan/digest.ts';
import {
  type CountQuestion,
  type GivenPlan,
  givenPlans,
  type MergedBranch,
  type MergedPull,
  plansOfEnough,
} from './count-approvals.ts';

/** The guards that labels of a pull request acknowledge, for the plan that was shown on its head. */
export interface LabelledGuards {
  readonly pullRequest: number;
  /** its head */
  readonly commit: string;
  readonly digest: string;
  readonly guards: readonly GuardId[];
  /** why other labels do not count, as clauses */
  readonly refused: readonly string[];
}

/** Where approvals come from. A function that is absent is a source that this run does not have. */
export interface ApprovalSources {
  /** the pull requests that brought the commits of the stack, in the order of the merges */
  readonly pulls?: (() => Promise<readonly MergedPull[]>) | undefined;
  /** approvals that name one of these commits */
  readonly signatures?: ((pulls: readonly MergedPull[]) => Promise<Found>) | undefined;
  readonly reviews?: ((pull: MergedPull) => Promise<Found>) | undefined;
  readonly labels?: ((pull: MergedPull) => Promise<LabelledGuards | undefined>) | undefined;
  /** of the environment that this run waited for */
  readonly environment?: (() => Promise<Found>) | undefined;
}

export interface Found {
  readonly approvals: readonly Approval[];
  readonly refused: readonly RefusedApproval[];
  /** what may be the content of the approved plans, by digest; anybody may have written it */
  readonly contents?: ReadonlyMap<string, Json> | undefined;
}

export interface ApprovalQuestion extends CountQuestion {
  readonly planning: PlanResult;
  readonly ledger: Pick<Ledger, 'approved' | 'endedApprovals'>;
  readonly sources: ApprovalSources;
  /** the settings that are looser than at the last apply */
  readonly loosened?: readonly LoosenedSetting[] | undefined;
  /** Those that the plan of a merged branch showed. @throws LedgerError */
  readonly shownBy?: (branch: MergedBranch) => Promise<readonly LoosenedSetting[]>;
}

export type ApprovalAnswer =
  | {
      readonly is: 'approved';
      /** who; empty if none was needed */
      readonly approvals: readonly Approval[];
      /** the approved plans that the fresh one is made of */
      readonly digests: readonly string[];
      readonly pulls: readonly MergedPull[];
    }
  | {
      /** approved, or not in need of it, and a guard is not acknowledged */
      readonly is: 'blocked';
      readonly guards: readonly GuardId[];
      /** why labels do not count, as clauses */
      readonly labels: readonly string[];
      readonly refused: readonly RefusedApproval[];
      readonly pulls: readonly MergedPull[];
    }
  | {
      readonly is: 'not-approved';
      /** clauses */
      readonly reasons: readonly string[];
      readonly difference?: PlanDifference;
      readonly refused: readonly RefusedApproval[];
      readonly pulls: readonly MergedPull[];
    };

/** @throws what a source throws that cannot be read */
export async function findApproval(question: ApprovalQuestion): Promise<ApprovalAnswer> {
  const { planning, sources, rules } = question;
  const { plan } = planning;
  const isFree = plan.changes.length === 0 || needsNone(rules);
  if (isFree && blockingIds(plan.guards).length === 0)
    return { is: 'approved', approvals: [], digests: [], pulls: await pullsToTell(question) };
  const pulls = (await sources.pulls?.()) ?? [];
  const found = await readAll(pulls, question);
  const given = givenPlans(plan.digest, found.approvals, pulls, question);
  const about = { pulls, refused: [...found.refused, ...given.refused] };
  const decided = isFree ? { used: given.plans } : decide(given.plans, found, question);
  if ('reasons' in decided) return { is: 'not-approved', ...decided, ...about };
  const { used } = decided;
  const labels = admitsLabels(rules) ? await labelsOf(pulls, sources) : [];
  const approved = new Set([plan.digest, ...used.map(({ digest }) => digest)]);
  const approvals = used.flatMap((one) => one.approvals).map(({ parts: _, ...one }) => one);
  const acknowledged = new Set([
    ...approvals.flatMap((one) => one.acknowledged),
    ...labels.flatMap(({ digest, guards }) => (approved.has(digest) ? guards : [])),
  ]);
  const loosening = [...given.plans.flatMap((one) => one.approvals), ...labels].filter(acknowledgesLoosened);
  const unshown = acknowledged.has('loosened') ? await unshownSettings(loosening, pulls, question) : [];
  const guards = blockingIds(plan.guards).filter(
    (id) => !acknowledged.has(id) || (id === 'loosened' && unshown.length > 0),
  );
  if (guards.length > 0)
    return {
      ...{ is: 'blocked', guards, ...about },
      labels: [...labels.flatMap(({ refused }) => refused), ...unshown],
    };
  return { is: 'approved', approvals, digests: used.map(({ digest }) => digest), pulls };
}

function acknowledgesLoosened(
  one: { readonly acknowledged: readonly GuardId[] } | { readonly guards: readonly GuardId[] },
): boolean {
  return ('guards' in one ? one.guards : one.acknowledged).includes('loosened');
}

/**
 * Clauses for the loosened settings that no acknowledged plan showed: that of a pull request shows what this one loosens, and not what
 * was merged past it. Several may have loosened a setting one after the other.
 */
async function unshownSettings(
  acknowledged: readonly { readonly commit: string; readonly pullRequest?: number | undefined }[],
  pulls: readonly MergedPull[],
  { loosened = [], shownBy, head, range }: ApprovalQuestion,
): Promise<string[]> {
  if (shownBy === undefined || acknowledged.some(({ commit }) => commit === head)) return [];
  const shown: LoosenedSetting[] = [];
  for (const { commit, pullRequest } of acknowledged) {
    const before = commitBefore(commit, pullRequest, { pulls, range });
    if (before !== undefined) shown.push(...(await shownBy({ commit, before })));
  }
  const isShown = ({ name, before, after }: LoosenedSetting) => {
    const steps = shown.filter((step) => step.name === name);
    const known = new Set([before]);
    for (const _ of steps) for (const step of steps) if (known.has(step.before)) known.add(step.after);
    return steps.length > 0 && known.has(after);
  };
  return loosened
    .filter((setting) => !isShown(setting))
    .map(
      ({ name, before, after }) =>
        `no acknowledged plan showed that ${name} is loosened from ${before} to ${after}`,
    );
}

/** The commit of the protected branch before a branch was merged; undefined where that is not known. */
function commitBefore(
  commit: string | undefined,
  pullRequest: number | undefined,
  { pulls, range }: { readonly pulls: readonly MergedPull[]; readonly range: CommitRange },
): string | undefined {
  const merged = (
    pulls.find(({ number }) => number === pullRequest) ?? range.all.find(({ id }) => id === commit)
  )?.merged;
  return merged === undefined ? undefined : (range.line[merged - 1]?.id ?? range.base);
}

/** Whether a plan of this stack needs no approval. */
export function needsNone({ accept }: ApprovalRules): boolean {
  return accept?.includes('none') === true;
}

/** The methods that count. */
export function acceptedMethods({ accept = approvalMethods }: ApprovalRules): readonly ApprovalMethod[] {
  return accept.filter((method) => method !== 'none');
}

/** Whether labels acknowledge guards: not where the stack believes nothing but signatures. */
export function admitsLabels({ accept }: ApprovalRules): boolean {
  return accept?.every((method) => method === 'signature') !== true;
}

/**
 * The code host is not needed for a plan that needs no approval, so its failure does not stop that. An empty plan is told only where it
 * ends an apply that was cut short.
 */
async function pullsToTell({ sources, planning, ledger }: ApprovalQuestion): Promise<readonly MergedPull[]> {
  if (planning.plan.changes.length === 0 && ledger.approved === undefined) return [];
  return (await sources.pulls?.().catch(() => [])) ?? [];
}

/** A commit at which enough people approved a plan, whichever that is. */
export interface ApprovedCommit {
  readonly commit: string;
  readonly digest: string;
  /** of the protected branch, before it was merged; undefined for the commit that is applied, and where there is none */
  readonly before: string | undefined;
  /** what may be the content of the plan; anybody may have written it */
  readonly contents: readonly Json[];
}

/** What was approved of all that is applied, as far as it can be said before there is a plan. @throws as above */
export async function approvedCommits(
  question: Omit<ApprovalQuestion, 'planning'>,
): Promise<{ readonly commits: readonly ApprovedCommit[]; readonly refused: readonly RefusedApproval[] }> {
  const { sources, range } = question;
  const pulls = (await sources.pulls?.()) ?? [];
  const found = await readAll(pulls, question);
  const { plans, refused } = plansOfEnough(found.approvals, pulls, question);
  const commits = plans.flatMap(({ digest, approvals }) => {
    const [commit, ...others] = new Set(approvals.map((approval) => approval.commit));
    const number = approvals.find(({ pullRequest }) => pullRequest !== undefined)?.pullRequest;
    const before = commitBefore(commit, number, { pulls, range });
    // Of several commits, none has as many approvals as are needed.
    return commit === undefined || others.length > 0
      ? []
      : [{ commit, digest, before, contents: found.contents.get(digest) ?? [] }];
  });
  return { commits, refused: [...found.refused, ...refused] };
}

async function readAll(
  pulls: readonly MergedPull[],
  { sources, rules }: Pick<ApprovalQuestion, 'sources' | 'rules'>,
): Promise<Omit<Found, 'contents'> & { readonly contents: ReadonlyMap<string, readonly Json[]> }> {
  const methods = acceptedMethods(rules);
  const all: Found[] = [];
  if (methods.includes('signature') && sources.signatures) all.push(await sources.signatures(pulls));
  if (methods.includes('review') && sources.reviews)
    for (const pull of pulls) all.push(await sources.reviews(pull));
  if (methods.includes('environment') && sources.environment) all.push(await sources.environment());
  const contents = all.flatMap((found) => [...(found.contents ?? [])]);
  return {
    approvals: all.flatMap((found) => found.approvals).filter(({ method }) => methods.includes(method)),
    refused: all.flatMap((found) => found.refused),
    contents: new Map(
      [...Map.groupBy(contents, ([digest]) => digest)].map(([digest, each]) => [
        digest,
        each.map(([, content]) => content),
      ]),
    ),
  };
}

type Decided =
  | { readonly used: readonly GivenPlan[] }
  | { readonly reasons: readonly string[]; readonly difference?: PlanDifference };

function decide(
  plans: readonly GivenPlan[],
  { contents }: { readonly contents: ReadonlyMap<string, readonly Json[]> },
  { planning, ledger }: ApprovalQuestion,
): Decided {
  const { plan } = planning;
  const last = plans.at(-1);
  if (last === undefined) return { reasons: ['no valid approval was found'] };
  if (last.digest === plan.digest) return { used: [last] };
  const proved = plans.map((one) => ({
    one,
    content: proveFirst(one.digest, plan, [
      ...keptContents(plan, ledger),
      ...(contents.get(one.digest) ?? []),
    ]),
  }));
  const unknown = proved.filter(({ content }) => content === undefined).map(({ one }) => one.digest);
  if (unknown.length > 0)
    return {
      reasons: unknown.map(
        (digest) =>
          `the approved plan ${quoted(digest)} is not this one, and its content is not known, so it cannot be compared`,
      ),
    };
  const verdict = checkApprovedPlans(
    planning,
    proved.flatMap(({ content }) => content ?? []),
  );
  switch (verdict.is) {
    case 'equal':
    case 'subset':
      return { used: plans };
    case 'elsewhere':
      return { reasons: ['what was approved was planned for other targets than the stack has now'] };
    case 'differs':
      return {
        reasons: ['the plan is not what was approved, nor what is left of it'],
        difference: verdict.difference,
      };
  }
}

function proveFirst(digest: string, { stack }: Plan, contents: readonly Json[]): ProvedPlan | undefined {
  for (const content of contents) {
    const proved = proveContent(content, { stack, digest });
    if (proved !== undefined) return proved;
  }
  return undefined;
}

/** The plan of an apply that has begun is in the ledger. */
function keptContents(plan: Plan, { approved }: Pick<Ledger, 'approved'>): readonly Json[] {
  if (approved?.version !== digestVersion) return [];
  return [JSON.parse(JSON.stringify({ ...planContent(plan), items: approved.atoms }))];
}

/** Only an acknowledgement for a plan that is applied counts, so each has the digest of its plan. */
async function labelsOf(
  pulls: readonly MergedPull[],
  { labels }: ApprovalSources,
): Promise<readonly LabelledGuards[]> {
  const all: LabelledGuards[] = [];
  if (labels !== undefined)
    for (const pull of pulls) all.push(...[await labels(pull)].flatMap((one) => one ?? []));
  return all;
}
