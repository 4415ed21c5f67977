/** The arguments and flags of `trueup schema`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import type { CommonOptions, CommandEnd } from '../command-options.ts';
import { schema } from '../commands/schema.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[kind]', 'for example Workspace')
    .action(async (kind: string | undefined, options: CommonOptions) => {
      end(schema(kind, host, terminalOf(options)));
    });
}
