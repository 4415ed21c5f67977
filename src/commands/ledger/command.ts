/**
 * `trueup ledger`: shows, moves and prunes the ledger of a stack. `show` is here. It only reads: it takes no lock and sends nothing to
 * a target.
 */
import type { Command } from 'commander';
import { type Ledger, LedgerError } from '../../model/ledger.ts';
import { unrecordedCreations } from '../../run/open-entries.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { refuseElsewhere } from '../../run/find-ledger.ts';
import type { CliHost } from '../../run/host.ts';
import { type StackLedger, withStackLedger } from '../../run/open-ledger.ts';
import { listenForEnd } from '../../run/stop-signals.ts';
import { type CommandContext, printError, printJson, type Terminal } from '../../run/terminal.ts';
import { defineMove } from './move.ts';
import { definePrune } from './prune.ts';
import { type LedgerSummary, renderSummary, renderSummaryJson } from './render.ts';

export function defineCommand(ledger: Command, host: CliHost, ends: CommandEnd): void {
  const { end, terminalOf } = ends;
  const show = command(ledger, 'show', 'Summarizes the ledger of a stack; takes no lock and writes nothing');
  show
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      end(await showLedger(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(ledger, ['trueup ledger show', 'a summary of the ledger of the stack in this directory']);
  addExamples(
    show,
    ['trueup ledger show', 'the stack in this directory'],
    ['trueup ledger show stacks/payments --format json', 'another stack, for a script'],
  );
  defineMove(ledger, host, ends);
  definePrune(ledger, host, ends);
}

async function showLedger(
  path: string | undefined,
  { timeout }: CommonOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const about = { host, timeout, stops: listenForEnd(host) };
  return withStackLedger(path, about, async (opened) => {
    const { stack, store, time } = opened;
    const ledger = await store.read();
    await refuseElsewhere(ledger, { stack, host, time }, exitCodes.error);
    const begun = await readBegun(opened, ledger, terminal);
    const lock = await store.readLock();
    const summary: LedgerSummary = { stack: stack.name, place: store.place, ledger, begun, lock };
    if (terminal.format === 'json') printJson(terminal, (reported) => renderSummaryJson(summary, reported));
    else host.stdout.write(`${renderSummary(summary, terminal)}\n`);
    return begun === undefined ? exitCodes.error : exitCodes.done;
  });
}

/** Undefined when the history cannot be read, which is reported: the ledger itself can still be shown. */
async function readBegun(
  { stack, store }: StackLedger,
  ledger: Ledger,
  terminal: Terminal,
): Promise<LedgerSummary['begun']> {
  try {
    return await unrecordedCreations(store, { stack, ledger });
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    printError(terminal, 'history-damaged', error.message);
    return undefined;
  }
}
