/** The arguments and flags of `trueup comment`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, type CommandEnd, timeoutOption } from '../command-options.ts';
import { comment, type CommentOptions } from '../commands/comment.ts';
import { codeHosts } from './review-place.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .option('--plan <file>', 'the plan, as "plan --out" keeps it')
    .addOption(new Option('--service <name>', 'default: that of the CI job').choices(codeHosts))
    .option('--url <url>', 'the address of its API (default: GITHUB_API_URL or CI_API_V4_URL)')
    .option('--repository <owner/name>', 'on GitHub (default: GITHUB_REPOSITORY)')
    .option('--project <id>', 'on GitLab, an id or a path (default: that of the merge request)')
    .addOption(
      new Option(
        '--number <number>',
        'of the pull request or merge request (default: that of the CI job)',
      ).argParser(parseNumber),
    )
    .option(
      '--commit <sha>',
      'the commit that was planned, for a plan file that does not tell it; with --outdated, the one that is planned now',
    )
    .option(
      '--token-env <variable>',
      'the environment variable that holds the token (default: GITHUB_TOKEN or GITLAB_TOKEN)',
    )
    .option(
      '--author <name>',
      'the account that writes our comments (default: that of the token; for an app, see docs/reports.md)',
    )
    .option(
      '--outdated',
      'mark the comment that is there as out of date, and post nothing; needs --stack or --plan',
    )
    .option('--stack <name>', 'with --outdated: the stack whose comment it is')
    .option('--always', 'create a comment also for a plan without changes')
    .option('--must-post', 'fail where the token may not write, such as in a fork, and not only print')
    .option('--dry-run', 'print the comment, and send nothing')
    .addOption(
      timeoutOption('how long the run may take, waits for the limit of the rate included (default: 10m)'),
    )
    .action(async (options: CommonOptions & CommentOptions) => {
      end(await comment(options, { host, terminal: terminalOf(options) }));
    });
}

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('a number such as 12');
  return Number(text);
}
