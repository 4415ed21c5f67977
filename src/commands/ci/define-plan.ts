/** The flags of `trueup ci plan`. */
import { type Command, Option } from 'commander';
import {
  addExamples,
  addPlaceOptions,
  type CommandEnd,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { ciPlan, type CiPlanOptions } from './plan.ts';

export function definePlan(plan: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
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
    .option('--must-post', 'fail where the comment cannot be posted, and not only say so')
    .option('--author <name>', 'the account that writes our comments (default: that of the token)')
    .option(
      '--trust-author',
      'the author of the changes may write to the repository; without a CI job that says who it is',
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
