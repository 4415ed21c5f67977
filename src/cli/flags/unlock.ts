/** The arguments and flags of `trueup unlock`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, type CommandEnd, stackHelp, timeoutOption } from '../command-options.ts';
import { unlock, type UnlockOptions } from '../commands/unlock.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .requiredOption('--id <id>', 'which lock: its id stands in the message of the apply that was refused')
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & UnlockOptions) => {
      end(await unlock(path, options, { host, terminal: terminalOf(options) }));
    });
}
