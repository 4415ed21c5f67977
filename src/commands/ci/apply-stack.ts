/**
 * Applies one stack of the protected branch, if its plan was approved. Takes the lock, reads the ledger, makes a fresh plan, reads the
 * approvals of what was merged since the last apply, and then applies exactly this plan, under the same lock.
 */
import { zeroCommitId } from '../../ledger/git/commits-since.ts';
import type { ApprovedPlan } from '../../model/approval.ts';
import { blockingIds } from '../../model/guard.ts';
import type { Ledger } from '../../model/ledger.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { printable } from '../../report/view/printable.ts';
import { authorize } from '../../run/apply/authorize.ts';
import { type ApplyContext, carryOut } from '../../run/apply/carry-out.ts';
import { type PreparedApply, storeApproval } from '../../run/apply/store-approval.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { connectToWrite } from '../../run/connect.ts';
import { refuseProblems } from '../../run/consent.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { respectFreeze } from '../../run/fleet-process.ts';
import { stackArgument } from '../../run/load-manifests.ts';
import { endAfter, lockingFor } from '../../run/lock.ts';
import type { CliHost } from '../../run/host.ts';
import { makePlanToApply } from '../../run/make-plan.ts';
import { findLimitedTokens, learnSecrets } from '../../run/needed-secrets.ts';
import { identifyRun, withOrigin } from '../../run/origin.ts';
import { planToShow } from '../../run/plan-to-show.ts';
import { prepareRun, type StackSettingsInput } from '../../run/prepare-run.ts';
import { printPlan } from '../../run/print-plan.ts';
import { type SecretContext, secretContext } from '../../run/read-secret.ts';
import { listenForSignals, raceStop, stoppedRun } from '../../run/stop-signals.ts';
import { type CommandContext, textOutput } from '../../run/terminal.ts';
import { type OpenedSources, openSources, type SourceFlags } from './approval-sources.ts';
import type { MergedBranch } from './count-approvals.ts';
import { type ApprovalAnswer, findApproval, needsNone } from './find-approval.ts';
import { findNewPlaces, unapprovedPlaces } from './approved-places.ts';
import { describeNewPlaces, describeRefusal, notApproved, stepAfterApproval } from './refusal.ts';
import { offeredPlan, recordPlan } from './run-plan.ts';
import { type ApplyScope, loosenedBy, findApplyScope } from './apply-scope.ts';
import { differenceNames, outcomeOf, postOutcome } from './post-outcome.ts';

export interface StackOptions extends CommonOptions, SourceFlags {
  /** seconds to wait for the lock of the stack; 0 when absent */
  readonly lockTimeout?: number;
  /** plan, keep its digest for this run, and apply nothing */
  readonly record?: boolean;
  /** digest of the plan that an earlier job of this run recorded */
  readonly digest?: string;
  /** the environment that this job waited for */
  readonly environment?: string;
}

export async function applyStack(
  path: string | undefined,
  options: StackOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const stops = listenForSignals(host);
  try {
    return await applyUnderLock(path, options, { ...context, ...stops, run: identifyRun(host) });
  } finally {
    stops.dispose();
  }
}

async function applyUnderLock(
  path: string | undefined,
  options: StackOptions,
  context: ApplyContext,
): Promise<ExitCode> {
  const { stopStarting: stop, terminal, host } = context;
  const found: { scope?: ApplyScope } = {};
  const prepared = await prepareRun(path, context, {
    ...options,
    stops: context,
    connect: (stack, on, time) =>
      connectToWrite(stack, on, {
        ...time,
        runEnded: context.abortRequests,
        onlyReads: options.record === true,
      }),
    lock: lockingFor({ ...context, stop, path, timeout: options.lockTimeout ?? 0 }),
    decideSettings: async (stack, about) => {
      const scope = await findApplyScope(stack, about, { host, path, applies: true });
      found.scope = scope;
      if (options.record !== true) {
        const checked = refuseNewPlaces(stack, about, { path, options, context, scope });
        await raceStop(checked, stop, () => stoppedRun(stop, { done: 'nothing was written' }));
      }
      return scope.stricter;
    },
  });
  const work = async () => {
    const { scope } = found;
    if (scope === undefined) throw new Error('the run was prepared without its commits');
    const making = makeStackPlan(prepared, { host, isRecorded: options.record === true });
    const made = await raceStop(making, stop, () => stoppedRun(stop, { done: 'nothing was written' }));
    const secrets = secretContext(prepared.request.stack, host);
    await learnSecrets(made.plan, secrets, host.secrets);
    // Secrets are removed from the guards, because comments and signatures contain guards.
    const planning = { ...made, plan: { ...made.plan, guards: host.clean(made.plan.guards) } };
    if (hasErrors(planning.plan.problems)) {
      if (textOutput(terminal) !== undefined) printPlan(terminal, planning.plan);
      refuseProblems(planning.plan, terminal);
    }
    if (options.record === true) return recordPlan(planning.plan, prepared, { flags: options, context });
    return decideAndApply(planning, prepared, { path, options, context, scope, secrets });
  };
  return endAfter(work, prepared.close);
}

/** A job that records its plan may have a read-only token, so a missing permission to write is only a note, as in `ci plan`. */
async function makeStackPlan(
  prepared: PreparedApply,
  { host, isRecorded }: { readonly host: CliHost; readonly isRecorded: boolean },
): Promise<PlanResult> {
  if (isRecorded) {
    const { plan, planning } = await planToShow(prepared, host);
    return { ...planning, plan };
  }
  const planning = await makePlanToApply(prepared.request, true);
  return { ...planning, plan: withOrigin(planning.plan, prepared) };
}

/**
 * Runs before the first connection to a target. Not called with `--record`, because no approval can exist yet: such a job has only
 * read-only tokens, like the job of a pull request.
 * @throws CommandStop if secrets would go to other places than at the last apply, and no approval covers that
 */
async function refuseNewPlaces(
  stack: Stack,
  { ledger, manifests, time }: StackSettingsInput,
  { path, options, context, scope }: Omit<Applying, 'secrets'>,
): Promise<void> {
  const { host, terminal } = context;
  const { applied, rules } = scope;
  const places = await findNewPlaces(stack, scope);
  if (places.names.length === 0 || needsNone(rules)) return;
  const isFirst = applied === undefined;
  if (isFirst && !ledger.known && manifests.resources.length === 0) {
    const message = 'There is nothing to apply: the stack declares nothing, and was never applied';
    textOutput(terminal)?.write(`${message}\n`);
    terminal.result.said = message;
    throw CommandStop.reported(exitCodes.done);
  }
  const sources = sourcesOf(stack, { ledger, time, options, host, scope });
  try {
    const left = await unapprovedPlaces(places, { stack, scope, ledger, sources, host, argument: path });
    if (left.names.length === 0) return;
    const { environment } = options;
    const about = { rules, environment, missing: sources.missing, isFirst, again: stepAfterApproval(host) };
    const refusal = describeNewPlaces({ ...left, names: places.names }, about);
    throw notApproved(`nothing was written, and no token was sent: ${refusal.why}`, refusal);
  } finally {
    await sources.close();
  }
}

interface Applying {
  readonly path: string | undefined;
  readonly options: StackOptions;
  readonly context: ApplyContext;
  readonly scope: ApplyScope;
  readonly secrets: SecretContext;
}

async function decideAndApply(
  planning: PlanResult,
  prepared: PreparedApply,
  applying: Applying,
): Promise<ExitCode> {
  const { path, context, scope } = applying;
  const { stopStarting: stop } = context;
  const { rules, range, head } = scope;
  const { ledger } = prepared;
  const sources = sourcesOf(prepared.request.stack, { ...prepared, ...applying, host: context.host });
  try {
    const place = { ...scope, stack: prepared.request.stack, host: context.host, argument: path };
    const { loosened } = scope.stricter;
    const shownBy = (branch: MergedBranch) => loosenedBy(branch, place);
    const asked = findApproval({ planning, rules, range, head, ledger, sources, loosened, shownBy });
    const answer = await raceStop(asked, stop, () => stoppedRun(stop, { done: 'nothing was written' }));
    const warning = planning.plan.changes.length === 0 ? undefined : await sources.branchWarning();
    if (warning !== undefined) context.host.stderr.write(`${warning}\n`);
    if (answer.is !== 'approved') return await refuse(answer, { planning, sources, ...applying });
    if (planning.plan.changes.length > 0) respectFreeze(answer.approvals, context.host);
    return await apply(answer, { planning, prepared, sources, ...applying });
  } finally {
    await sources.close();
  }
}

function sourcesOf(
  { name, renamedFrom }: Stack,
  {
    ledger,
    time,
    options,
    host,
    scope,
  }: Pick<PreparedApply, 'ledger' | 'time'> &
    Pick<Applying, 'options' | 'scope'> & { readonly host: CliHost },
): OpenedSources {
  const { digest, environment, remote } = options;
  const awaited =
    digest === undefined || environment === undefined
      ? undefined
      : { digest, environment, since: offeredPlan(digest, { ledger }, host)?.at };
  const signal = time.runEnded;
  const signatures = { ...scope, stack: name, renamedFrom, remote, now: host.now(), signal };
  return openSources({ flags: options, host, time, awaited, signatures });
}

interface Decided extends Applying {
  readonly planning: PlanResult;
  readonly sources: OpenedSources;
}

/** Reports why the plan is not applied. Nothing was written before. @throws CommandStop always */
async function refuse(
  answer: Exclude<ApprovalAnswer, { readonly is: 'approved' }>,
  { planning: { plan }, sources, path, options, context, scope }: Decided,
): Promise<never> {
  const { terminal, host } = context;
  const stack = stackArgument(path);
  const { environment, author, remote } = options;
  const { opened, missing } = sources;
  const { rules, head } = scope;
  const about = { plan, rules, head, stack, remote, environment, missing, again: stepAfterApproval(host) };
  const refusal = describeRefusal(answer, about);
  printPlan(terminal, plan, { stack, next: [] });
  const difference = answer.is === 'not-approved' ? answer.difference : undefined;
  if (difference !== undefined)
    textOutput(terminal)?.write(
      `\n${renderPlanDifference(difference, {
        ...{ paint: terminal.paint, names: differenceNames, most: 20 },
        ...(terminal.width === undefined ? {} : { width: terminal.width }),
      })}\n`,
    );
  const { ways } = refusal;
  terminal.result.next = ways;
  await postOutcome(
    answer.pulls.at(-1),
    {
      title:
        answer.is === 'blocked' ? 'Not applied, a guard is not acknowledged' : 'Not applied, not approved',
      lines: [
        `Nothing was written: ${refusal.why}.`,
        ...refusal.notCounted.map((line) => `Not counted: ${line}.`),
        ...ways.map((way) => `To do: ${way}.`),
      ],
      plan,
      difference,
    },
    { host, opened, author, plan },
  );
  throw notApproved(`nothing was written: ${refusal.why}`, refusal, answer.is === 'blocked');
}

async function apply(
  answer: Extract<ApprovalAnswer, { readonly is: 'approved' }>,
  {
    planning,
    prepared,
    sources,
    path,
    options,
    context,
    scope,
    secrets,
  }: Decided & { readonly prepared: PreparedApply },
): Promise<ExitCode> {
  const { terminal, stopStarting: stop } = context;
  const { plan } = planning;
  const { approvals, acknowledged, digests, pulls } = answer;
  const { request, ledger, connected, held } = prepared;
  const limited = await findLimitedTokens(connected.targets, request);
  const approvedBy = approvals.map(
    ({ by, method, pullRequest }) =>
      `approved by ${quoted(by)} (${method}${pullRequest === undefined ? '' : `, pull request ${pullRequest}`})`,
  );
  const needsNoApproval = approvedBy.length === 0 && plan.changes.length > 0 && needsNone(scope.rules);
  const none = needsNoApproval ? ['no approval is needed: "spec.approvals" accepts "none"'] : [];
  const lines = [...approvedBy, ...acknowledged];
  const output = textOutput(terminal) ?? context.host.stderr;
  const printed = [...none, ...lines];
  if (printed.length > 0) output.write(`${printed.map(printable).join('\n')}\n\n`);
  const isVerified = approvals.length > 0 && plan.changes.length > 0;
  const authorized = await authorize(
    planning,
    {
      // Authorizes only the plan that was compared with the approved plans.
      approval: isVerified ? { digest: plan.digest, again: true } : undefined,
      options: { yes: true, ack: blockingIds(plan.guards).join(','), isAcknowledged: true },
      ...{ ledger, secrets, limited, stack: stackArgument(path) },
    },
    { terminal, stop },
  );
  await held?.lockGuard.pass();
  const { approved } = authorized;
  const run = await storeApproval(plan, approved && toKeep(approved, { digests, scope, ledger }), prepared);
  const report = (title: string, more: readonly string[]) =>
    postOutcome(
      pulls.at(-1),
      { title, lines: [...lines, ...more] },
      { ...sources, host: context.host, author: options.author, plan },
    );
  let code: ExitCode = exitCodes.error;
  try {
    const given = { approvals: isVerified ? approvals : [], acknowledged: authorized.acknowledged };
    code = await carryOut(planning, { ...run, ...given }, context);
    return code;
  } finally {
    const [title, details, next] = outcomeOf(code, plan, { context, head: scope.head });
    if (plan.changes.length > 0) terminal.result.next = [next];
    await report(title, code === exitCodes.done ? details : [...details, next]);
  }
}

/**
 * The approved plan as the ledger keeps it during the apply: its approvals end together, and are read again if the apply stops halfway.
 * A continued apply keeps the whole plan that the interrupted apply began with: the content of that plan may be stored nowhere else.
 */
function toKeep(
  approved: ApprovedPlan,
  {
    digests,
    scope,
    ledger: { approved: begun },
  }: { readonly digests: readonly string[]; readonly scope: ApplyScope; readonly ledger: Ledger },
): ApprovedPlan {
  const { base } = scope.range;
  const isBegun = begun?.version === approved.version && digests.every((digest) => digest === begun.digest);
  const passed = [...new Set([...(begun?.passed ?? []), ...(approved.passed ?? [])])];
  const kept = isBegun ? { ...begun, passed } : approved;
  const replaced = digests.filter((digest) => digest !== kept.digest);
  return {
    ...kept,
    since: base ?? zeroCommitId,
    ...(scope.isFirst ? { first: true } : {}),
    ...(replaced.length === 0 ? {} : { replaced }),
  };
}
