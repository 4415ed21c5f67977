/** The arguments and flags of `trueup drift`; the command itself is loaded when it is called. */
import { type Command, Option } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeParser,
  timeoutOption,
} from '../command-options.ts';
import type { DriftOptions } from '../commands/drift.ts';

export function addDrift(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'drift',
    'Tells what somebody changed in the targets since the last apply; exits with 3 when there is something',
  )
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
      const { drift } = await import('../commands/drift.ts');
      end(await drift(path, options, { host, terminal: terminalOf(options) }));
    });
}
