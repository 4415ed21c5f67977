/** The arguments and flags of `trueup accept`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';
import type { AcceptOptions } from '../commands/accept.ts';

export function addAccept(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'accept',
    'Writes live values into the manifests, in place, so that nothing is left to plan for them',
  )
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
      const { accept } = await import('../commands/accept.ts');
      end(await accept(words, options, { host, terminal: terminalOf(options) }));
    });
}
