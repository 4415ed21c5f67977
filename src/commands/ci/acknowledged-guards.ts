/** Who acknowledged the guards of a plan, and why labels, signatures and settings do not count for that. */
import type { CommitRange } from '../../ledger/git/commits-since.ts';
import type { Approval, RefusedApproval } from '../../model/approval.ts';
import { isShownIn, policyKeys } from '../../approvals/guard-keys.ts';
import { formatAddress } from '../../model/address.ts';
import type { DigestedChange } from '../../model/change.ts';
import {
  type Guard,
  type GuardId,
  isResourceGuard,
  type LoosenedSetting,
  policyOf,
} from '../../model/guard.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import { commitBefore, type MergedBranch, type MergedPull } from './count-approvals.ts';

/** The guards that labels of a pull request acknowledge, for the plan that was shown on its head. */
export interface LabelledGuards {
  readonly pullRequest: number;
  /** head of the pull request */
  readonly commit: string;
  readonly digest: string;
  readonly guards: readonly GuardId[];
  /** what the guards of that plan said, as keys (`guardKeys`) */
  readonly shown?: readonly string[];
  /** who set the labels of these guards */
  readonly people?: readonly { readonly guard: GuardId; readonly by: string }[];
  /** names of all labels of the pull request that acknowledge guards */
  readonly set: readonly string[];
  /** why other labels do not count, as clauses */
  readonly refused: readonly string[];
}

type ReadLabels = (pull: MergedPull) => Promise<LabelledGuards | undefined>;

/** The acknowledgements by labels of each pull request. Each has the digest of its plan, because it counts only if that plan is applied. */
export async function labelsOf(
  pulls: readonly MergedPull[],
  read: ReadLabels | undefined,
): Promise<readonly LabelledGuards[]> {
  const all: LabelledGuards[] = [];
  if (read !== undefined)
    for (const pull of pulls) all.push(...[await read(pull)].flatMap((one) => one ?? []));
  return all;
}

/** Clauses about labels that do not count, for a stack that accepts only signatures. A failure of the code host stops nothing here. */
export async function ignoredLabels(
  pulls: readonly MergedPull[],
  read: ReadLabels | undefined,
): Promise<string[]> {
  const labels = await labelsOf(pulls, read).catch(() => []);
  return labels.flatMap(({ set, pullRequest }) =>
    set.map(
      (label) =>
        `the label ${quoted(label)} of pull request ${pullRequest}: the stack accepts only signatures`,
    ),
  );
}

/** Reports a signature that approves the plan, but does not acknowledge its guards. @returns at most one element */
export function signaturesWithoutAck(
  { method, by, pullRequest, acknowledged }: Approval,
  guards: readonly GuardId[],
): RefusedApproval[] {
  const open = guards.filter((id) => !acknowledged.includes(id));
  if (method !== 'signature' || open.length === 0) return [];
  const why = `it approves the plan, and does not acknowledge ${open.join(', ')}`;
  return [{ method, by, ...(pullRequest === undefined ? {} : { pullRequest }), why }];
}

/** One clause for each guard and person. */
export function whoAcknowledged(
  guards: readonly GuardId[],
  {
    approvals,
    labels,
  }: { readonly approvals: readonly Approval[]; readonly labels: readonly LabelledGuards[] },
): string[] {
  return guards.flatMap((id) => [
    ...approvals
      .filter(({ acknowledged }) => acknowledged.includes(id))
      .map(({ by, method }) => `${id} acknowledged by ${quoted(by)} (${method})`),
    ...labels.flatMap(({ people = [], pullRequest }) =>
      people
        .filter(({ guard }) => guard === id)
        .map(({ by }) => `${id} acknowledged by ${quoted(by)} (label, pull request ${pullRequest})`),
    ),
  ]);
}

/** The approved plans that are applied together. */
interface AppliedPlans {
  readonly digests: readonly string[];
  /** the changes of a plan; empty if its content is not known */
  changesOf(digest: string): readonly DigestedChange[];
}

/**
 * The acknowledged guards that a change trips which was not shown with an acknowledgement, each with a clause about it: of several pull
 * requests that are applied together, each may trip the guard.
 */
export function unshownChanges(
  { guards, changes }: Pick<Plan, 'guards' | 'changes'>,
  acknowledgements: readonly (Approval | LabelledGuards)[],
  { digests, changesOf }: AppliedPlans,
): ReadonlyMap<GuardId, string> {
  const unshown = new Map<GuardId, string>();
  for (const [id, each] of Map.groupBy(guards.filter(isResourceGuard), (guard) => guard.id)) {
    const acknowledged = new Set(
      acknowledgements.flatMap((one) => (idsOf(one).includes(id) ? [one.digest] : [])),
    );
    const isShown = (change: DigestedChange) => {
      const plans = [...new Set([...digests, ...acknowledged])].flatMap((digest) => {
        const approved = changesOf(digest).find((one) => isSameAddress(one, change));
        return approved === undefined ? [] : [{ approved, isAcknowledged: acknowledged.has(digest) }];
      });
      const withRisks = plans.some((plan) => plan.isAcknowledged && hasRisksOf(plan.approved, change));
      // A change that is partly done may have other risks than the approved one.
      return withRisks || (plans.length > 0 && plans.every((plan) => plan.isAcknowledged));
    };
    const concerned = new Set(
      each.flatMap(({ concerns }) => concerns.map(({ address }) => formatAddress(address))),
    );
    const addresses = changes
      .filter((change) => concerned.has(formatAddress(change.address)) && !isShown(change))
      .map(({ address }) => formatAddress(address));
    if (acknowledged.size > 0 && addresses.length > 0)
      unshown.set(id, unshownClause(id, ` of ${quoteSome(addresses)}`));
  }
  return unshown;
}

function isSameAddress(one: DigestedChange, other: DigestedChange): boolean {
  return formatAddress(one.address) === formatAddress(other.address);
}

/** Whether a change of an approved plan has all risks of a fresh change, except those that narrow access. */
function hasRisksOf(approved: DigestedChange, { risks = [] }: DigestedChange): boolean {
  const shown = new Set((approved.risks ?? []).map(({ message }) => message));
  return risks.every(({ effect, message }) => effect === 'narrows' || shown.has(message));
}

function unshownClause(id: GuardId, about: string): string {
  return `no plan for which ${id} was acknowledged showed what it says now${about}: acknowledge the plan of this commit, or open another pull request and let its plan be acknowledged`;
}

function idsOf(one: Approval | LabelledGuards): readonly GuardId[] {
  return 'guards' in one ? one.guards : one.acknowledged;
}

/** The acknowledged policies that now report something that no plan showed when they were acknowledged, each with a clause about it. */
export function unshownPolicies(
  guards: readonly Guard[],
  acknowledgements: readonly (Approval | LabelledGuards)[],
): ReadonlyMap<GuardId, string> {
  const unshown = new Map<GuardId, string>();
  for (const id of new Set(acknowledgements.flatMap(idsOf))) {
    const shown = new Set(
      acknowledgements.filter((one) => idsOf(one).includes(id)).flatMap((one) => one.shown ?? []),
    );
    if (policyOf(id) === undefined || isShownIn(shown, guards, id)) continue;
    const newAddresses = guards
      .filter((guard) => guard.id === id)
      .flatMap((guard) => guard.concerns.map((concern) => ({ ...guard, concerns: [concern] })))
      .filter((guard) => policyKeys([guard], [id]).some((key) => !shown.has(key)))
      .flatMap(({ concerns }) => concerns.map(({ address }) => formatAddress(address)));
    const about = newAddresses.length === 0 ? '' : ` of ${quoteSome([...new Set(newAddresses)])}`;
    unshown.set(id, unshownClause(id, about));
  }
  return unshown;
}

interface SettingsInput {
  /** the settings that are looser than at the last apply */
  readonly loosened?: readonly LoosenedSetting[] | undefined;
  /** The loosened settings that the plan of a merged branch showed. @throws LedgerError */
  readonly shownBy?: (branch: MergedBranch) => Promise<readonly LoosenedSetting[]>;
  /** the commit that is applied */
  readonly head: string;
  readonly range: CommitRange;
}

/**
 * Clauses for the loosened settings that no acknowledged plan showed: the plan of a pull request shows only what that pull request
 * loosens, not what was merged meanwhile. Several pull requests may have loosened a setting one after another, so it counts as shown if
 * the shown steps lead from its value before to the one after.
 */
export async function unshownSettings(
  acknowledgements: readonly (Approval | LabelledGuards)[],
  pulls: readonly MergedPull[],
  { loosened = [], shownBy, head, range }: SettingsInput,
): Promise<string[]> {
  const acknowledged = acknowledgements.filter((one) => idsOf(one).includes('loosened'));
  if (shownBy === undefined || acknowledged.some(({ commit }) => commit === head)) return [];
  const shown: LoosenedSetting[] = [];
  for (const { commit, pullRequest } of acknowledged) {
    const before = commitBefore(commit, pullRequest, { pulls, range });
    if (before !== undefined) shown.push(...(await shownBy({ commit, before })));
  }
  const isShown = ({ name, ...setting }: LoosenedSetting) => {
    // `before` and `after` may show only what differs, so the whole values are compared.
    const steps = shown.filter((step) => step.name === name).map(({ whole, ...step }) => whole ?? step);
    const { before, after } = setting.whole ?? setting;
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
