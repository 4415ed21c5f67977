/** The arguments and flags of `trueup history`. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../command-options.ts';
import { listHistory, type ShowOptions, showHistory } from '../commands/history.ts';

interface TimeoutOption {
  /** seconds */
  readonly timeout?: number;
}

export function defineCommand(history: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  history
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--limit <number>', 'how many', parseCount, 20)
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & TimeoutOption & { limit: number }) => {
      end(
        await listHistory(path, options, { host, terminal: terminalOf(options), timeout: options.timeout }),
      );
    });
  command(history, 'show', 'Tells one apply: who, when, from which commit, each change before and after')
    .argument('<id>', 'as "trueup history" lists it')
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--revert', 'print what to write into the manifests to take it back')
    .option('--write', 'with --revert: write it into the manifests, in place')
    .option('--dry-run', 'with --write: show the patch, and write nothing')
    .option('-y, --yes', 'with --write: do not ask; needed where nobody can answer')
    .addOption(timeoutOption())
    .action(async (id: string, path: string | undefined, _: unknown, show: Command) => {
      // Options that "history" has, too, are stored there, wherever they are on the command line.
      const options: CommonOptions & TimeoutOption & ShowOptions = show.optsWithGlobals();
      const context = { host, terminal: terminalOf(options), timeout: options.timeout };
      end(await showHistory(id, path, { ...options, context }));
    });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a number from 1 on');
  return count;
}
