/**
 * `trueup comment --plan plan.json`: shows a plan file in its pull request, in the one comment that its stack has there. Where
 * the token may not write, as in a fork, the comment is printed and the run succeeds.
 */
import type { Command } from 'commander';
import type { CodeHost } from '../api/code-host.ts';
import { quoted } from '../model/quoted.ts';
import {
  addExamples,
  addPlaceOptions,
  type CommandEnd,
  type CommonOptions,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { connectToCodeHost, keepTokens } from '../run/code-host.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type CommentOrigin, describePosted, draftOf, isEmptyPlan, reviewOf } from '../run/post-comment.ts';
import { renderComment } from '../run/comment-text.ts';
import { NoRights } from '../api/code-host/comments.ts';
import { type Draft, markStale, type Posted, postPlan } from '../run/sticky-comment.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { openPlanFile, type PlanFile } from '../run/plan-file.ts';
import {
  findPullRequest,
  jobCommit,
  type PlaceFlags,
  readEvent,
  type PullRequestPlace,
} from '../run/pull-request.ts';
import { listenForEnd, openDeadline, raceStop } from '../run/stop-signals.ts';
import type { CommandContext } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command.option('--plan <file>', 'the plan, as "plan --out" keeps it');
  addPlaceOptions(command)
    .option(
      '--commit <sha>',
      'the commit that was planned, for a plan file that does not name it; with --outdated, the one that is planned now',
    )
    .option(
      '--author <name>',
      'the account that writes our comments (default: that of the token; for an app, see docs/guides/reports.md)',
    )
    .option(
      '--outdated',
      'mark the comment that is there as out of date, and post nothing; needs --stack or --plan',
    )
    .option('--stack <name>', 'with --outdated: the stack whose comment it is')
    .option('--always', 'create a comment also for a plan without changes')
    .option(
      '--must-post',
      'fail where the token may not write, such as in a fork, instead of printing the comment',
    )
    .option('--dry-run', 'print the comment, and send nothing')
    .addOption(
      timeoutOption('how long the run may take, waits for the limit of the rate included (default: 10m)'),
    )
    .addOption(traceOption())
    .action(async (options: CommentOptions) => {
      end(await comment(options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    [
      'trueup comment --plan plan.json',
      'in a CI job of a pull request: post the plan, or update the comment',
    ],
    ['trueup comment --plan plan.json --dry-run', 'print the comment, and send nothing'],
  );
}

interface CommentOptions extends PlaceFlags, CommonOptions {
  /** a plan file */
  readonly plan?: string;
  readonly author?: string;
  readonly outdated?: boolean;
  readonly stack?: string;
  readonly always?: boolean;
  readonly mustPost?: boolean;
  readonly dryRun?: boolean;
}

/** In seconds. Long, because a run may have to wait for the rate limit of a service. */
const defaultTimeout = 600;

async function comment(options: CommentOptions, { host }: CommandContext): Promise<ExitCode> {
  keepTokens(options.tokenEnv, host);
  checkUsage(options);
  const opened = options.plan === undefined ? undefined : await openPlanFile(options.plan, host.cwd);
  const event = await readEvent(host);
  const origin = opened && originOf(opened, options);
  const draft = opened && draftOf(opened.plan, host, origin ?? {});
  if (options.dryRun === true && draft !== undefined) {
    host.stdout.write(`${renderComment({ ...draft, earlier: [] })}\n`);
    return exitCodes.done;
  }
  const place = findPullRequest(options, host.env, event);
  const token = host.env[place.tokenEnv]?.trim() ?? '';
  if (token === '') return withoutToken(place, { draft, options, host });
  const task: Task = {
    place,
    token,
    options,
    draft,
    stack: draft?.stack ?? options.stack ?? '',
    commit: options.commit ?? jobCommit(host.env, event, options.service),
    isEmpty: opened !== undefined && isEmptyPlan(opened.plan),
  };
  return carryOut(task, host);
}

interface Task {
  readonly place: PullRequestPlace;
  readonly token: string;
  readonly options: CommentOptions;
  readonly draft: Draft | undefined;
  readonly stack: string;
  /** the commit that was planned; with --outdated, the one that is planned now */
  readonly commit: string | undefined;
  readonly isEmpty: boolean;
}

/** @throws CommandStop for options that do not go together */
function checkUsage({ plan, outdated = false, stack, dryRun }: CommentOptions): void {
  const refuse = (message: string) => new CommandStop('usage', message);
  if (outdated && dryRun)
    throw refuse('--outdated and --dry-run do not go together: --outdated writes no plan');
  if (outdated && plan === undefined && stack === undefined)
    throw refuse('--outdated needs --stack, or --plan');
  if (!outdated && plan === undefined)
    throw refuse('--plan is missing: name the file that "trueup plan --out" wrote');
  if (!outdated && stack !== undefined)
    throw refuse('--stack goes with --outdated: a plan says which stack it is of');
}

async function carryOut(task: Task, host: CliHost): Promise<ExitCode> {
  const stops = listenForEnd(host);
  const deadline = openDeadline(task.options.timeout ?? defaultTimeout, { now: host.now });
  stops.endWith(deadline);
  const limits = { host, signal: stops.runEnded, until: deadline.until };
  const codeHost = connectToCodeHost(task.place, { token: task.token, ...limits });
  try {
    const posted = await raceStop(post(task, codeHost), stops.stopStarting);
    host.stdout.write(`${describePosted(posted, task.stack, task.place)}\n`);
    return exitCodes.done;
  } catch (error) {
    if (error instanceof NoRights) return printInstead(error.message, task, host);
    throw error;
  } finally {
    deadline.clear();
    stops.dispose();
    await codeHost.close();
  }
}

function post(
  { options, commit, draft, stack, isEmpty: empty, place }: Task,
  codeHost: CodeHost,
): Promise<Posted> {
  const review = reviewOf(place, codeHost);
  const accounts = { author: options.author, usual: place.usualAuthor };
  if (draft === undefined || options.outdated === true) return markStale(review, { stack, accounts, commit });
  return postPlan(review, draft, { accounts, creates: !empty || options.always === true });
}

/** The commit that the plan file names, not that of this job or checkout. @throws CommandStop when `--commit` is another one */
function originOf({ file, plan: { made } }: PlanFile, { commit }: CommentOptions): CommentOrigin {
  if (made?.commit === undefined) return { ...(made && { made: made.at }), ...(commit && { commit }) };
  const known = [made.pullRequestCommit, made.commit].filter((one) => one !== undefined);
  if (commit !== undefined && !known.includes(commit))
    throw new CommandStop(
      'usage',
      `the plan ${quoted(file)} was made for commit ${quoted(known[0] ?? '')}, and --commit names ${quoted(commit)}`,
    );
  return {
    made: made.at,
    commit: commit ?? made.pullRequestCommit ?? made.commit,
    ...(made.dirty ? { dirty: true } : {}),
  };
}

/** GitLab gives no protected variables to a pipeline of a fork, so a missing token is not an error there. */
function withoutToken(
  { tokenEnv, tokenMayBeMissing }: PullRequestPlace,
  { host, ...about }: Pick<Task, 'draft' | 'options'> & { readonly host: CliHost },
): ExitCode {
  const why = `the environment variable ${quoted(tokenEnv)} is not set`;
  if (tokenMayBeMissing) return printInstead(why, about, host);
  throw new CommandStop('secret-unreadable', `${why}: it has to hold a token that may write comments`);
}

function printInstead(
  why: string,
  { draft, options }: Pick<Task, 'draft' | 'options'>,
  host: CliHost,
): ExitCode {
  if (options.mustPost === true) throw new CommandStop('comment-refused', why);
  host.stderr.write(
    `the comment was not posted, because the token has no rights for it here, as in a fork: ${why}${draft === undefined ? '' : '; it is on standard output instead'}\n`,
  );
  if (draft !== undefined) host.stdout.write(`${renderComment({ ...draft, earlier: [] })}\n`);
  return exitCodes.done;
}
