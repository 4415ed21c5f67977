/** The arguments and flags of `trueup unlock`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';
import type { UnlockOptions } from '../commands/unlock.ts';

export function addUnlock(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'unlock', 'Takes away the lock of a stack whose apply is over but could not give it back')
    .argument('[path]', stackHelp)
    .requiredOption('--id <id>', 'which lock: its id stands in the message of the apply that was refused')
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & UnlockOptions) => {
      const { unlock } = await import('../commands/unlock.ts');
      end(await unlock(path, options, { host, terminal: terminalOf(options) }));
    });
}
