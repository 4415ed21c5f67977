/** The arguments and flags of `trueup show`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, type CommandEnd, formatOption } from '../command-options.ts';
import { show } from '../commands/show.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('<plan>', 'a plan file')
    .addOption(formatOption('markdown', 'html'))
    .option('--calls', 'show the exact requests in the plan')
    .action(async (file: string, options: CommonOptions & { calls?: boolean }) => {
      end(await show(file, options, { host, terminal: terminalOf(options) }));
    });
}
