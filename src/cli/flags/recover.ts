/** The arguments and flags of `trueup recover`; the command itself is loaded when it is called. */
import type { Command } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';

export function addRecover(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'recover',
    'Rebuilds a lost or damaged ledger from the targets and the manifests; shows it and what follows from it, and asks',
  )
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
          const { recoverMoved } = await import('../recover/recover-moved.ts');
          return end(await recoverMoved(path, { ...rest, moved }, context));
        }
        const { recover } = await import('../recover/recover.ts');
        end(await recover(path, rest, context));
      },
    );
}
