/** The arguments and flags of `trueup graph`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  pathHelp,
  timeoutOption,
} from '../command-options.ts';
import type { PlanOptions } from '../commands/plan.ts';

export function addGraph(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'graph', 'Draws which change of a plan waits for which, as Mermaid; writes nothing')
    .argument('[path]', `${pathHelp}; or a plan file`)
    .addOption(completeOption())
    .addOption(timeoutOption())
    .action(
      async (
        path: string | undefined,
        options: CommonOptions & Pick<PlanOptions, 'complete' | 'timeout'>,
      ) => {
        const { graph } = await import('../commands/graph.ts');
        end(await graph(path, options, { host, terminal: terminalOf({ ...options, format: 'mermaid' }) }));
      },
    );
}
