/**
 * Opens the store of a stack's ledger, also for commands that need only the ledger: those load the stack first, and ignore mistakes
 * in manifests.
 */
import { join } from 'node:path';
import { systemClock, Waits } from '../api/transport/clock.ts';
import { stateFolderName } from '../files/write-file.ts';
import { gitLedger } from '../ledger/git/git-ledger.ts';
import type { AbortableStore, OperationSignals, StoreOperation } from '../ledger/ledger-store.ts';
import { localLedger } from '../ledger/local-ledger.ts';
import { postgresLedger } from '../ledger/postgres-ledger.ts';
import { type Ledger, LedgerAddressError, type StackStore } from '../model/ledger.ts';
import type { LedgerPlace, SecretSource, Stack } from '../model/stack.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { redactingStore } from './ledger-redaction.ts';
import { LedgerWaits, purposeOf } from './ledger-waits.ts';
import { refuseMoved, type StackOfLedger } from './moved-ledger.ts';
import { type StackRun, type StackRunOptions, withStack } from './load-manifests.ts';
import { readDatabaseAddress } from './read-secret.ts';
import type { RunSignals, RunTime } from './stop-signals.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from './command-stop.ts';
import type { HeldLock, Locking } from './lock.ts';

type LedgerHost = Pick<CliHost, 'clean' | 'env' | 'now' | 'secrets' | 'stderr' | 'fleet'>;

/**
 * Opens a store that reports long waits, waits no longer than the run, and refuses a ledger that was moved away. The caller closes it.
 * @throws CommandStop when the address of the database cannot be read, LedgerAddressError when it is invalid
 */
export async function openLedger(
  stack: StackOfLedger,
  host: LedgerHost,
  run: RunSignals,
): Promise<StackStore> {
  if (host.fleet !== undefined && (stack.ledger === undefined || stack.ledger.in === 'local'))
    throw new CommandStop(
      'fleet-ledger',
      `stack ${quoted(stack.name)} keeps its ledger in a local file, which no other machine has: set "spec.ledger" to git or postgres`,
      { exit: exitCodes.invalid },
    );
  const store = await openAnyLedger(stack, host, run);
  return refuseMoved(store, stack, (place) => openAnyLedger({ ...stack, ledger: place }, host, run));
}

/** Like `openLedger`, but also for a ledger that was moved away: to move it, or to remove a lock. */
export async function openAnyLedger(
  stack: StackOfLedger,
  host: LedgerHost,
  run: RunSignals,
): Promise<StackStore> {
  const store = await storeOf(stack, host);
  return redactingStore(limited(store, run, host), stack.name, host.secrets);
}

/** The store with a time limit for each operation, and a message when one takes long. */
function limited(
  store: AbortableStore,
  run: RunSignals,
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
    whyUnwritable: () => ask('whyUnwritable', (signals) => store.whyUnwritable(signals)),
    write: (ledger) => ask('write', (signals) => store.write(ledger, signals)),
    setAside: () => ask('setAside', (signals) => store.setAside(signals)),
    readLock: () => ask('readLock', (signals) => store.readLock(signals)),
    lock: (wanted, instead) => ask('lock', (signals) => store.lock(wanted, instead, signals)),
    unlock: (id) => ask('unlock', (signals) => store.unlock(id, signals)),
    keepEntries: (entries) => ask('keepEntries', (signals) => store.keepEntries(entries, signals)),
    listEntries: (limit) => ask('listEntries', (signals) => store.listEntries(limit, signals)),
    readEntries: (limit, skipped) =>
      ask('readEntries', (signals) => store.readEntries(limit, skipped, signals)),
    newestEntryId: () => ask('newestEntryId', (signals) => store.newestEntryId(signals)),
    showEntry: (id) => ask('showEntry', (signals) => store.showEntry(id, signals)),
    removeEntries: (ids) => ask('removeEntries', (signals) => store.removeEntries(ids, signals)),
    close: () => store.close(),
  };
}

async function storeOf(
  { ledger = { in: 'local' }, name, directory }: StackOfLedger,
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

/** @throws LedgerAddressError, CommandStop */
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

// For commands about the ledger.

export interface StackLedger extends StackRun {
  readonly store: StackStore;
}

interface LedgerOptions {
  /** opens also a ledger that was moved away */
  readonly isAnyLedger?: boolean;
  /** the place of the ledger, if not the one that the stack names */
  readonly place?: LedgerPlace | undefined;
}

/** The same as `withStack`, with the opened ledger. Mistakes in manifests do not matter, unless the options say so. */
export function withStackLedger(
  path: string | undefined,
  { host, isAnyLedger = false, place, ...options }: StackRunOptions & LedgerOptions,
  work: (opened: StackLedger) => Promise<ExitCode>,
): Promise<ExitCode> {
  const open = isAnyLedger ? openAnyLedger : openLedger;
  return withStack(path, { ignoresMistakes: true, ...options, host }, async (run) => {
    const stack = place === undefined ? run.stack : { ...run.stack, ledger: place };
    const store = await open(stack, host, run.time);
    try {
      return await work({ ...run, stack, store });
    } finally {
      await store.close();
    }
  });
}

// The ledger of a renamed stack under its former name. A plan reads it; an apply locks it, imports it into the new ledger
// and closes it.

export interface FormerLedger {
  readonly name: string;
  readonly ledger: Ledger;
  readonly store: StackStore;
  /** absent in runs that do not write, or when nothing is left to import */
  readonly held?: HeldLock | undefined;
  /** Releases the lock, if one was taken, and closes the store. @returns false when this run had lost the lock */
  close(): Promise<boolean>;
}

export interface FormerContext {
  readonly host: CliHost;
  readonly time: RunTime;
  /** takes and frees the lock; absent in runs that do not write */
  readonly lock?: Locking | undefined;
}

/**
 * Opens the ledger of the stack's former name.
 * @returns undefined for a stack without a former name
 * @throws CommandStop when another stack has taken the former ledger over, or it is locked; LedgerError when it cannot be read
 */
export async function openFormerLedger(
  stack: Stack,
  { host, time, lock }: FormerContext,
): Promise<FormerLedger | undefined> {
  const { renamedFrom: name } = stack;
  if (name === undefined) return undefined;
  const store = await openLedger({ ...stack, name }, host, time);
  let held: HeldLock | undefined;
  const close = async () => {
    try {
      return (await held?.release()) ?? true;
    } finally {
      await store.close();
    }
  };
  try {
    const found = await store.read();
    refuseOtherSuccessor(found, stack, name);
    // A ledger that was imported before needs no lock: no run writes it any more.
    const isImported = found.closedFor === stack.name && found.records.size === 0;
    if (isImported) await lock?.free({ ...stack, name }, store);
    else held = await lock?.take({ ...stack, name }, store, time);
    if (held === undefined) return { name, ledger: found, store, close };
    const ledger = await store.read();
    refuseOtherSuccessor(ledger, stack, name);
    return { name, ledger, store, held, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws CommandStop when another stack has taken over this former ledger */
function refuseOtherSuccessor({ closedFor: successor }: Ledger, stack: Stack, name: string): void {
  if (successor === undefined || successor === stack.name) return;
  throw new CommandStop(
    'former-ledger-taken',
    `stack ${quoted(name)} was renamed to ${quoted(successor)}, so it cannot be renamed to ${quoted(stack.name)}, too: correct metadata.renamedFrom`,
    { exit: exitCodes.conflict },
  );
}

/** @throws CommandStop when the stack was renamed: nothing is planned under its old name */
export function refuseClosed({ closedFor }: Ledger, stack: Stack): void {
  if (closedFor === undefined || closedFor === stack.renamedFrom) return;
  throw new CommandStop(
    'stack-renamed',
    `stack ${quoted(stack.name)} was renamed to ${quoted(closedFor)}, which has taken over its ledger: plan and apply that one. To rename it back, write ${quoted(`renamedFrom: ${closedFor}`)} into the "metadata" of this stack; if this is another stack, give it another name`,
    { exit: exitCodes.conflict },
  );
}

/** Whether the former ledger has not been imported completely. */
export function isPending({ ledger: { known, closedFor, records } }: FormerLedger): boolean {
  return known && (closedFor === undefined || records.size > 0);
}

/**
 * Imports ledger and history before anything is sent to a target. The former ledger is closed first, with its records: from then on
 * no run writes it, and an import that was interrupted can be repeated. Its records are removed last.
 * @param former must be pending
 * @param ledger the new ledger of the stack, with the imported records
 * @throws LedgerError, or when the lock of the former stack was lost
 */
export async function importFormerLedger(
  former: FormerLedger,
  { stack, store, ledger }: { readonly stack: Stack; readonly store: StackStore; readonly ledger: Ledger },
): Promise<Ledger> {
  await former.held?.lockGuard.pass();
  await store.keepEntries(await former.store.listEntries(Number.MAX_SAFE_INTEGER));
  const { approved: _, ...rest } = former.ledger;
  const closed = await former.store.write({ ...rest, closedFor: stack.name });
  const written = await store.write(ledger);
  await former.store.write({ ...closed, records: new Map() });
  return written;
}
