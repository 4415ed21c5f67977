/** The arguments and flags of `trueup diff`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, type CommandEnd, formatOption } from '../command-options.ts';
import { diff } from '../commands/diff.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('<plan>', 'a plan file')
    .argument('<other>', 'another one')
    .addOption(formatOption())
    .action(async (one: string, other: string, options: CommonOptions) => {
      end(await diff({ one, other }, { host, terminal: terminalOf(options) }));
    });
}
