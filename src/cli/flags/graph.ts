/** The arguments and flags of `trueup graph`. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  completeOption,
  type CommandEnd,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import type { PlanOptions } from '../commands/plan.ts';
import { graph } from '../commands/graph.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', `${pathHelp}; or a plan file`)
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(
      async (
        path: string | undefined,
        options: CommonOptions & Pick<PlanOptions, 'complete' | 'timeout'>,
      ) => {
        end(await graph(path, options, { host, terminal: terminalOf({ ...options, format: 'mermaid' }) }));
      },
    );
}
