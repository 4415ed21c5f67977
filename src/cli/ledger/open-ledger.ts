/** Opens the store of a stack's ledger. Nothing is read or written yet, except the source of a database address. */
import { join } from 'node:path';
import { systemClock } from '../../http/transport/clock.ts';
import { Waits } from '../../http/transport/waits.ts';
import type { AbortableStore, OperationSignals, StoreOperation } from '../../ledger/abortable-store.ts';
import { gitLedger } from '../../ledger/git/git-ledger.ts';
import { localLedger } from '../../ledger/local/local-ledger.ts';
import { postgresLedger } from '../../ledger/postgres/postgres-ledger.ts';

import { stateFolderName } from '../../ledger/local/state-folder.ts';
import { LedgerAddressError, type StackStore } from '../../model/stack/ledger.ts';
import type { SecretSource, Stack } from '../../model/stack/target.ts';
import { redactingStore } from '../redacting-store.ts';
import { LedgerWaits, purposeOf, type RunOver } from './ledger-waits.ts';
import { readDatabaseAddress } from '../run/database-address.ts';
import type { CliHost } from '../cli-host.ts';

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
