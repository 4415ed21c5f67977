/**
 * The ledger of a renamed stack under its former name (rule 44). A plan reads it; an apply locks it, imports it into the new ledger
 * and closes it.
 */
import type { Ledger, StackStore } from '../model/ledger.ts';
import type { Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { HeldLock } from './lock.ts';
import { openLedger } from './open-ledger.ts';
import type { RunTime } from './stop-signals.ts';
import { printError, type Terminal } from './terminal.ts';
import type { CliHost } from './host.ts';

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
  readonly terminal: Terminal;
  readonly time: RunTime;
  /** for runs that write */
  readonly lock?: Locking | undefined;
}

export interface Locking {
  /** @returns an exit code when the lock cannot be taken, with the reason printed */
  take(stack: Stack, store: StackStore, time: RunTime): Promise<HeldLock | ExitCode>;
  /** For a ledger that is no longer written: removes a lock that an earlier attempt of this run has left. */
  free(stack: Stack, store: StackStore): Promise<void>;
}

/**
 * @returns undefined for a stack without a former name; an exit code when the former ledger was taken over by another stack or is
 *   locked, with the reason printed
 * @throws LedgerError when it cannot be read
 */
export async function openFormerLedger(
  stack: Stack,
  { host, terminal, time, lock }: FormerContext,
): Promise<FormerLedger | ExitCode | undefined> {
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
    const refused = refuseOtherSuccessor(found, { stack, name, terminal });
    // A ledger that was imported before needs no lock: no run writes it any more.
    const isSettled = found.closedFor === stack.name && found.records.size === 0;
    if (refused === undefined && isSettled) await lock?.free({ ...stack, name }, store);
    const taken = refused ?? (isSettled ? undefined : await lock?.take({ ...stack, name }, store, time));
    if (typeof taken === 'number') {
      await close();
      return taken;
    }
    held = taken;
    if (held === undefined) return { name, ledger: found, store, close };
    const ledger = await store.read();
    const refusal = refuseOtherSuccessor(ledger, { stack, name, terminal });
    if (refusal === undefined) return { name, ledger, store, held, close };
    await close();
    return refusal;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reports an error, and returns an exit code, when another stack has taken over this former ledger. */
function refuseOtherSuccessor(
  { closedFor: successor }: Ledger,
  { stack, name, terminal }: { readonly stack: Stack; readonly name: string; readonly terminal: Terminal },
): ExitCode | undefined {
  if (successor === undefined || successor === stack.name) return undefined;
  printError(
    terminal,
    'former-ledger-taken',
    `stack ${quoted(name)} was renamed to ${quoted(successor)}, so it cannot be renamed to ${quoted(stack.name)}, too: correct metadata.renamedFrom`,
  );
  return exitCodes.conflict;
}

/** Reports an error, and returns an exit code, when the stack was renamed: nothing is planned under its old name. */
export function refuseClosed({ closedFor }: Ledger, stack: Stack, terminal: Terminal): ExitCode | undefined {
  if (closedFor === undefined || closedFor === stack.renamedFrom) return undefined;
  printError(
    terminal,
    'stack-renamed',
    `stack ${quoted(stack.name)} was renamed to ${quoted(closedFor)}, which has taken its ledger over: plan and apply that one, or give this one another name`,
  );
  return exitCodes.conflict;
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
  await former.held?.fence.pass();
  await store.keepEntries(await former.store.listEntries(Number.MAX_SAFE_INTEGER));
  const { approved: _, ...rest } = former.ledger;
  const closed = await former.store.write({ ...rest, closedFor: stack.name });
  const written = await store.write(ledger);
  await former.store.write({ ...closed, records: new Map() });
  return written;
}
