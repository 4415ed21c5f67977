/**
 * Opens the store of a stack's ledger, also for commands that need only the ledger: those find the stack first, and mistakes in
 * manifests do not matter to them.
 */
import { join } from 'node:path';
import { systemClock, Waits } from '../api/transport/clock.ts';
import { stateFolderName } from '../files/write-file.ts';
import { gitLedger } from '../ledger/git/git-ledger.ts';
import type { AbortableStore, OperationSignals, StoreOperation } from '../ledger/ledger-store.ts';
import { localLedger } from '../ledger/local-ledger.ts';
import { postgresLedger } from '../ledger/postgres-ledger.ts';
import { LedgerAddressError, type StackStore } from '../model/ledger.ts';
import type { SecretSource, Stack } from '../model/stack.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { redactingStore } from './ledger-redaction.ts';
import { LedgerWaits, purposeOf, type RunOver } from './ledger-waits.ts';
import { loadManifests } from './load-manifests.ts';
import { readDatabaseAddress } from './read-secret.ts';
import { beginRun, type RunTime, type StopSignals } from './stop-signals.ts';
import { printDiagnostics, type Terminal } from './terminal.ts';

/**
 * The store must be closed. It reports long waits, and waits no longer than the run.
 * @throws SecretError when the address of the database cannot be read, LedgerAddressError when it is invalid
 */
export async function openLedger(
  stack: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  host: Pick<CliHost, 'clean' | 'env' | 'now' | 'secrets' | 'stderr'>,
  run: RunOver,
): Promise<StackStore> {
  const store = await storeOf(stack, host);
  return redactingStore(limited(store, run, host), stack.name, host.clean);
}

/** The store with a time limit for each operation, and a message when one takes long. */
function limited(
  store: AbortableStore,
  run: RunOver,
  { now, stderr }: Pick<CliHost, 'now' | 'stderr'>,
): StackStore {
  const waits = new Waits(store.place, {
    report: (message) => stderr.write(`${message}\n`),
    clock: systemClock,
  });
  const ledgerWaits = new LedgerWaits(store.place, run, now);
  const ask = <T>(operation: StoreOperation, work: (signals: OperationSignals) => Promise<T>): Promise<T> =>
    ledgerWaits.run(operation, work).finally(waits.begin(purposeOf(operation)));
  return {
    place: store.place,
    read: () => ask('read', (signals) => store.read(signals)),
    write: (ledger) => ask('write', (signals) => store.write(ledger, signals)),
    setAside: () => ask('setAside', (signals) => store.setAside(signals)),
    readLock: () => ask('readLock', (signals) => store.readLock(signals)),
    lock: (wanted, instead) => ask('lock', (signals) => store.lock(wanted, instead, signals)),
    unlock: (id) => ask('unlock', (signals) => store.unlock(id, signals)),
    keepEntries: (entries) => ask('keepEntries', (signals) => store.keepEntries(entries, signals)),
    listEntries: (limit) => ask('listEntries', (signals) => store.listEntries(limit, signals)),
    readEntries: (limit) => ask('readEntries', (signals) => store.readEntries(limit, signals)),
    showEntry: (id) => ask('showEntry', (signals) => store.showEntry(id, signals)),
    close: () => store.close(),
  };
}

async function storeOf(
  { ledger = { in: 'local' }, name, directory }: Pick<Stack, 'ledger' | 'name' | 'directory'>,
  host: Pick<CliHost, 'env' | 'secrets'>,
): Promise<AbortableStore> {
  switch (ledger.in) {
    case 'local':
      return localLedger(join(directory, ledger.folder ?? stateFolderName, `${name}.ledger.json`), name);
    case 'git':
      return gitLedger(
        { directory, env: host.env, secrets: host.secrets },
        { remote: ledger.remote, stack: name },
      );
    case 'postgres':
      return postgresLedger(await ledgerAddress(ledger.url, directory, host), name);
  }
}

/** @throws LedgerAddressError, SecretError */
async function ledgerAddress(
  source: SecretSource,
  directory: string,
  host: Pick<CliHost, 'env' | 'secrets'>,
): Promise<string> {
  const { address, problem } = await readDatabaseAddress(source, directory, {
    ...host,
    what: "the address of the ledger's database",
  });
  if (problem !== undefined) throw new LedgerAddressError(problem);
  return address;
}

// For commands that need only the ledger: finds the stack and opens its store. Mistakes in manifests do not matter.

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
