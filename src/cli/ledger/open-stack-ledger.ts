/** For commands about the ledger alone: finds the stack and opens its store. Mistakes in manifests are none of theirs. */
import type { StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { openLedger } from './open-ledger.ts';
import { printDiagnostics, type Terminal } from '../terminal/terminal.ts';
import type { Stops } from '../stop/stop-signals.ts';
import { beginRun, type RunTime } from '../run/run-time.ts';
import type { CliHost } from '../cli-host.ts';

export interface StackLedger {
  readonly stack: Stack;
  readonly store: StackStore;
  readonly time: RunTime;
}

export interface StackLedgerOptions {
  readonly host: CliHost;
  readonly terminal: Terminal;
  /** seconds that the run may take, in place of what the stack says */
  readonly timeout?: number | undefined;
  readonly stops: Omit<Stops, 'cut'>;
}

/** The exit code of what is done with the ledger; without a valid stack another one, and everything has been told then. */
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
    time = beginRun({ stack, began }, stops);
    store = await openLedger(stack, host, time);
    return await work({ stack, store, time });
  } finally {
    await store?.close();
    time?.deadline.clear();
    stops.forget();
  }
}
