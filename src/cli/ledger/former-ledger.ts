/**
 * The ledger that a renamed stack had under its former name (rule 44): read for a plan; locked, brought along and closed
 * by an apply.
 */
import type { Ledger, StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { HeldLock } from './hold-lock.ts';
import { openLedger } from './open-ledger.ts';
import type { RunTime } from '../run/run-time.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import type { CliHost } from '../cli-host.ts';

export interface FormerLedger {
  readonly name: string;
  readonly ledger: Ledger;
  readonly store: StackStore;
  /** absent where nobody is going to write, or where nothing is left to come along */
  readonly held?: HeldLock | undefined;
  /** Gives its lock back where one was taken, and closes its store. @returns false when that was this run's no more */
  close(): Promise<boolean>;
}

export interface FormerPlace {
  readonly host: CliHost;
  readonly terminal: Terminal;
  readonly time: RunTime;
  /** for who is going to write */
  readonly lock?: Locking | undefined;
}

export interface Locking {
  /** an exit code when the lock is not to be had, which has been told then */
  take(stack: Stack, store: StackStore, time: RunTime): Promise<HeldLock | ExitCode>;
  /** Of what nobody writes any more: takes away what an earlier try of this run left behind. */
  free(stack: Stack, store: StackStore): Promise<void>;
}

/**
 * Undefined for a stack that has always had its name; an exit code when the former ledger belongs to another heir, or is
 * locked, which has been told then.
 * @throws LedgerError when it cannot be read
 */
export async function openFormerLedger(
  stack: Stack,
  { host, terminal, time, lock }: FormerPlace,
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
    const refused = refuseOtherHeir(found, { stack, name, terminal });
    // What came along before needs no lock: there is nothing left of it that anybody could write.
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
    const late = refuseOtherHeir(ledger, { stack, name, terminal });
    if (late === undefined) return { name, ledger, store, held, close };
    await close();
    return late;
  } catch (error) {
    await close();
    throw error;
  }
}

/** An exit code, told, when the stack of this name goes on under another one than this. */
function refuseOtherHeir(
  { closedFor: heir }: Ledger,
  { stack, name, terminal }: { readonly stack: Stack; readonly name: string; readonly terminal: Terminal },
): ExitCode | undefined {
  if (heir === undefined || heir === stack.name) return undefined;
  printError(
    terminal,
    'former-ledger-taken',
    `stack "${name}" goes on as "${heir}", so that "${stack.name}" cannot be it too: correct metadata.renamedFrom`,
  );
  return exitCodes.conflict;
}

/** An exit code, told, for a stack that goes on under another name: nothing is planned under the old one any more. */
export function refuseClosed({ closedFor }: Ledger, stack: Stack, terminal: Terminal): ExitCode | undefined {
  if (closedFor === undefined || closedFor === stack.renamedFrom) return undefined;
  printError(
    terminal,
    'stack-renamed',
    `stack "${stack.name}" goes on as "${closedFor}", which has taken its ledger over: plan and apply that one, or give this one another name`,
  );
  return exitCodes.conflict;
}

/** Whether anything of the former ledger has yet to come along. */
export function isPending({ ledger: { known, closedFor, records } }: FormerLedger): boolean {
  return known && (closedFor === undefined || records.size > 0);
}

/**
 * Brings ledger and history along before anything is sent. The former ledger is closed first, with all that it says: from
 * then on nobody writes it, and a run that is cut short anywhere begins again with the same. It is emptied last.
 * @param former one that is pending
 * @param ledger what the stack's own ledger is to say, what comes along included
 * @throws LedgerError, or when the lock of the former stack is no longer ours
 */
export async function bringAlong(
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
