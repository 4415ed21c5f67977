/**
 * `trueup ci apply [path...]`: applies the approved plans of the commits since the last apply, one stack after another: the named
 * stacks, or all stacks that have something to apply.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { shortCommit } from '../../model/checkout.ts';
import { displayPath, findRepository, slashes, stackFileName } from '../../manifest/files/find-stack.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import { renderJson } from '../../report/json/render-json.ts';
import { code as codeSpan } from '../../report/markdown/escape.ts';
import { shellWord } from '../../report/view/printable.ts';
import { reportStackToGithub } from '../../run/answer.ts';
import { branchOfJob } from '../../run/ci/job.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { exitCodeMeanings } from '../../run/exit-code-meanings.ts';
import type { CliHost } from '../../run/host.ts';
import { reportStop } from '../../run/report-stop.ts';
import {
  type CommandContext,
  printDocument,
  printNote,
  type Terminal,
  textOutput,
} from '../../run/terminal.ts';
import { applyStack, type StackOptions } from './apply-stack.ts';
import { headingOf, listStacks } from './choose-stacks.ts';
import { findUnapplied, type RemovedStack, type UnappliedStacks } from './unapplied-stacks.ts';

export interface CiApplyOptions extends StackOptions {
  /** print the stacks that have something to apply, and apply nothing */
  readonly list?: boolean;
}

export async function ciApply(
  paths: readonly string[],
  options: CiApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  checkUsage(paths, options);
  refusePullRequest(context.host);
  if (paths.length === 0) return applyUnapplied(options, context);
  const named = await differentStacks(paths, context.host);
  const tasks = named.map((path): Task => ({ path, shown: path, heading: `Stack ${path}` }));
  refuseSeveral(tasks, options);
  if (tasks.length > 1) return applyEach(tasks, options, context);
  return applyOne(named[0], options, context);
}

/** The paths as the user typed them, one for each stack. @throws CommandStop for a path outside of the repository */
async function differentStacks(paths: readonly string[], { cwd }: CliHost): Promise<readonly string[]> {
  const { root, isGit } = await findRepository(cwd);
  const found = new Map<string, string>();
  for (const path of paths) {
    const absolute = resolve(cwd, path);
    const real = await realpath(absolute).catch(() => absolute);
    const fromRoot = slashes(relative(await realpath(root), real));
    const isOutside = /^\.\.(\/|$)/.test(fromRoot) || isAbsolute(fromRoot);
    // A path that goes through a symbolic link is not refused here: the apply itself refuses such a link.
    if (isGit && isOutside && absolute === real)
      throw new CommandStop('no-stack', `${quoted(path)} is not in this repository: name a stack of it`);
    const folder = basename(real) === stackFileName ? dirname(real) : real;
    if (!found.has(folder)) found.set(folder, path);
  }
  return [...found.values()];
}

/** One stack to apply. */
interface Task {
  /** as an argument of the command line; undefined for the stack in the working directory */
  readonly path: string | undefined;
  /** the path that people and later jobs see */
  readonly shown: string;
  readonly heading: string;
  /** why the stack cannot be applied, if that is known before it is tried */
  readonly problem?: CommandStop | undefined;
}

async function applyUnapplied(options: CiApplyOptions, context: CommandContext): Promise<ExitCode> {
  const { host, terminal } = context;
  const branch = options.branch ?? branchOfJob(host.env);
  const found = await findUnapplied(host, { timeout: options.timeout, branch });
  const removed = found.removed.map(({ file }) => file);
  const tasks = found.chosen.map((stack): Task => {
    const path = displayPath(join(found.root, stack.path), host.cwd);
    const { problem } = stack;
    return { path: path === '.' ? undefined : path, shown: stack.path, heading: headingOf(stack), problem };
  });
  printNotApplied(found, terminal, options.list === true);
  if (options.list === true) {
    listStacks({ ...found, removed }, context);
    return exitCodes.done;
  }
  const [first] = tasks;
  if (first === undefined) return reportNothingToApply(found, terminal);
  refuseSeveral(tasks, options);
  const isOnlyStack = tasks.length + found.unchanged.length + found.replaced.length === 1;
  if (!isOnlyStack && tasks.length === 1) textOutput(terminal)?.write(`${first.heading}\n\n`);
  if (tasks.length > 1) return applyEach(tasks, options, context);
  const code = await applyTask(first, options, context);
  terminal.result.outputs = { ...terminal.result.outputs, ...outputsOf([{ task: first, terminal }]) };
  return code;
}

/** Prints which stacks are not applied, and why. @param isListed prints only what the output of `--list` does not contain */
function printNotApplied(
  { unchanged, replaced, removed, uncommitted }: UnappliedStacks,
  terminal: Terminal,
  isListed: boolean,
): void {
  const lines = [
    ...unchanged.map((stack) => `${headingOf(stack)}: no commits since the last apply`),
    ...replaced.map(
      (stack) =>
        `${headingOf(stack)}: the newer commit ${shortCommit(stack.by)} of the branch changes it, and the job of that commit applies it`,
    ),
  ];
  if (!isListed && lines.length > 0) textOutput(terminal)?.write(`${lines.join('\n')}\n\n`);
  for (const stack of removed) printNote(terminal, removedText(stack));
  for (const file of uncommitted)
    printNote(terminal, `the stack file ${quoted(file)} is not applied, because no commit has it: commit it`);
}

function removedText({ file, commit, name, resources }: RemovedStack): string {
  const of = name === undefined ? '' : ` of the stack ${quoted(name)}`;
  const what = resources === undefined ? 'resources' : counted(resources, 'resource');
  const [stay, them] = resources === 1 ? ['stays as it is', 'it'] : ['stay as they are', 'them'];
  const restore = quoted(`git checkout ${shortCommit(commit)} -- ${shellWord(file)}`);
  return `the stack file ${quoted(file)}${of} was removed: nothing of it is applied, and its ${what} ${stay}; to remove ${them}, restore the file without its manifests (${restore}, with "optional: true" for each pattern of "spec.manifests"), merge it, and let the plan be approved and applied`;
}

function reportNothingToApply({ replaced, ...found }: UnappliedStacks, terminal: Terminal): ExitCode {
  const removed = found.removed.map(({ file }) => file);
  const message =
    replaced.length === 0
      ? 'Nothing to apply: no stack has commits since its last apply'
      : 'Nothing to apply for this commit';
  textOutput(terminal)?.write(`${message}\n`);
  printDocument(terminal, {
    json: () => renderJson({ version: 1, stacks: [], removed }),
    markdown: () => message,
  });
  terminal.result.outputs = outputsOf([]);
  return exitCodes.done;
}

async function applyEach(
  tasks: readonly Task[],
  options: CiApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal: jobTerminal } = context;
  const ended: EndedTask[] = [];
  for (const task of tasks) {
    textOutput(jobTerminal)?.write(`${task.heading}\n\n`);
    const terminal = { ...jobTerminal, reported: [], result: {} };
    const code = await applyTask(task, options, { ...context, terminal });
    ended.push({ task, terminal, code });
    if (jobTerminal.format === 'github') await reportStackToGithub(terminal, `## ${codeSpan(task.shown)}`);
    textOutput(jobTerminal)?.write('\n');
    if (code === exitCodes.interrupted) break;
  }
  const lines = [
    ...ended.map(
      ({ task: { shown }, terminal, code }) => `${shown}: ${titleOf(code, terminal)} (exit code ${code})`,
    ),
    ...tasks.slice(ended.length).map(({ shown }) => `${shown}: not begun`),
  ];
  textOutput(jobTerminal)?.write(`${lines.join('\n')}\n`);
  printDocument(jobTerminal, { markdown: () => lines.map((line) => `- ${line}`).join('\n') });
  jobTerminal.result.outputs = outputsOf(ended);
  return worstOf(ended.map(({ code }) => code));
}

interface EndedTask {
  readonly task: Task;
  readonly terminal: Pick<Terminal, 'result'>;
  readonly code: ExitCode;
}

/** The outputs for later steps of the CI job, with the same names as those of a plan job. */
function outputsOf(ended: readonly Pick<EndedTask, 'task' | 'terminal'>[]): Readonly<Record<string, string>> {
  const plans = ended.flatMap(({ terminal: { result } }) =>
    result.outputs === undefined ? [] : [result.outputs],
  );
  return {
    stacks: JSON.stringify(ended.map(({ task }) => task.shown)),
    digests: JSON.stringify(Object.fromEntries(plans.map(({ stack, digest }) => [stack, digest]))),
    changes: String(plans.reduce((sum, { changes }) => sum + Number(changes), 0)),
  };
}

async function applyTask(task: Task, options: CiApplyOptions, context: CommandContext): Promise<ExitCode> {
  return applyOne(task.path, options, context, task.problem);
}

/** Reports the error that stops one stack instead of throwing it, so that the next stack is still applied. */
async function applyOne(
  path: string | undefined,
  options: CiApplyOptions,
  context: CommandContext,
  problem?: CommandStop,
): Promise<ExitCode> {
  const { terminal, host } = context;
  let code: ExitCode;
  try {
    if (problem !== undefined) throw problem;
    code = await applyStack(path, options, context);
  } catch (error) {
    code = reportStop(error, terminal);
  }
  host.progress.end();
  const meaning = exitCodeMeanings.find((one) => one.code === code);
  if (code !== exitCodes.done && meaning !== undefined) {
    const next =
      terminal.reported.flatMap(({ code: id }) => nextStepByCode.get(id) ?? []).at(-1) ??
      nextStepByExitCode[code];
    host.stderr.write(`exit code ${code}, ${titleOf(code, terminal)}: ${next ?? meaning.fix}\n`);
  }
  return code;
}

/** Next steps by diagnostic code: more exact than the next step of the exit code. */
const nextStepByCode: ReadonlyMap<string, string> = new Map<DiagnosticCode, string>([
  ['not-approved', 'Approve the plan as one of the lines that begin with "to do" says.'],
  [
    'run-plan-differs',
    'Start a new run of the workflow on the protected branch ("Run workflow"), or a new pipeline. Do not run this one again.',
  ],
]);

/** Next steps of a CI job, where they differ from those of a person at a terminal. */
const nextStepByExitCode: Partial<Record<ExitCode, string>> = {
  [exitCodes.error]: 'Remove the cause that is reported above, and run this job again.',
  [exitCodes.stale]: 'Run this job again: it plans again, and says how to approve the new plan.',
  [exitCodes.blocked]:
    'Read the guards in the plan, acknowledge them as the lines that begin with "to do" say, and run this job again.',
  [exitCodes.partial]:
    'Remove the cause, and run this job again: it goes on with the rest of what was approved.',
  [exitCodes.interrupted]: 'Run this job again: it goes on with the rest of what was approved.',
  [exitCodes.locked]: 'Run this job again when the other apply has ended, or give this one "--lock-timeout".',
};

function titleOf(code: ExitCode, { result: { written } }: Pick<Terminal, 'result'>): string {
  if (code === exitCodes.partial && written?.done === 0) return 'result not known';
  return exitCodeMeanings.find((one) => one.code === code)?.title ?? 'ended';
}

/** The most urgent of several exit codes. */
function worstOf(codes: readonly ExitCode[]): ExitCode {
  const order: readonly ExitCode[] = [
    exitCodes.interrupted,
    exitCodes.partial,
    exitCodes.conflict,
    exitCodes.invalid,
    exitCodes.error,
    exitCodes.stale,
    exitCodes.blocked,
    exitCodes.locked,
  ];
  return order.find((code) => codes.includes(code)) ?? exitCodes.done;
}

function mistake(message: string): CommandStop {
  return new CommandStop('usage', message);
}

function checkUsage(paths: readonly string[], { digest, environment, record, list }: CiApplyOptions): void {
  if ((digest === undefined) !== (environment === undefined))
    throw mistake(
      '--digest and --environment go together: the approved plan, and the environment whose reviewers approved it',
    );
  if (record === true && digest !== undefined)
    throw mistake('--record makes the plan that --digest names in a later job: pass only one of them');
  if (list === true && (paths.length > 0 || record === true || digest !== undefined))
    throw mistake(
      '--list finds the stacks that have something to apply: pass it without a path, --record or --digest',
    );
}

/** @throws CommandStop for several stacks, if a flag is for one stack only */
function refuseSeveral(tasks: readonly Task[], { digest, record, format }: CiApplyOptions): void {
  if (tasks.length < 2) return;
  const which = `${tasks.length} stacks (${quoteSome(tasks.map(({ shown }) => shown))})`;
  const list = '"trueup ci apply --list --format json" lists the stacks';
  if (digest !== undefined || record === true)
    throw mistake(
      `a digest is for one stack, and there are ${which} to apply: use one job for each stack, as in a matrix; ${list}`,
    );
  if (format === 'json')
    throw mistake(`--format json is for one stack, and there are ${which} to apply; ${list}`);
}

/** Refuses jobs of pull requests: their checkout is not the protected branch, and the author of the pull request may have written it. */
function refusePullRequest({ env }: CliHost): void {
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  const isPull = /^(pull_request|issue_comment|merge_group)/.test(event) || env['CI_MERGE_REQUEST_IID'];
  if (isPull)
    throw new CommandStop(
      'usage',
      'nothing was written: "trueup ci apply" runs on the protected branch after a merge, not in a job of a pull request, a comment or a merge queue',
    );
}
