/**
 * `trueup recover [path]`: arguments and flags. The ledger is rebuilt or, with `--moved`, corrected for a target whose address
 * changed.
 */
import type { Command } from 'commander';
import {
  addExamples,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { withStackLedger } from '../../run/open-ledger.ts';
import { listenForSignals } from '../../run/stop-signals.ts';
import { printWarnings } from '../../run/terminal.ts';
import { recoverMoved } from './moved-target.ts';
import { recover } from './rebuild.ts';
import type { RecoverOptions } from './recover-run.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option(
      '--adopt-repository',
      'this repository continues the one that the ledger or the ownership tags belong to',
    )
    .option('--moved <target>', 'a target is another place now: keep of the ledger what the new place proves')
    .action(async (path: string | undefined, options: RecoverOptions) => {
      const terminal = terminalOf(options);
      const about = { host, stops: listenForSignals(host), timeout: options.timeout, ignoresMistakes: false };
      const work = options.moved === undefined ? recover : recoverMoved;
      end(
        await withStackLedger(path, about, (opened) => {
          printWarnings(terminal, opened.diagnostics);
          return work({ ...opened, host, terminal, path, options });
        }),
      );
    });
  addExamples(
    command,
    ['trueup recover', 'show the rebuilt ledger, and ask before it is written'],
    ['trueup recover --yes --format json', 'write it without a question, and print what it has as JSON'],
    ['trueup recover --adopt-repository', 'continue, in this repository, a stack of another one'],
  );
}
