/** The flags of `trueup ci apply`. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  addExamples,
  addHostOptions,
  type CommandEnd,
  formatOption,
  parseTimeout,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { ciApply, type CiApplyOptions } from './apply.ts';

export function defineApply(apply: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
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

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}
