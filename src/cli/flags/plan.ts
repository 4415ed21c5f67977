/** The arguments and flags of `trueup plan`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import { plan, type PlanOptions } from '../commands/plan.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html', 'github'))
    .addOption(completeOption())
    .option('--calls', 'show the exact requests that apply would send')
    .addOption(timeoutOption())
    .option('--exit-code', 'exit with 2 when there are changes')
    .option('--out <file>', 'keep the plan as JSON, for "trueup apply <file>"')
    .action(async (path: string | undefined, options: CommonOptions & PlanOptions) => {
      end(await plan(path, options, { host, terminal: terminalOf(options) }));
    });
}
