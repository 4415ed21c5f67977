/** The arguments and flags of `trueup validate`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { ValidateOptions } from '../commands/validate.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';

export function addValidate(program: Command, { end, terminalOf }: CommandEnd): void {
  command(program, 'validate', 'Checks every manifest, offline, and reports every problem')
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'github', 'sarif'))
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & ValidateOptions) => {
      const { validate } = await import('../commands/validate.ts');
      end(await validate(path, options, terminalOf(options)));
    });
}
