/**
 * `trueup ci plan`: the plan job of a pull request, a merge group or a push. Chooses the stacks that the commits change, plans each, and
 * reports them wherever the CI shows something.
 */
import { stackFileName } from '../../manifest/files/find-stack.ts';
import type { Plan } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { sentence } from '../../report/markdown/escape.ts';
import { findJob } from '../../run/ci/job.ts';
import { type CiScope, openScope } from '../../run/ci/scope.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { carriedLine } from '../../run/carried-plan.ts';
import { draftOf, isEmptyPlan } from '../../run/post-comment.ts';
import type { Draft } from '../../run/sticky-comment.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { reportStop } from '../../run/report-stop.ts';
import { listenForEnd, openDeadline } from '../../run/stop-signals.ts';
import { type CommandContext, printError } from '../../run/terminal.ts';
import { type Choice, type ChosenStack, chooseStacks, headingOf, listStacks } from './choose-stacks.ts';
import {
  type CodeHostSession,
  openCodeHostSession,
  type SessionOptions,
  trustOf,
} from './code-host-session.ts';
import { checkGroup, type GroupVerdict, pullsOfGroup } from './merge-group.ts';
import { planStack, type StackResult, worstCode } from './plan-stack.ts';
import { endOf, nextStep, reportToGithub, writePlans, writeSarif } from './report.ts';

export interface CiPlanOptions extends SessionOptions, Omit<CommonOptions, 'format'> {
  readonly all?: boolean;
  readonly list?: boolean;
  /** how `list` prints the stacks */
  readonly format?: 'text' | 'json';
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
  checkUsage(paths, options);
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
      if (options.all === true && choice.chosen.length + choice.removed.length === 0)
        throw new CommandStop(
          'no-stack',
          `commit ${scope.head.commit} has no ${stackFileName}: "trueup init" writes a first stack`,
        );
      if (options.list) {
        listStacks({ ...choice, removed: choice.removed.map(({ file }) => file) }, context);
        return exitCodes.done;
      }
      const session = await openCodeHostSession({ options, job, host, signal, until: deadline.until });
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

function checkUsage(paths: readonly string[], { all, list, format, comment, mustPost }: CiPlanOptions): void {
  const mistake = (message: string) => new CommandStop('usage', message);
  if (all === true && paths.length > 0)
    throw mistake('--all plans all stacks of the repository: pass it without a path');
  if (mustPost === true && comment === false)
    throw mistake('--must-post fails where no comment can be posted: pass it without --no-comment');
  if (format === 'json' && list !== true)
    throw mistake(
      '--format is how --list prints the stacks: pass it with --list; --out-dir writes plans as JSON',
    );
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

async function planAll(choice: Choice, about: PlanAll): Promise<ExitCode> {
  const { chosen, unchanged, removed } = choice;
  const { scope, session, options, context } = about;
  const { job } = scope;
  const { host, terminal } = context;
  const numbers = await numbersOf(scope, host);
  const trust = trustOf(job, session, { trustAuthor: options.trustAuthor ?? false, numbers });
  sayGone(choice, host);
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
  codes.push(await postAll(results, removed, about));
  const code = worstCode(codes);
  reportToGithub(results, code, host);
  const end = endOf(results, code, { job, outDir: options.outDir, removed });
  host.stdout.write(`${end}\n`);
  return code;
}

/** A stack that is no longer there cannot be planned, and nothing of it is deleted. */
function sayGone({ removed, moved }: Pick<Choice, 'removed' | 'moved'>, { stderr }: CliHost): void {
  for (const { name, from, file } of moved)
    stderr.write(
      `the stack ${quoted(name ?? '')} moved from ${quoted(from)} to ${quoted(file)}, where it is planned\n`,
    );
  for (const stack of removed) stderr.write(`${removedText(stack)}\n`);
}

function removedText({ file, name }: ChosenStack): string {
  const stack = name === undefined ? '' : ` of the stack ${quoted(name)}`;
  return `the stack file ${quoted(file)}${stack} is removed: its resources stay as they are; to remove them, keep the file for now, with "optional: true" for each pattern of "spec.manifests", remove only the manifests, and remove the file after the apply`;
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
  const { terminal, host } = context;
  const guards = host.clean(planning.plan.guards);
  try {
    const cleaned = { ...planning, plan: { ...planning.plan, guards } };
    const verdict = await checkGroup(cleaned, numbers, session);
    if (verdict.is === 'reviewed') return result;
    showDifference(verdict, context);
    const why = verdict.reasons.length === 0 ? '' : ` (${verdict.reasons.join('; ')})`;
    const message = `the plan of this merge group is not what its pull requests have shown${why}: take the pull request out of the queue, bring its branch up to date with the base branch, and let its new plan be reviewed; if an earlier merge is not applied yet, wait for that apply instead, and queue it again`;
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
async function postAll(
  results: readonly StackResult[],
  removed: readonly ChosenStack[],
  { session, context }: PlanAll,
): Promise<ExitCode> {
  try {
    let isPosted = true;
    for (const stack of removed)
      if (stack.name !== undefined) {
        const text = `**Removed, and not planned**: ${sentence(removedText(stack))}.`;
        const note = noteOf(stack.name, { text, summary: 'removed, and not planned' }, context.host);
        isPosted = (await session.post(note, { creates: true })) && isPosted;
      }
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
  const note = noteOf(stack.name, { text, summary: 'validated, and not planned' }, host);
  return session.post(note, { creates: true });
}

/** A comment without a plan. @param about.text Markdown */
function noteOf(
  stack: string,
  { text, summary }: { readonly text: string; readonly summary: string },
  host: CliHost,
): Draft {
  const at = new Date(host.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return { stack, plan: text, shown: { post: host.newId(), at, digest: '', summary } };
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
