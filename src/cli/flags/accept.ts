/** The arguments and flags of `trueup accept`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';
import { accept, type AcceptOptions } from '../commands/accept.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument(
      '[address...]',
      `what to take in, as the plan names it, such as Workspace/acme/app; behind them, ${stackHelp}`,
    )
    .addOption(formatOption())
    .option(
      '--field <path>',
      'only this field, such as vcsRepo.branch; may be repeated',
      (field: string, before: readonly string[]) => [...before, field],
      [],
    )
    .option('--all', 'all that somebody changed in the targets since it was applied')
    .option('--remove', 'drop the manifests of what is gone from its target')
    .option(
      '--ack <guards>',
      'with --remove: guards that may pass, such as deletes,zero; may be repeated',
      (ids: string, before: string | undefined) => (before === undefined ? ids : `${before},${ids}`),
    )
    .option('--dry-run', 'show the patch, and write nothing')
    .option('-y, --yes', 'do not ask; needed where nobody can answer')
    .addOption(timeoutOption())
    .action(async (words: readonly string[], options: CommonOptions & AcceptOptions) => {
      end(await accept(words, options, { host, terminal: terminalOf(options) }));
    });
}
