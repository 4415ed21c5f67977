/**
 * Decides whether a fresh plan was approved: reads the approvals of what was merged since the last apply, and compares the approved
 * plans with the fresh one. A source that cannot be read in full throws, so that nothing is applied.
 */
import { formatAddress } from '../../model/address.ts';
import type { Approval, ApprovalMethod, ApprovalRules, RefusedApproval } from '../../model/approval.ts';
import { approvalMethods } from '../../model/approval.ts';
import { blockingIds, type GuardId, type LoosenedSetting, openIds } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { Ledger } from '../../model/ledger.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { checkApprovedPlans, planContent, proveContent, type ProvedPlan } from '../../plan/approved-plans.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import { digestVersion } from '../../plan/digest.ts';
import {
  ignoredLabels,
  type LabelledGuards,
  labelsOf,
  unshownChanges,
  unshownPolicies,
  unshownSettings,
  whoAcknowledged,
  signaturesWithoutAck,
} from './acknowledged-guards.ts';
import {
  commitBefore,
  type CountQuestion,
  type PlanWithApprovals,
  onePlanPerPull,
  type MergedBranch,
  type MergedPull,
  plansWithEnoughApprovals,
} from './count-approvals.ts';

/** Where approvals come from. A missing function means that this run does not have the source. */
export interface ApprovalSources {
  /** the pull requests that brought the commits of the stack, in the order of the merges */
  readonly pulls?: (() => Promise<readonly MergedPull[]>) | undefined;
  /** signed approvals that name a commit of these pull requests, or of what is applied */
  readonly signatures?: ((pulls: readonly MergedPull[]) => Promise<Found>) | undefined;
  readonly reviews?: ((pull: MergedPull) => Promise<Found>) | undefined;
  readonly labels?: ((pull: MergedPull) => Promise<LabelledGuards | undefined>) | undefined;
  /** the plan in the comment of a pull request, in the form of `Found.contents` */
  readonly shown?: ((pull: MergedPull) => Promise<ReadonlyMap<string, Json>>) | undefined;
  /** approvals of the environment that this run waited for */
  readonly environment?: (() => Promise<Found>) | undefined;
}

export interface Found {
  readonly approvals: readonly Approval[];
  readonly refused: readonly RefusedApproval[];
  /** unverified contents of the approved plans, by digest; anybody may have written them */
  readonly contents?: ReadonlyMap<string, Json> | undefined;
}

export interface ApprovalQuestion extends CountQuestion {
  readonly planning: PlanResult;
  readonly ledger: Pick<Ledger, 'approved' | 'endedApprovals'>;
  readonly sources: ApprovalSources;
  /** the settings that are looser than at the last apply */
  readonly loosened?: readonly LoosenedSetting[] | undefined;
  /** The loosened settings that the plan of a merged branch showed. @throws LedgerError */
  readonly shownBy?: (branch: MergedBranch) => Promise<readonly LoosenedSetting[]>;
}

export type ApprovalAnswer =
  | {
      readonly is: 'approved';
      /** who approved; empty if no approval was needed */
      readonly approvals: readonly Approval[];
      /** who acknowledged the guards that block the plan, one clause each */
      readonly acknowledged: readonly string[];
      /** digests of the approved plans that the fresh plan consists of */
      readonly digests: readonly string[];
      readonly pulls: readonly MergedPull[];
    }
  | {
      /** the plan is approved, or needs no approval, but a guard is not acknowledged */
      readonly is: 'blocked';
      readonly guards: readonly GuardId[];
      /** why labels do not count, as clauses */
      readonly labels: readonly string[];
      readonly refused: readonly RefusedApproval[];
      readonly pulls: readonly MergedPull[];
    }
  | {
      readonly is: 'not-approved';
      /** why the plan is not approved, as clauses */
      readonly reasons: readonly string[];
      readonly difference?: PlanDifference;
      /** as above; empty if labels can count for this stack */
      readonly labels: readonly string[];
      readonly refused: readonly RefusedApproval[];
      readonly pulls: readonly MergedPull[];
    };

/** @throws the error of a source that cannot be read */
export async function findApproval(question: ApprovalQuestion): Promise<ApprovalAnswer> {
  const { planning, sources, rules } = question;
  const { plan } = planning;
  const needsNoApproval = plan.changes.length === 0 || needsNone(rules);
  if (needsNoApproval && blockingIds(plan.guards).length === 0)
    return {
      ...{ is: 'approved', approvals: [], acknowledged: [], digests: [] },
      pulls: await pullsToReport(question),
    };
  const pulls = (await sources.pulls?.()) ?? [];
  const found = await readAll(pulls, question);
  const given = onePlanPerPull(plan.digest, found.approvals, pulls, question);
  const about = { pulls, refused: [...found.refused, ...given.refused] };
  const contents = await allContents(given.plans, found.contents, { pulls, ...question });
  const ignored = async () =>
    admitsLabels(rules) || blockingIds(plan.guards).length === 0 ? [] : ignoredLabels(pulls, sources.labels);
  const decided = needsNoApproval
    ? { used: given.plans.filter((one) => coversNames(one, plan)) }
    : decide(given.plans, { contents }, question);
  if ('reasons' in decided) return { is: 'not-approved', ...decided, labels: await ignored(), ...about };
  const { used } = decided;
  const labels = admitsLabels(rules) ? await labelsOf(pulls, sources.labels) : [];
  const approved = new Set([plan.digest, ...used.map(({ digest }) => digest)]);
  const usedApprovals = used.flatMap((one) => one.approvals);
  const approvals = usedApprovals.map(({ parts: _, shown: __, ...one }) => one);
  const countedLabels = labels.filter(({ digest }) => approved.has(digest));
  const acknowledged = new Set([
    ...approvals.flatMap((one) => one.acknowledged),
    ...countedLabels.flatMap((one) => one.guards),
  ]);
  const allAcknowledgements = [...given.plans.flatMap((one) => one.approvals), ...labels];
  const unshown = acknowledged.has('loosened')
    ? await unshownSettings(allAcknowledgements, pulls, question)
    : [];
  const counted = [...usedApprovals, ...countedLabels];
  const changesOf = (digest: string) =>
    digest === plan.digest ? plan.changes : (proveKnown(digest, contents, question)?.changes ?? []);
  const unshownByGuard = new Map([
    ...unshownPolicies(plan.guards, counted),
    ...unshownChanges(plan, counted, { digests: used.map(({ digest }) => digest), changesOf }),
  ]);
  const isShown = (id: GuardId) => !unshownByGuard.has(id) && (id !== 'loosened' || unshown.length === 0);
  const guards = openIds(plan.guards, [...acknowledged].filter(isShown));
  if (guards.length > 0)
    return {
      ...{ is: 'blocked', guards, ...about },
      refused: [...about.refused, ...approvals.flatMap((one) => signaturesWithoutAck(one, guards))],
      labels: [
        ...labels.flatMap(({ refused }) => refused),
        ...(await ignored()),
        ...unshown,
        ...unshownByGuard.values(),
      ],
    };
  return {
    ...{ is: 'approved', approvals, pulls, digests: used.map(({ digest }) => digest) },
    acknowledged: whoAcknowledged(blockingIds(plan.guards), {
      approvals,
      labels: countedLabels,
    }),
  };
}

/** Whether an approved plan covers the changed names of a plan that needs no approval. As they are not compared, both must be the same. */
function coversNames({ digest }: PlanWithApprovals, plan: Plan): boolean {
  return plan.changedNames.length === 0 || digest === plan.digest;
}

/** Whether a plan of this stack needs no approval. */
export function needsNone({ accept }: ApprovalRules): boolean {
  return accept?.includes('none') === true;
}

/** The approval methods that count. */
export function acceptedMethods({ accept = approvalMethods }: ApprovalRules): readonly ApprovalMethod[] {
  return accept.filter((method) => method !== 'none');
}

/** Whether labels can acknowledge guards. They cannot if the stack accepts only signatures. */
export function admitsLabels({ accept }: ApprovalRules): boolean {
  return accept?.every((method) => method === 'signature') !== true;
}

/**
 * The pull requests that get a comment about a plan that needs no approval. A failure of the code host does not stop such a plan. An
 * empty plan is reported only if it ends an interrupted apply.
 */
async function pullsToReport({
  sources,
  planning,
  ledger,
}: ApprovalQuestion): Promise<readonly MergedPull[]> {
  if (planning.plan.changes.length === 0 && ledger.approved === undefined) return [];
  return (await sources.pulls?.().catch(() => [])) ?? [];
}

/** A commit for which enough people approved a plan, with any digest. */
export interface ApprovedCommit {
  readonly commit: string;
  readonly digest: string;
  /** the commit of the protected branch before the merge; undefined for the commit that is applied, and if it is not known */
  readonly before: string | undefined;
  /** unverified contents of the plan; anybody may have written them */
  readonly contents: readonly Json[];
}

/** The commits with enough approvals among those that are applied; needs no fresh plan. @throws the error of a source */
export async function approvedCommits(
  question: Omit<ApprovalQuestion, 'planning'>,
): Promise<{ readonly commits: readonly ApprovedCommit[]; readonly refused: readonly RefusedApproval[] }> {
  const { sources, range } = question;
  const pulls = (await sources.pulls?.()) ?? [];
  const found = await readAll(pulls, question);
  const { plans, refused } = plansWithEnoughApprovals(found.approvals, pulls, question);
  const commits = plans.flatMap(({ digest, approvals }) => {
    const [commit, ...others] = new Set(approvals.map((approval) => approval.commit));
    const number = approvals.find(({ pullRequest }) => pullRequest !== undefined)?.pullRequest;
    const before = commitBefore(commit, number, { pulls, range });
    // If the approvals are for several commits, no single commit has enough of them.
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

/** Adds missing contents from the comments of pull requests: a signature of only a digest has no content of its own. */
async function allContents(
  plans: readonly PlanWithApprovals[],
  known: ReadonlyMap<string, readonly Json[]>,
  {
    pulls,
    sources,
    planning: { plan },
  }: Pick<ApprovalQuestion, 'sources' | 'planning'> & { readonly pulls: readonly MergedPull[] },
): Promise<ReadonlyMap<string, readonly Json[]>> {
  const contents = new Map(known);
  if (plans.at(-1)?.digest === plan.digest) return contents;
  for (const { digest, approvals } of plans) {
    if (digest === plan.digest || contents.has(digest)) continue;
    const numbers = new Set(approvals.map(({ pullRequest }) => pullRequest));
    for (const pull of pulls.filter(({ number }) => numbers.has(number))) {
      const content = (await sources.shown?.(pull))?.get(digest);
      if (content !== undefined) contents.set(digest, [content]);
    }
  }
  return contents;
}

type Decided =
  | { readonly used: readonly PlanWithApprovals[] }
  | { readonly reasons: readonly string[]; readonly difference?: PlanDifference };

function decide(
  plans: readonly PlanWithApprovals[],
  { contents }: { readonly contents: ReadonlyMap<string, readonly Json[]> },
  { planning, ledger }: ApprovalQuestion,
): Decided {
  const { plan } = planning;
  const last = plans.at(-1);
  if (last === undefined) return { reasons: ['no valid approval was found'] };
  if (last.digest === plan.digest) return { used: [last] };
  const proved = plans.map((one) => ({
    one,
    content: proveKnown(one.digest, contents, { planning, ledger }),
  }));
  const unknown = proved.filter(({ content }) => content === undefined).map(({ one }) => one.digest);
  if (unknown.length > 0)
    return {
      reasons: unknown.map(
        (digest) =>
          `the approved plan ${quoted(digest)} is not this one, and its content is not known, so it cannot be compared; approve the plan file, whose content is kept`,
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
        reasons: [differsText(verdict.difference)],
        difference: verdict.difference,
      };
  }
}

function differsText({ changes }: PlanDifference): string {
  const why = 'the plan is not what was approved, nor what is left of it';
  const names = changes.map(({ address }) => formatAddress(address));
  return names.length === 0
    ? why
    : `${why}: ${quoteSome(names)} changed in the target or in the manifests after the approval`;
}

/** The content of an approved plan, if it is known. @param contents unverified contents, by digest */
function proveKnown(
  digest: string,
  contents: ReadonlyMap<string, readonly Json[]>,
  { planning: { plan }, ledger }: Pick<ApprovalQuestion, 'planning' | 'ledger'>,
): ProvedPlan | undefined {
  for (const content of [...keptContents(plan, ledger), ...(contents.get(digest) ?? [])]) {
    const proved = proveContent(content, { stack: plan.stack, digest });
    if (proved !== undefined) return proved;
  }
  return undefined;
}

/** The content that the ledger keeps of a plan whose apply has begun. */
function keptContents(plan: Plan, { approved }: Pick<Ledger, 'approved'>): readonly Json[] {
  if (approved?.version !== digestVersion) return [];
  return [JSON.parse(JSON.stringify({ ...planContent(plan), items: approved.atoms }))];
}
