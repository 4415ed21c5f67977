/** For commands that need only the ledger: finds the stack and opens its store. Mistakes in manifests do not matter. */
import type { StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { openLedger } from './open-ledger.ts';
import { printDiagnostics, type Terminal } from '../terminal/terminal.ts';
import type { StopSignals } from '../stop/stop-signals.ts';
import { beginRun, type RunTime } from '../run/run-time.ts';
import type { CliHost } from '../cli-host.ts';

interface StackLedger {
  readonly stack: Stack;
  readonly store: StackStore;
  readonly time: RunTime;
}

interface StackLedgerOptions {
  readonly host: CliHost;
  readonly terminal: Terminal;
  /** seconds that the run may take; overrides the stack's timeout */
  readonly timeout?: number | undefined;
  readonly stops: Omit<StopSignals, 'cut'>;
}

/** Runs `work` with the opened ledger and returns its exit code; without a valid stack, prints its problems and returns theirs. */
export async function withStackLedger(
  path: string | undefined,
  { host, terminal, timeout, stops }: StackLedgerOptions,
  work: (opened: StackLedger) => Promise<ExitCode>,
): Promise<ExitCode> {
  let store: StackStore | undefined;
  let time: RunTime | undefined;
  try {
    const { stack, diagnostics, began } = await loadManifests(path, host, { timeout, over: stops.over });
    if (stack === undefined) {
      printDiagnostics(terminal, diagnostics);
      return exitCodeOf(diagnostics) || exitCodes.error;
    }
    time = beginRun({ stack, began }, stops, host);
    store = await openLedger(stack, host, time);
    return await work({ stack, store, time });
  } finally {
    await store?.close();
    time?.deadline.clear();
    stops.dispose();
  }
}
