/**
 * `trueup recover [path]`: arguments and flags. The ledger is rebuilt or, with `--moved`, corrected for a target whose address
 * changed.
 */
import type { Command } from 'commander';
import type { CliHost } from '../../run/host.ts';
import { type CommonOptions, type CommandEnd, stackHelp, timeoutOption } from '../../run/command-options.ts';
import { recoverMoved } from './moved-target.ts';
import { recover } from './rebuild.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .addOption(timeoutOption())
    .option('-y, --yes', 'do not ask; needed where nobody can answer')
    .option(
      '--adopt-repository',
      'this repository continues the one that the ledger or the ownership tags belong to',
    )
    .option('--moved <target>', 'a target is another place now: keep of the ledger what the new place proves')
    .action(
      async (
        path: string | undefined,
        options: CommonOptions & {
          yes?: boolean;
          moved?: string;
          adoptRepository?: boolean;
          timeout?: number;
        },
      ) => {
        const context = { host, terminal: terminalOf(options) };
        const { moved, ...rest } = options;
        if (moved !== undefined) {
          return end(await recoverMoved(path, { ...rest, moved }, context));
        }
        end(await recover(path, rest, context));
      },
    );
}
