/** Texts about a plan that is not applied, or not yet: why, which approvals do not count, and each way to approve it. */
import { approvalMethods, type ApprovalRules, type RefusedApproval } from '../../model/approval.ts';
import type { Plan } from '../../model/plan.ts';
import { acknowledgeableIds, blockingIds, deniedIds, type GuardId, policyOf } from '../../model/guard.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { CiEvent } from '../../run/ci/job.ts';
import { policyKeys } from '../../approvals/guard-keys.ts';
import { labelPrefix } from '../../approvals/labels.ts';
import { acknowledgement, deniedStep } from '../../report/view/plan-summary.ts';
import { firstFew, printable, shellWord } from '../../report/view/printable.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import type { UnapprovedPlaces } from './approved-places.ts';
import { acceptedMethods, admitsLabels, type ApprovalAnswer, needsNone } from './find-approval.ts';

type Refused = Exclude<ApprovalAnswer, { readonly is: 'approved' }>;

interface RefusalContext {
  readonly plan: Plan;
  readonly rules: ApprovalRules;
  /** the stack's argument on the command line */
  readonly stack: string | undefined;
  /** the remote that keeps signed approvals */
  readonly remote: string;
  /** the environment that this job waited for */
  readonly environment: string | undefined;
  /** why no code host can be read, as a clause; undefined if one can */
  readonly missing: string | undefined;
  /** the commit that is applied */
  readonly head: string;
  /** what applies the plan once it is approved: a clause that begins with `then` */
  readonly again: string;
}

/** How a plan is applied after its approval, as a clause. */
export function stepAfterApproval({ fleet }: Pick<CliHost, 'fleet'>): string {
  return fleet === undefined ? 'then run this job again' : 'then the fleet applies it after its next check';
}

interface Refusal {
  /** one clause */
  readonly why: string;
  /** approvals and labels that do not count, one clause each */
  readonly notCounted: readonly string[];
  /** what to do, one sentence each without a full stop */
  readonly ways: readonly string[];
}

export function describeRefusal(answer: Refused, context: RefusalContext): Refusal {
  const { plan, again, head: commit } = context;
  const notCounted = [...refusedTexts(answer.refused), ...answer.labels, ...missingText(context)];
  if (answer.is === 'not-approved')
    return {
      why: `the plan ${quoted(plan.digest)} of stack ${quoted(plan.stack)} is not approved: ${answer.reasons.join('; ')}`,
      notCounted,
      ways: waysToApprove(context, {
        signature: `sign it in an up-to-date clone of the protected branch: ${approveCommand({ ...context, commit })}; ${again}`,
        review:
          answer.difference === undefined
            ? `let another person approve the pull request in a review, if its comment shows this plan; ${again}. Otherwise ${newPull}`
            : newPull,
      }),
    };
  const { guards } = answer;
  if (deniedIds(plan.guards).length > 0)
    return {
      why: `a policy denies the plan ${quoted(plan.digest)} of stack ${quoted(plan.stack)}: ${firstFew(deniedIds(plan.guards), maxNames).join(', ')}`,
      notCounted: [],
      ways: [deniedStep(plan.guards)],
    };
  const which = guards.length === 1 ? 'this guard' : 'these guards';
  const ways = waysToAcknowledge(guards, which, context);
  return {
    why: `the plan ${quoted(plan.digest)} of stack ${quoted(plan.stack)} has guards that are not acknowledged: ${firstFew(guards, maxNames).join(', ')}`,
    notCounted,
    ways: ways.length > 0 ? ways : [wayByHand(which, context)],
  };
}

function waysToAcknowledge(guards: readonly GuardId[], which: string, context: RefusalContext): string[] {
  const { missing, again, head: commit } = context;
  return [
    ...(missing === undefined && admitsLabels(context.rules)
      ? [
          `let ${otherPerson(context.rules)} read ${which}, and set ${labelsOf(guards)} on the pull request whose comment shows this plan (first remove a label that is already set); ${again}`,
        ]
      : []),
    ...(acceptedMethods(context.rules).includes('signature') && hasSigners(context.rules)
      ? [
          `sign the plan in an up-to-date clone of the protected branch, with ${which} acknowledged: ${approveCommand({ ...context, commit })}; ${again}`,
        ]
      : []),
  ];
}

/** The way to acknowledge guards by a manual apply, if neither labels nor signatures can, as in a stack that needs no approval. */
function wayByHand(which: string, { plan, stack }: Pick<RefusalContext, 'plan' | 'stack'>): string {
  const command = acknowledgement(plan, stack) ?? '';
  return `read the plan, and apply it in an up-to-date clone of the protected branch with ${which} acknowledged: ${quoted(command)}`;
}

/** The comment of a merged pull request does not change: only a new pull request shows the current plan. */
const newPull =
  'open a pull request that changes any file of the stack, such as a comment in a manifest: its comment shows the plan as it is now; let another person approve it in a review, and merge it';

function otherPerson({ selfAck }: ApprovalRules): string {
  return selfAck === true ? 'a person with write permission' : 'a person other than its authors';
}

/** The refusal if a token would go to another place than at the last apply, and no approval covers that. */
export function describeNewPlaces(
  { names, refused, unread }: UnapprovedPlaces,
  {
    isFirst,
    ...context
  }: Pick<RefusalContext, 'again' | 'rules' | 'environment' | 'missing'> & { readonly isFirst: boolean },
): Refusal {
  const what = isFirst
    ? 'the stack was never applied, so where its secrets go needs an approval'
    : `${names.join(', ')}: where secrets go changed since the last apply, which needs an approval`;
  return {
    why: `${what}, and no valid approval was found for a commit with the same places`,
    notCounted: [...refusedTexts(refused), ...unread, ...missingText(context)],
    ways: waysToApprove(context, {
      signature: `sign the plan of this commit: make it with "trueup plan --out plan.json" and a token that may only read, and pass it to "trueup approve"; ${context.again}`,
      review: `let another person approve the pull request that brought it, later than the comment with its plan; ${context.again}. If it has no such comment, revert the change, and make it again in a new pull request`,
    }),
  };
}

/** @param first the beginning of the message */
export function notApproved(
  first: string,
  { notCounted, ways }: Pick<Refusal, 'notCounted' | 'ways'>,
  isBlocked = false,
): CommandStop {
  const message = [
    first,
    ...notCounted.map((line) => `  not counted: ${printable(line)}`),
    ...ways.map((way) => `  to do: ${printable(way)}`),
  ].join('\n');
  return new CommandStop(isBlocked ? 'guards-block' : 'not-approved', message, {
    exit: isBlocked ? exitCodes.blocked : exitCodes.stale,
  });
}

function missingText({ missing }: Pick<RefusalContext, 'missing'>): string[] {
  return missing === undefined ? [] : [`reviews, labels and environments: ${missing}`];
}

/** Clauses. Signatures for earlier commits stay in the repository, so several of them are only counted. */
function refusedTexts(refused: readonly RefusedApproval[]): string[] {
  const old = refused.filter(({ isOld }) => isOld === true);
  return [
    ...refused.filter((one) => !old.includes(one)).map(refusedText),
    ...(old.length > 1
      ? [`${old.length} signatures for other commits, such as those of earlier applies`]
      : old.map(refusedText)),
  ];
}

function refusedText({ method, by, pullRequest, why }: RefusedApproval): string {
  const where = pullRequest === undefined ? '' : ` in pull request ${pullRequest}`;
  return `${method}${by === undefined ? '' : ` by ${quoted(by)}`}${where}: ${why}`;
}

function waysToApprove(
  { rules, environment, missing }: Pick<RefusalContext, 'rules' | 'environment' | 'missing'>,
  texts: { readonly signature: string; readonly review: string },
): string[] {
  const methods = acceptedMethods(rules);
  const { count = 1 } = rules;
  const people = count === 1 ? '' : ` (${count} people are needed)`;
  const ways = {
    ...texts,
    environment:
      environment === undefined
        ? 'let a job wait for an environment with required reviewers: "trueup ci apply --record" in the job before, then "trueup ci apply --digest … --environment …"'
        : `start a new run, and approve it for environment ${quoted(environment)} once its plan is shown`,
  };
  if (methods.length === 0)
    return [
      'no method of "spec.approvals" counts both at the last apply and now: apply once by hand with "trueup apply"',
    ];
  const needsHost = missing !== undefined && methods.some((method) => method !== 'signature');
  const usable = methods
    .filter((method) => (method === 'signature' ? hasSigners(rules) : missing === undefined))
    .filter((method) => method !== 'environment' || environment !== undefined || !acceptsAll(rules));
  if (usable.length === 0 && !needsHost) return ['name signers in "from" of "spec.approvals"'];
  return [
    ...(needsHost ? [`give access to the code host, and try again: ${missing}`] : []),
    ...usable.map((method) => `${ways[method]}${people}`),
  ];
}

/** Whether all methods count, as without a choice in the stack file: then nothing shows that a job waits for an environment. */
function acceptsAll(rules: ApprovalRules): boolean {
  return acceptedMethods(rules).length === approvalMethods.length;
}

/** Without signers no signature counts. */
function hasSigners({ from = [] }: ApprovalRules): boolean {
  return from.some((one) => 'signers' in one);
}

/** The command that approves the plan of the given commit, also if another one is checked out, and acknowledges all its blocking guards. */
function approveCommand({
  plan,
  stack,
  commit,
  remote = 'origin',
}: Pick<RefusalContext, 'plan' | 'stack'> & {
  readonly commit: string | undefined;
  readonly remote?: string;
}): string {
  const ids = acknowledgeableIds(plan.guards);
  // The digest does not cover what a policy reports, so a key of the report is added.
  const guards = [...ids.filter((id) => policyOf(id) === undefined), ...policyKeys(plan.guards, ids)];
  const ack = guards.length === 0 ? [] : ['--ack', guards.join(',')];
  const head = commit === undefined ? [] : ['--commit', commit];
  const at = remote === 'origin' ? [] : ['--remote', shellWord(remote)];
  const path = stack === undefined ? [] : [stack];
  return quoted(['trueup approve', plan.digest, ...path, ...head, ...ack, ...at].join(' '));
}

interface ShownContext extends Pick<RefusalContext, 'rules' | 'stack'> {
  readonly event: CiEvent;
  /** the rules of the pull request, before the stricter rules of the base branch replace them */
  readonly proposed?: ApprovalRules | undefined;
}

/**
 * The next steps after a plan job, as sentences.
 * @returns undefined if the plan itself shows them: with problems, with nothing to approve, and outside of a CI job
 */
export function stepsAfterPlan(plan: Plan, context: ShownContext): string[] | undefined {
  const { event } = context;
  const guards = blockingIds(plan.guards);
  const isEmpty = plan.changes.length === 0;
  if (hasErrors(plan.problems) || (isEmpty && guards.length === 0) || event === 'other') return undefined;
  if (deniedIds(plan.guards).length > 0) return [deniedStep(plan.guards)];
  const applies =
    'the job on the protected branch plans again, and applies this plan if it is still the same';
  if (event === 'merge-group')
    return [`The pull requests of this group have shown this plan. After the merge, ${applies}.`];
  return [
    ...(isEmpty ? [] : [approveStep(plan, context)]),
    ...(guards.length === 0 ? [] : [acknowledgeStep(plan, guards, context)]),
    isEmpty ? 'Until then, the next apply of this stack writes nothing.' : `After the merge, ${applies}.`,
  ];
}

/** In characters. A longer command would fill the comment, and a command that is cut would acknowledge other guards. */
const maxCommand = 1_000;

/** The command, or how to write it if it is too long to be shown. */
function shownCommand(plan: Plan, stack: string | undefined): string {
  const command = approveCommand({ plan, stack, commit: reviewedCommit(plan) });
  if (command.length <= maxCommand) return command;
  const [first = ''] = acknowledgeableIds(plan.guards);
  const example = quoted(`trueup approve plan.json --ack ${first}`);
  return `a plan file of this commit, as ${quoted('trueup plan --out plan.json')} writes it, and ${example} with all ${acknowledgeableIds(plan.guards).length} guards, which is too long for this report`;
}

/** In a pull request, the commit is its head, not the merge commit that a job may check out. */
function reviewedCommit({ made }: Plan): string | undefined {
  return made?.pullRequestCommit ?? made?.commit;
}

function approveStep(plan: Plan, { rules, stack, event, proposed = {} }: ShownContext): string {
  if (needsNone(rules)) return 'This plan needs no approval: "spec.approvals" accepts "none".';
  const approveJob = 'approve the job that waits for an environment, after the merge';
  const ways = {
    signature: `sign it with ${shownCommand(plan, stack)}${inClone}`,
    environment: approveJob,
    review: 'approve the pull request in a review of this commit',
  };
  const usable = acceptedMethods(rules)
    .filter((method) => method !== 'signature' || hasSigners(rules))
    .filter((method) => method !== 'review' || event === 'pull-request');
  const { count = 1 } = rules;
  const people = count === 1 ? '' : ` ${count} people are needed.`;
  if (usable.length === 0) return `This plan cannot be approved: ${whyUnusable(proposed)}.`;
  const others = usable.filter((method) => method !== 'environment');
  const isEnvironmentOptional = acceptsAll(rules) && others.length > 0 && others.length < usable.length;
  const aside = isEnvironmentOptional
    ? ` If the apply workflow waits for an environment, you can also ${approveJob}.`
    : '';
  return `To approve this plan, ${(isEnvironmentOptional ? others : usable).map((method) => ways[method]).join(', or ')}.${people}${aside}`;
}

/** The base branch must admit the key, and an older clone may not have that change. */
const inClone = ', in a clone with the newest commit of the base branch checked out';

function whyUnusable(proposed: ApprovalRules): string {
  return hasSigners(proposed)
    ? 'the signers of this pull request count only after its merge; keep "review" or "environment" in "accept" of "spec.approvals", merge, and remove it in a later pull request'
    : 'name signers in "from" of "spec.approvals", or accept another method';
}

function acknowledgeStep(
  plan: Plan,
  guards: readonly GuardId[],
  { rules, stack, event }: ShownContext,
): string {
  const hasLabels = admitsLabels(rules);
  const labels = `let ${otherPerson(rules)} set ${labelsOf(guards)} on the pull request now (create a label that the repository does not have)`;
  const signs = acceptedMethods(rules).includes('signature') && hasSigners(rules);
  const ways = [
    ...(hasLabels && event === 'pull-request' ? [labels] : []),
    ...(signs ? [`sign this plan with ${shownCommand(plan, stack)}${inClone}`] : []),
  ];
  if (ways.length > 0) return `To acknowledge ${quoteSome(guards)}, ${ways.join(', or ')}.`;
  return hasLabels
    ? `Acknowledge ${quoteSome(guards)} by labels of the pull request that shows this plan.`
    : `${quoteSome(guards)} cannot be acknowledged: the stack accepts only signatures, and no signers of the base branch are known.`;
}

/** The most guards that a text names: a plan may have thousands. */
const maxNames = 10;

/** `the label "trueup-ack/deletes"` */
export function labelsOf(guards: readonly GuardId[]): string {
  const labels = firstFew(
    guards.map((id) => quoted(`${labelPrefix}${id}`)),
    maxNames,
  );
  const isCut = labels.length < guards.length;
  const shown = isCut ? labels.join(', ').replace(/, (and \d+ more)$/, ' $1') : labels.join(' and ');
  return `${guards.length === 1 ? 'the label' : 'the labels'} ${shown}${isCut ? ', one for each guard,' : ''}`;
}
