/** The arguments and flags of `trueup history`; the command itself is loaded when it is called. */
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
import type { ShowOptions } from '../commands/history.ts';

interface TimeoutOption {
  /** seconds */
  readonly timeout?: number;
}

export function addHistory(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const history = command(
    program,
    'history',
    'Lists what was applied, newest first; "history show <id>" tells one',
  )
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .option('--limit <number>', 'how many', parseCount, 20)
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions & TimeoutOption & { limit: number }) => {
      const { history: list } = await import('../commands/history.ts');
      end(await list(path, options, { host, terminal: terminalOf(options), timeout: options.timeout }));
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
      const { showHistory } = await import('../commands/history.ts');
      const context = { host, terminal: terminalOf(options), timeout: options.timeout };
      end(await showHistory(id, path, { ...options, context }));
    });
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a number from 1 on');
  return count;
}
