/** `trueup history [path]` and `trueup history show ID [path]`: what was applied, by whom, and how to revert it. */
import type { CommandContext } from '../command-context.ts';
import { type HistoryEntry, LedgerError } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { renderEntryJson, renderHistoryJson } from '../../report/json/history-json.ts';
import { renderEntry, renderHistory } from '../../report/terminal/history-text.ts';
import { renderRevert } from '../../report/terminal/revert-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { listenForEnd } from '../stop/stop-signals.ts';
import { withStackLedger } from '../ledger/open-stack-ledger.ts';
import { printError, printJson, type Terminal } from '../terminal/terminal.ts';

interface HistoryContext extends CommandContext {
  /** seconds that the run may take */
  readonly timeout?: number | undefined;
}

export async function listHistory(
  path: string | undefined,
  { limit }: { readonly limit: number },
  context: HistoryContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  return withStackLedger(path, { ...context, stops: listenForEnd(host) }, async ({ stack, store }) => {
    const found = await store.readEntries(limit);
    const entries = found.flatMap((entry) => (entry instanceof LedgerError ? [] : [entry]));
    const damaged = found.flatMap((entry) => (entry instanceof LedgerError ? [entry] : []));
    if (terminal.format === 'json') {
      const about = { stack: stack.name, entries, damaged: damaged.map(({ message }) => message) };
      printJson(terminal, (reported) => renderHistoryJson(about, reported));
    } else {
      // When all entries are damaged, "nothing was applied" would be wrong.
      if (entries.length > 0 || damaged.length === 0)
        host.stdout.write(`${renderHistory(entries, { paint: terminal.paint })}\n`);
      for (const { message } of damaged) printError(terminal, 'history-damaged', message);
    }
    return damaged.length === 0 ? exitCodes.done : exitCodes.error;
  });
}

export interface ShowOptions {
  /** prints, instead of the apply, the changes of manifests that revert it */
  readonly revert?: boolean;
  /** with `revert`: writes them, into the manifests in place */
  readonly write?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function showHistory(
  id: string,
  path: string | undefined,
  { revert, context, ...options }: ShowOptions & { readonly context: HistoryContext },
): Promise<ExitCode> {
  const { host, terminal } = context;
  const writes = options.write === true;
  if (writes && !revert) {
    printError(terminal, 'usage', '--write writes what --revert takes back: pass both');
    return exitCodes.error;
  }
  const stops = listenForEnd(host);
  return withStackLedger(path, { ...context, stops }, async ({ stack, store }) => {
    const outlives = (name: string) => {
      const ownership = host.kinds.get(name)?.ownership;
      return ownership?.by === 'ledger' && ownership.undeclared !== 'delete';
    };
    const entry = await store.showEntry(id);
    if (entry === undefined) {
      printError(
        terminal,
        'unknown-apply',
        `the history of stack ${quoted(stack.name)} has no apply ${quoted(id)}: see "trueup history"`,
      );
      return exitCodes.error;
    }
    if (writes) {
      const { writeRevert } = await import('../accept/write-revert.ts');
      return writeRevert(entry, { ...options, path, stack, stop: stops.stop, host, terminal });
    }
    if (terminal.format === 'json' && !revert)
      printJson(terminal, (reported) => renderEntryJson(entry, reported));
    else host.stdout.write(`${revert ? renderRevert(entry, { outlives }) : show(entry, terminal)}\n`);
    return exitCodes.done;
  });
}

function show(entry: HistoryEntry, { paint, width }: Terminal): string {
  return renderEntry(entry, { paint, ...(width === undefined ? {} : { width }) });
}
