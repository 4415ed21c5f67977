/** The arguments and flags of `trueup validate`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import { validate, type ValidateOptions } from '../commands/validate.ts';
import {
  type CommonOptions,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';

export function defineCommand(command: Command, _: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'github', 'sarif'))
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & ValidateOptions) => {
      end(await validate(path, options, terminalOf(options)));
    });
}
