/** The arguments and flags of `trueup schema`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { type CommonOptions, command, type CommandEnd } from '../command-options.ts';

export function addSchema(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'schema',
    'Prints the JSON Schema of a kind, of the Stack, of any Manifest, or of what a command prints as JSON, such as a Plan; without a name lists them',
  )
    .argument('[kind]', 'for example Workspace')
    .action(async (kind: string | undefined, options: CommonOptions) => {
      const { schema } = await import('../commands/schema.ts');
      end(schema(kind, host, terminalOf(options)));
    });
}
