/**
 * `trueup ci plan`: the plan job of a pull request, a merge group or a push. Chooses the stacks that the commits change, plans each, and
 * reports them wherever the CI shows something.
 */
import type { Plan } from '../../model/plan.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { sentence } from '../../report/markdown/escape.ts';
import { type CiJob, findJob } from '../../run/ci/job.ts';
import { type CiScope, openScope } from '../../run/ci/scope.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { carriedLine } from '../../run/comment/carried-plan.ts';
import { draftOf, isEmptyPlan } from '../../run/comment/post-comment.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { reportStop } from '../../run/report-stop.ts';
import { listenForEnd, openDeadline } from '../../run/stop-signals.ts';
import { type CommandContext, printError } from '../../run/terminal.ts';
import { type Choice, chooseStacks, headingOf, listStacks } from './choose-stacks.ts';
import {
  type CodeHostSession,
  openCodeHostSession,
  type SessionOptions,
  trustOf,
} from './code-host-session.ts';
import { checkGroup, type GroupVerdict, pullsOfGroup } from './merge-group.ts';
import { planStack, type StackResult, worstCode } from './plan-stack.ts';
import { reportToGithub, writePlans, writeSarif } from './report.ts';

export interface CiPlanOptions extends SessionOptions, CommonOptions {
  readonly all?: boolean;
  readonly list?: boolean;
  readonly base?: string;
  readonly outDir?: string;
  readonly sarif?: string;
  readonly trustAuthor?: boolean;
}

/** In seconds; each stack has its own limit besides. */
const defaultTimeout = 3600;

export async function ciPlan(
  paths: readonly string[],
  options: CiPlanOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const job = await findJob(host);
  if (job.isClosed) return closed(host);
  const stops = listenForEnd(host);
  const deadline = openDeadline(options.timeout ?? defaultTimeout, { now: host.now });
  stops.endWith(deadline);
  const signal = stops.runEnded;
  try {
    const needsBase = options.all !== true && paths.length === 0;
    const scope = await openScope(host, { base: options.base, needsBase, signal });
    try {
      const choice = await chooseStacks(scope, { paths, all: options.all ?? false }, host);
      if (options.list) {
        listStacks(choice, context);
        return exitCodes.done;
      }
      // A job that is started again after the merge leaves the comments as they are: the approvals are about them.
      const posting = isMerged(scope) ? { ...options, comment: false } : options;
      const session = await openCodeHostSession({
        ...{ options: posting, job, host, signal, until: deadline.until },
      });
      try {
        return await planAll(choice, { scope, session, options, context });
      } finally {
        await session.close();
      }
    } finally {
      await scope.close();
    }
  } finally {
    deadline.clear();
    stops.dispose();
  }
}

/** Whether the base branch has all commits of the pull request. */
function isMerged({ job, head, from }: CiScope): boolean {
  return job.event === 'pull-request' && from?.commit === head.commit;
}

function closed({ stdout }: CliHost): ExitCode {
  stdout.write('The pull request is closed: nothing is planned\n');
  return exitCodes.done;
}

interface PlanAll {
  readonly scope: CiScope;
  readonly session: CodeHostSession;
  readonly options: CiPlanOptions;
  readonly context: CommandContext;
}

async function planAll({ chosen, unchanged, removed }: Choice, about: PlanAll): Promise<ExitCode> {
  const { scope, session, options, context } = about;
  const { job } = scope;
  const { host, terminal } = context;
  const numbers = await numbersOf(scope, host);
  const trust = trustOf(job, session, { trustAuthor: options.trustAuthor ?? false, numbers });
  sayRemoved(removed, host);
  await session.markOthers(unchanged.flatMap(({ name }) => name ?? []));
  for (const { name } of chosen) if (name !== undefined) await session.markOutdated(name);
  const results: StackResult[] = [];
  for (const stack of chosen) {
    host.stdout.write(`${terminal.paint.heading(headingOf(stack))}\n\n`);
    const result = await planStack(stack, { scope, host, terminal, trust, timeout: options.timeout });
    results.push(await withGroup(result, { ...about, numbers }));
    host.stdout.write('\n');
    if (result.code === exitCodes.interrupted) break;
  }
  const codes = results.map(({ code }) => code);
  if (options.outDir !== undefined) await writePlans(options.outDir, results, host);
  if (options.sarif !== undefined) await writeSarif(options.sarif, results, host);
  codes.push(await postAll(results, about));
  const code = worstCode(codes);
  reportToGithub(results, code, host);
  host.stdout.write(`${endOf(results, code, { scope, outDir: options.outDir })}\n`);
  return code;
}

/** A stack that is no longer there cannot be planned, and nothing of it is deleted. */
function sayRemoved(removed: readonly string[], { stderr }: CliHost): void {
  for (const file of removed)
    stderr.write(
      `the stack file ${quoted(file)} was removed: its resources stay as they are; to remove them, apply the stack without manifests before its file is removed\n`,
    );
}

async function numbersOf(scope: CiScope, host: CliHost): Promise<readonly number[]> {
  const { job } = scope;
  if (job.event === 'merge-group') return pullsOfGroup(scope, host.env);
  return job.number === undefined ? [] : [job.number];
}

/** In a merge queue, a plan that nobody has seen fails the job. */
async function withGroup(
  result: StackResult,
  { scope, session, context, numbers }: PlanAll & { readonly numbers: readonly number[] },
): Promise<StackResult> {
  const { planning } = result;
  if (scope.job.event !== 'merge-group' || planning === undefined) return result;
  const { terminal } = context;
  try {
    const verdict = await checkGroup(planning, numbers, session);
    if (verdict.is === 'reviewed') return result;
    showDifference(verdict, context);
    const why = verdict.reasons.length === 0 ? '' : ` (${verdict.reasons.join('; ')})`;
    const message = `the plan of this merge group is not what its pull requests have shown${why}: take the pull request out of the queue, bring its branch up to date with the base branch, and let its new plan be reviewed`;
    printError(terminal, 'not-reviewed', message);
    const reported = [
      ...result.reported,
      { code: 'not-reviewed', severity: 'error', class: 'failure', message } as const,
    ];
    const next = [nextStep(exitCodes.stale, scope.job)];
    return { ...result, reported, next, code: worstCode([result.code, exitCodes.stale]) };
  } catch (error) {
    return { ...result, code: worstCode([result.code, reportStop(error, terminal)]) };
  }
}

function showDifference(
  verdict: Extract<GroupVerdict, { is: 'not-reviewed' }>,
  { host, terminal: { paint, width } }: CommandContext,
): void {
  if (verdict.difference === undefined) return;
  const names = { one: 'shown in the pull requests', other: 'planned for the group' };
  const layout = { paint, names, ...(width === undefined ? {} : { width }) };
  host.stdout.write(`\n${renderPlanDifference(verdict.difference, layout)}\n`);
}

/** Comments are posted at the end: the next job marks those that were not as out of date. */
async function postAll(results: readonly StackResult[], { session, context }: PlanAll): Promise<ExitCode> {
  try {
    let isPosted = true;
    for (const result of results) isPosted = (await postOne(result, session)) && isPosted;
    return isPosted ? exitCodes.done : exitCodes.error;
  } catch (error) {
    return reportStop(error, context.terminal);
  }
}

async function postOne(
  { plan, host, stack, onlyValidated, next }: StackResult,
  session: CodeHostSession,
): Promise<boolean> {
  if (plan !== undefined) {
    const commit = commitOf(plan);
    const draft = draftOf(plan, host, originOf(plan), next);
    return session.post(
      { ...draft, carried: carriedLine(plan, commit, host) },
      { creates: !isEmptyPlan(plan) },
    );
  }
  if (onlyValidated === undefined || stack.name === undefined) return true;
  const text = `**Validated, and not planned**: ${sentence(onlyValidated)}.`;
  const at = new Date(host.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const shown = { post: host.newId(), at, digest: '', summary: 'validated, and not planned' };
  return session.post({ stack: stack.name, plan: text, shown }, { creates: true });
}

function commitOf({ made }: Plan): string | undefined {
  return made?.pullRequestCommit ?? made?.commit;
}

function originOf(plan: Plan) {
  const { made } = plan;
  const commit = commitOf(plan);
  return {
    ...(made === undefined ? {} : { made: made.at }),
    ...(commit === undefined ? {} : { commit }),
    ...(made?.dirty ? { dirty: true as const } : {}),
  };
}

interface EndOptions {
  readonly scope: CiScope;
  readonly outDir: string | undefined;
}

/** What happened, and what to do next. */
function endOf(results: readonly StackResult[], code: ExitCode, { scope, outDir }: EndOptions): string {
  if (results.length === 0 && isMerged(scope))
    return 'The base branch has all commits of the pull request, so nothing was planned. The comments stay as they are.';
  if (results.length === 0) return 'No stack is changed, so nothing was planned. There is nothing to do.';
  const planned = results.filter(({ plan }) => plan !== undefined);
  const only = results.filter(({ onlyValidated }) => onlyValidated !== undefined);
  const failed = results.filter((result) => result.code !== exitCodes.done);
  const parts = [
    `${counted(planned.length, 'stack')} planned`,
    ...(only.length === 0 ? [] : [`${only.length} only validated`]),
    ...(failed.length === 0
      ? []
      : [`${failed.length} failed: ${failed.map(({ stack }) => stack.path).join(', ')}`]),
  ];
  const kept =
    outDir === undefined || planned.length === 0 ? '' : `; the plan files are in ${quoted(outDir)}`;
  return `${parts.join(', ')}${kept}.\n${nextStep(code, scope.job)}`;
}

function nextStep(code: ExitCode, { event }: CiJob): string {
  switch (code) {
    case exitCodes.done:
      return event === 'push'
        ? 'Next: let the plan be approved, then apply it with "trueup ci apply".'
        : 'Next: review each plan and its guards. After the merge, "trueup ci apply" applies what was approved.';
    case exitCodes.invalid:
      return 'Next: correct the lines that the messages name, and push again.';
    case exitCodes.stale:
      return 'Next: take the pull request out of the queue, update its branch, and review its new plan.';
    case exitCodes.conflict:
      return 'Next: read the message. It names the owner or the place, and the ways to go on.';
    case exitCodes.interrupted:
      return 'Next: run the job again. Nothing was changed.';
    default:
      return 'Next: remove the cause that the message names, and run the job again. Nothing was changed.';
  }
}
