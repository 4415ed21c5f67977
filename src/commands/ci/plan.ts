/**
 * `trueup ci plan`: the plan job of a pull request, a merge group or a push. Chooses the stacks that the commits change, plans each, and
 * reports the results wherever the CI system shows them.
 */
import type { PullRequest, PullRequests } from '../../api/code-host/pull-requests.ts';
import { guardKeys } from '../../approvals/guard-keys.ts';
import { readState } from '../../approvals/hidden-lines.ts';
import { findPlanComment } from '../../approvals/plan-comment.ts';
import { runGit } from '../../ledger/git/git-command.ts';
import { stackFileName } from '../../manifest/files/find-stack.ts';
import { blockingIds } from '../../model/guard.ts';
import type { Plan, PlanDifference } from '../../model/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { checkApprovedPlans, type ProvedPlan } from '../../plan/approved-plans.ts';
import type { PlanResult } from '../../plan/build-plan.ts';
import { renderPlanDifference } from '../../report/text/plan-difference.ts';
import { readCarriedPlan } from '../../run/carried-plan.ts';
import { findJob } from '../../run/ci/job.ts';
import { type CiScope, openScope } from '../../run/ci/scope.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
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
import { planStack, type StackResult, worstCode } from './plan-stack.ts';
import {
  closingText,
  nextStep,
  postAll,
  removedText,
  reportToGithub,
  writePlans,
  writeSarif,
} from './report.ts';

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

/** For the whole job, in seconds; each stack also has its own limit. */
const defaultTimeout = 3600;

export async function ciPlan(
  paths: readonly string[],
  options: CiPlanOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  checkUsage(paths, options);
  const job = await findJob(host);
  if (job.isClosed) return reportClosed(host);
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

function reportClosed({ stdout }: CliHost): ExitCode {
  stdout.write('The pull request is closed: nothing is planned\n');
  return exitCodes.done;
}

interface PlanJob {
  readonly scope: CiScope;
  readonly session: CodeHostSession;
  readonly options: CiPlanOptions;
  readonly context: CommandContext;
}

async function planAll(choice: Choice, about: PlanJob): Promise<ExitCode> {
  const { chosen, unchanged, removed } = choice;
  const { scope, session, options, context } = about;
  const { job } = scope;
  const { host, terminal } = context;
  const numbers = await pullNumbersOf(scope, host);
  const trust = trustOf(job, session, { trustAuthor: options.trustAuthor ?? false, numbers });
  printRemovedAndMoved(choice, host);
  await session.markUnchangedStacks(unchanged.flatMap(({ name }) => name ?? []));
  for (const { name } of chosen) if (name !== undefined) await session.markOutdated(name);
  const results: StackResult[] = [];
  for (const stack of chosen) {
    host.stdout.write(`${terminal.paint.heading(headingOf(stack))}\n\n`);
    const result = await planStack(stack, { scope, host, terminal, trust, timeout: options.timeout });
    results.push(await withGroupCheck(result, { ...about, numbers }));
    host.stdout.write('\n');
    if (result.code === exitCodes.interrupted) break;
  }
  const codes = results.map(({ code }) => code);
  if (options.outDir !== undefined) await writePlans(options.outDir, results, host);
  if (options.sarif !== undefined) await writeSarif(options.sarif, results, host);
  codes.push(await postAll(results, removed, about));
  const code = worstCode(codes);
  reportToGithub(results, code, host);
  const end = closingText(results, code, { job, outDir: options.outDir, removed });
  host.stdout.write(`${end}\n`);
  return code;
}

/** A removed stack is not planned, and its resources are not deleted. A moved stack is planned at its new place. */
function printRemovedAndMoved(
  { removed, moved }: Pick<Choice, 'removed' | 'moved'>,
  { stderr }: CliHost,
): void {
  for (const { name, from, file } of moved)
    stderr.write(
      `the stack ${quoted(name ?? '')} moved from ${quoted(from)} to ${quoted(file)}, where it is planned\n`,
    );
  for (const stack of removed) stderr.write(`${removedText(stack)}\n`);
}

async function pullNumbersOf(scope: CiScope, host: CliHost): Promise<readonly number[]> {
  const { job } = scope;
  if (job.event === 'merge-group') return pullsOfGroup(scope, host.env);
  return job.number === undefined ? [] : [job.number];
}

/** In a merge queue, a plan that was not shown in the pull requests fails the job. */
async function withGroupCheck(
  result: StackResult,
  { scope, session, context, numbers }: PlanJob & { readonly numbers: readonly number[] },
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

// A merge queue merges several pull requests, and its checks decide whether the result may be merged. The plan of such a group must contain
// only what the plans of its pull requests have shown to reviewers.

type GroupVerdict =
  | { readonly is: 'reviewed'; readonly by: readonly number[] }
  | {
      readonly is: 'not-reviewed';
      /** why it was not reviewed, as clauses */
      readonly reasons: readonly string[];
      readonly difference?: PlanDifference;
    };

/**
 * The pull requests whose changes the group adds to the base branch, oldest first. Found by the subjects of the commits that the queue
 * made, and by the name of its branch. The pull requests of groups that are ahead in the queue are included.
 */
async function pullsOfGroup({ job, reader, head, baseTip }: CiScope, env: CliHost['env']): Promise<number[]> {
  const { baseBranch } = job;
  const newestOfBase = baseBranch === undefined ? baseTip?.commit : await reader.tipOf(baseBranch);
  // In a shallow clone, this fetches the commits between the two.
  if (newestOfBase !== undefined) await reader.between(newestOfBase, head.commit);
  const range = newestOfBase === undefined ? head.commit : `${newestOfBase}..${head.commit}`;
  const listed = await runGit(['log', '--first-parent', '--reverse', '--format=%s', range, '--'], reader.at);
  const subjects = listed.code === 0 ? listed.out.toString().split('\n') : [];
  const found = [
    ...subjects.map((subject) => /^Merge pull request #(\d+) |\(#(\d+)\)$/.exec(subject)),
    /\/pr-(\d+)-[0-9a-f]+$/.exec(env['GITHUB_REF'] ?? ''),
  ];
  return [...new Set(found.flatMap((match) => (match ? [Number(match[1] ?? match[2])] : [])))];
}

/** Whether the pull requests of a group have shown its plan and its guards. @throws CodeHostError, WireError */
async function checkGroup(
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
  /** keys of the guards that the comment shows (`guardKeys`) */
  readonly guards: readonly string[];
}

/** The guards that no pull request has shown. They are compared separately, because a digest does not cover guards. @returns clauses */
function unseenGuards({ guards }: Plan, shown: readonly ShownInPull[]): string[] {
  const seen = new Set(shown.flatMap((one) => one.guards));
  return guards
    .filter((guard) => guardKeys([guard]).some((key) => !seen.has(key)))
    .map(({ id, message }) => `none of them shows the guard ${quoted(id)}: ${message}`);
}

/** The plan that the comment of a pull request shows. @returns a clause if it shows none */
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
  // Without the content, only an identical plan can be recognized.
  if (digest === plan.digest) return { plan, guards };
  return `${name}: its comment does not hold the content of the plan ${quoted(digest)}`;
}
