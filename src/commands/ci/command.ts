/** `trueup ci`: whole jobs of a CI pipeline, with the flags of each. */
import { type Command, Option } from 'commander';
import {
  addExamples,
  addHostOptions,
  addPlaceOptions,
  command,
  type CommandEnd,
  formatOption,
  parseDigest,
  parseTimeout,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { ciApply, type CiApplyOptions } from './apply.ts';
import { ciPlan, type CiPlanOptions } from './plan.ts';

export function defineCommand(ci: Command, host: CliHost, ends: CommandEnd): void {
  addExamples(
    ci,
    ['trueup ci plan --out-dir plans', 'in the job of a pull request'],
    ['trueup ci apply', 'in the job of the protected branch: each stack that changed'],
  );
  definePlan(
    command(ci, 'plan', 'In a pull request: plans the stacks that it changes, and reports them'),
    host,
    ends,
  );
  defineApply(
    command(ci, 'apply', 'On the protected branch: applies what was approved since the last apply'),
    host,
    ends,
  );
}

function definePlan(plan: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  plan
    .argument('[path...]', 'stacks to plan, by their folder or file (default: those that the commits change)')
    .option('--all', 'plan all stacks of the repository')
    .option('--list', 'print the stacks that would be planned, and plan nothing')
    .option('--base <commit>', 'the commit or branch to compare with (default: that of the CI job)')
    .option(
      '--out-dir <folder>',
      'write a plan file for each stack, and "plans.json" with their digests, to a folder that git ignores if it is new',
    )
    .option('--sarif <file>', 'write the problems as SARIF, for code scanning')
    .option('--no-comment', 'post no comment')
    .option('--must-post', 'fail if the comment cannot be posted, instead of only saying so')
    .option('--author <name>', 'the account that writes our comments (default: that of the token)')
    .option(
      '--trust-author',
      'trust the author of the changes, in a job that does not show whether the author may write to the repository',
    )
    .addOption(
      new Option('--format <format>', 'how --list prints the stacks')
        .choices(['text', 'json'])
        .default('text'),
    );
  addPlaceOptions(plan)
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (paths: readonly string[], options: CiPlanOptions) => {
      end(await ciPlan(paths, options, { host, terminal: terminalOf(options.list ? options : {}) }));
    });
  addExamples(
    plan,
    ['trueup ci plan --out-dir plans', 'in a job of a pull request: plan what it changes, and comment'],
    ['trueup ci plan --list --format json', 'the stacks, for a matrix of jobs'],
    ['trueup ci plan stacks/payments', 'plan one stack of the matrix'],
    ['trueup ci plan --all', 'plan every stack of the repository'],
    ['trueup ci plan --base origin/main', 'in a CI that trueup does not know'],
  );
}

function defineApply(apply: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  apply
    .argument(
      '[path...]',
      'stacks, as directories or stack files (default: those whose files differ from their last apply)',
    )
    .addOption(formatOption('github'))
    .option('--list', 'print the stacks that would be applied, and apply nothing')
    .option(
      '--record',
      'plan, keep the digest for this CI run, and apply nothing: for the job before one that waits for an environment',
    )
    .option('--digest <digest>', 'with --environment: the plan that the job before has recorded', parseDigest)
    .option('--environment <name>', 'the environment whose reviewers have approved this job')
    .option('--branch <name>', 'the protected branch (default: that of the CI job)')
    .option(
      '--remote <name>',
      'the remote of the repository, which keeps signed approvals, as "trueup approve --remote" names it',
      'origin',
    )
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of a stack, such as 5m',
      parseTimeout,
    );
  addHostOptions(apply)
    .option('--author <name>', 'the account whose comments show plans (default: that of the token)')
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (paths: readonly string[], options: CiApplyOptions) => {
      end(await ciApply(paths, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    apply,
    ['trueup ci apply', 'in a job on the protected branch: apply what was approved, of every stack'],
    ['trueup ci apply --list --format json', 'the stacks, for a matrix of jobs'],
    ['trueup ci apply stacks/pay stacks/web --lock-timeout 10m', 'these two, one after the other'],
    ['trueup ci apply --record', 'plan for the reviewers of an environment'],
  );
}
