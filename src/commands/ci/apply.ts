/** `trueup ci apply [path...]`: applies what was approved of the commits since the last apply, one stack after another. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import {
  addExamples,
  type CommandEnd,
  formatOption,
  parseTimeout,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { exitCodeMeanings } from '../../run/exit-code-meanings.ts';
import type { CliHost } from '../../run/host.ts';
import { codeHosts } from '../../run/pull-request.ts';
import { reportStop } from '../../run/report-stop.ts';
import { type CommandContext, textOutput } from '../../run/terminal.ts';
import { applyStack, type CiApplyOptions } from './apply-stack.ts';

export function defineApply(apply: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  apply
    .argument('[path...]', 'stacks, as directories or stack files (default: trueup.yaml here or in a parent)')
    .addOption(formatOption('github'))
    .option(
      '--record',
      'plan, keep the digest for this CI run, and apply nothing: for the job before one that waits for an environment',
    )
    .option('--digest <digest>', 'with --environment: the plan that the job before has recorded', parseDigest)
    .option('--environment <name>', 'the environment whose reviewers have approved this job')
    .option('--branch <name>', 'the protected branch (default: that of the CI job)')
    .addOption(new Option('--service <name>', 'default: that of the CI job').choices(codeHosts))
    .option('--url <url>', 'the address of its API (default: GITHUB_API_URL or CI_API_V4_URL)')
    .option('--repository <owner/name>', 'on GitHub (default: GITHUB_REPOSITORY)')
    .option('--project <id>', 'on GitLab, an id or a path (default: CI_PROJECT_ID)')
    .option(
      '--token-env <variable>',
      'the environment variable that holds the token of the code host (default: GITHUB_TOKEN or GITLAB_TOKEN)',
    )
    .option('--author <name>', 'the account whose comments show plans (default: that of the token)')
    .option('--lock-timeout <duration>', 'how long to wait for the lock of a stack, such as 5m', parseTimeout)
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (paths: readonly string[], options: CiApplyOptions) => {
      end(await applyAll(paths, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    apply,
    ['trueup ci apply', 'in a job on the protected branch: apply what was approved'],
    ['trueup ci apply stacks/pay stacks/web --lock-timeout 10m', 'two stacks, one after the other'],
    ['trueup ci apply --record', 'plan for the reviewers of an environment'],
  );
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}

async function applyAll(
  paths: readonly string[],
  options: CiApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  checkUsage(paths, options);
  refusePullRequest(context.host);
  const [first, ...others] = paths;
  if (others.length === 0) return applyOne(first, options, context);
  const ended: (readonly [path: string, code: ExitCode])[] = [];
  for (const path of paths) {
    textOutput(context.terminal)?.write(`Stack ${path}\n\n`);
    const terminal = { ...context.terminal, reported: [], pending: {} };
    const code = await applyOne(path, options, { ...context, terminal });
    ended.push([path, code]);
    if (code === exitCodes.interrupted) break;
    textOutput(context.terminal)?.write('\n');
  }
  const skipped = paths.slice(ended.length).map((path) => `${path}: not begun`);
  textOutput(context.terminal)?.write(
    `${[...ended.map(([path, code]) => `${path}: ${titleOf(code)} (exit code ${code})`), ...skipped].join('\n')}\n`,
  );
  return worstOf(ended.map(([, code]) => code));
}

/** What stops one stack is reported, so that the next one is still applied. */
async function applyOne(
  path: string | undefined,
  options: CiApplyOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal, host } = context;
  let code: ExitCode;
  try {
    code = await applyStack(path, options, context);
  } catch (error) {
    code = reportStop(error, terminal);
  }
  host.progress.end();
  const meaning = exitCodeMeanings.find((one) => one.code === code);
  if (code !== exitCodes.done && meaning !== undefined) {
    const next =
      terminal.reported.flatMap(({ code: id }) => nextStepsOf.get(id) ?? []).at(-1) ?? nextSteps[code];
    host.stderr.write(`exit code ${code}, ${meaning.title}: ${next ?? meaning.fix}\n`);
  }
  return code;
}

/** Where the reason says more than the exit code. */
const nextStepsOf: ReadonlyMap<string, string> = new Map<DiagnosticCode, string>([
  ['not-approved', 'Approve the plan in one of the ways listed above.'],
  [
    'run-plan-differs',
    'Start a new run of the workflow on the protected branch ("Run workflow"), or a new pipeline. Do not run this one again.',
  ],
]);

/** Where a job of a CI has another next step than a person at a terminal. */
const nextSteps: Partial<Record<ExitCode, string>> = {
  [exitCodes.stale]: 'Run this job again: it plans again, and says how to approve the new plan.',
  [exitCodes.blocked]:
    'Read the guards in the plan, acknowledge them in one of the ways listed above, and run this job again.',
  [exitCodes.partial]:
    'Remove the cause, and run this job again: it goes on with the rest of what was approved.',
  [exitCodes.interrupted]: 'Run this job again: it goes on with the rest of what was approved.',
  [exitCodes.locked]: 'Run this job again when the other apply has ended, or give this one "--lock-timeout".',
};

function titleOf(code: ExitCode): string {
  return exitCodeMeanings.find((one) => one.code === code)?.title ?? 'ended';
}

/** The code that wants a person first. */
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

function checkUsage(paths: readonly string[], { digest, environment, record, format }: CiApplyOptions): void {
  const mistake = (message: string) => new CommandStop('usage', message);
  if ((digest === undefined) !== (environment === undefined))
    throw mistake('--digest and --environment go together: who approved the job, and for which plan');
  if (record === true && digest !== undefined)
    throw mistake('--record makes the plan that --digest names in a later job: pass one of them');
  if (paths.length < 2) return;
  if (digest !== undefined || record === true)
    throw mistake('a digest is of one stack: use one job for each stack, as in a matrix');
  if (format !== undefined && format !== 'text') throw mistake('--format is for one stack');
}

/** Its checkout is not that of the protected branch, and whoever opened it could have written it. */
function refusePullRequest({ env }: CliHost): void {
  const event = env['GITHUB_EVENT_NAME'] ?? '';
  const isPull = /^(pull_request|issue_comment|merge_group)/.test(event) || env['CI_MERGE_REQUEST_IID'];
  if (isPull)
    throw new CommandStop(
      'usage',
      'nothing was written: "trueup ci apply" runs on the protected branch after a merge, not in a job of a pull request, a comment or a merge queue',
    );
}
