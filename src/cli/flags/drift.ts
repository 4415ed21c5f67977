/** The arguments and flags of `trueup drift`. */
import { type Command, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeParser,
  timeoutOption,
} from '../command-options.ts';
import { drift, type DriftOptions } from '../commands/drift.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown'))
    .addOption(completeOption())
    .addOption(timeoutOption())
    .option(
      '--unmanaged',
      'also fields that no manifest mentions and that somebody changed since the last apply',
    )
    .addOption(
      new Option(
        '--since <time>',
        'read the audit trail no further back: 7d, or a time such as 2026-11-20T08:00:00Z (default: to the last apply)',
      ).argParser(timeParser(host)),
    )
    .action(async (path: string | undefined, options: CommonOptions & DriftOptions) => {
      end(await drift(path, options, { host, terminal: terminalOf(options) }));
    });
}
