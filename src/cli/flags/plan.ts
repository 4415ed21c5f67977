/** The arguments and flags of `trueup plan`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import type { PlanOptions } from '../commands/plan.ts';

export function addPlan(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'plan',
    'Compares manifests with what is live and shows what apply would do; writes nothing',
  )
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html', 'github'))
    .addOption(completeOption())
    .option('--calls', 'show the exact requests that apply would send')
    .addOption(timeoutOption())
    .option('--exit-code', 'exit with 2 when there are changes')
    .option('--out <file>', 'keep the plan as JSON, for "trueup apply <file>"')
    .action(async (path: string | undefined, options: CommonOptions & PlanOptions) => {
      const { plan } = await import('../commands/plan.ts');
      end(await plan(path, options, { host, terminal: terminalOf(options) }));
    });
}
