/**
 * One apply at a time: takes the lock of a stack, waits for it as long as it was told to, or says who is in the way. A
 * lock is never taken over because time has passed, only when it is certain that the run that holds it is over.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerLock, RunIdentity, StackStore } from '../../model/stack/ledger.ts';
import { renderHeldLock, renderLeftLock } from '../../report/terminal/lock-text.ts';
import type { Deadline } from '../stop/deadline.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { codeOfStop } from '../stop/stop-signals.ts';
import { GivenUp } from './ledger-waits.ts';
import { LockFence } from './lock-fence.ts';
import { raiseSerial } from './raise-serial.ts';
import { printError, printNote, type Terminal } from '../terminal/terminal.ts';

export interface LockRequest {
  readonly store: StackStore;
  readonly stack: string;
  readonly run: RunIdentity;
  /** seconds; 0 does not wait */
  readonly timeout: number;
  /** what the user typed as the path of the stack, for the command that unlocks it */
  readonly path: string | undefined;
  readonly stop: AbortSignal;
  /** does not count the wait for another run */
  readonly deadline: Pick<Deadline, 'leaveOut'>;
}

export interface HeldLock {
  readonly lock: LedgerLock;
  /** for every write under this lock */
  readonly fence: LockFence;
  /**
   * Gives the lock back. A failure is told and not thrown: what was applied was applied.
   * @returns false when it was this run's no more, which is told, too
   */
  release(): Promise<boolean>;
}

/** What the work comes to. Where that is well, and the lock was gone at the end, nobody knows what else was written meanwhile. */
export async function thenRelease(
  work: () => Promise<ExitCode>,
  release: () => Promise<boolean>,
): Promise<ExitCode> {
  let code: ExitCode;
  let wasOurs = false;
  try {
    code = await work();
  } finally {
    wasOurs = await release();
  }
  return code === exitCodes.done && !wasOurs ? exitCodes.error : code;
}

/** The lock, or the exit code when it is not to be had; everything has been told then. */
export async function holdLock(request: LockRequest, terminal: Terminal): Promise<HeldLock | ExitCode> {
  const { store, run } = request;
  const wanted: LedgerLock = { id: randomUUID(), run, since: new Date().toISOString() };
  const held = await takeLock(wanted, request, terminal).catch(async (error: unknown) => {
    const isLeft = error instanceof GivenUp ? error.unsure : !(await isGivenBack(wanted, store));
    if (isLeft) terminal.host.stderr.write(`${renderLeftLock(wanted, request.path)}\n`);
    throw error;
  });
  if (held.id === wanted.id) {
    const fence = fenceOf(store, wanted, terminal);
    return { lock: wanted, fence, release: () => release(wanted, request, { fence, terminal }) };
  }
  if (request.stop.aborted) return codeOfStop(request.stop, exitCodes.error);
  tellHeld(held, request, terminal);
  return exitCodes.locked;
}

/**
 * Takes away the lock that an earlier try of this run left behind, where nobody is going to write any more. Any other is
 * left: it keeps nobody from anything.
 */
export async function freeLeftLock(
  { store, stack, run }: Pick<LockRequest, 'store' | 'stack' | 'run'>,
  { host }: Terminal,
): Promise<void> {
  const held = await store.readLock();
  if (held === undefined || !isOver(held, run)) return;
  const removed = await store.unlock(held.id);
  if (removed !== undefined)
    host.stderr.write(
      `took away the lock of stack "${stack}" that an earlier try of this run, which is over, left behind\n`,
    );
}

/** Of a lock that could not be taken: it may have been, and only the answer was lost. @returns false when nobody can tell */
async function isGivenBack({ id }: LedgerLock, store: StackStore): Promise<boolean> {
  try {
    if ((await store.readLock())?.id === id) await store.unlock(id);
    return true;
  } catch {
    return false;
  }
}

function fenceOf(store: StackStore, { id }: LedgerLock, { host }: Terminal): LockFence {
  const tellSlow = (seconds: number) =>
    host.stderr.write(
      `${store.place} takes ${seconds} s to answer: the lock of this run is looked at before each write\n`,
    );
  return new LockFence({ store, id, now: () => Date.now(), tellSlow });
}

/** Longest time between two looks at a lock that is waited for. Milliseconds. */
const longestPause = 5000;

/** The lock that is held in the end: the wanted one, or the one in the way when time was up. */
async function takeLock(wanted: LedgerLock, request: LockRequest, terminal: Terminal): Promise<LedgerLock> {
  const { timeout, stop, deadline } = request;
  const until = Date.now() + timeout * 1000;
  let told: string | undefined;
  for (let wait = 250; ; wait = Math.min(wait * 2, longestPause)) {
    const held = await tryLock(wanted, request, terminal);
    const left = until - Date.now();
    if (held.id === wanted.id || left <= 0 || stop.aborted) return held;
    if (told !== held.id) tellWaiting(held, request, terminal);
    told = held.id;
    await deadline.leaveOut(pause(Math.min(wait, left), undefined, { signal: stop })).catch(() => {});
  }
}

async function tryLock(
  wanted: LedgerLock,
  { store, run, stack }: LockRequest,
  terminal: Terminal,
): Promise<LedgerLock> {
  const held = await store.lock(wanted);
  if (held.id === wanted.id || !isOver(held, run)) return held;
  const unraised = await raiseSerial(store);
  if (unraised !== undefined) printNote(terminal, unraised);
  const standing = await store.lock(wanted, held.id);
  if (standing.id === wanted.id)
    terminal.host.stderr.write(
      `took over the lock of stack "${stack}" from an earlier try of this run, which is over\n`,
    );
  return standing;
}

/** Whether this run is another try of the one that holds the lock, and that one has certainly ended. */
function isOver({ run: holder }: LedgerLock, run: RunIdentity): boolean {
  if (holder.id !== run.id) return false;
  if (holder.sole && run.sole) return true;
  const isEarlier = holder.attempt !== undefined && run.attempt !== undefined && holder.attempt < run.attempt;
  return isEarlier || isGone(holder, run);
}

/** Whether the process that holds the lock ran where this one does, and runs no more. */
function isGone({ pid, ...holder }: RunIdentity, run: RunIdentity): boolean {
  if (pid === undefined || !isSamePlace(holder, run)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Whether the number of a process of the one means the same to the other. A host name alone proves that on no Linux. */
function isSamePlace(one: RunIdentity, other: RunIdentity): boolean {
  const mayBeContainer = process.platform === 'linux';
  if (mayBeContainer && one.pidNamespace === undefined) return false;
  return one.where === other.where && one.pidNamespace === other.pidNamespace;
}

function tellHeld(held: LedgerLock, { run, stack, path, timeout }: LockRequest, terminal: Terminal): void {
  const crashed = isGone(held.run, run);
  printError(
    terminal,
    'locked',
    renderHeldLock(held, { stack, crashed, waited: timeout, ...(path && { path }) }),
  );
}

function tellWaiting({ run, since }: LedgerLock, { stack }: LockRequest, { host }: Terminal): void {
  host.stderr.write(`waiting for the lock of stack "${stack}": ${run.who} holds it since ${since}\n`);
}

async function release(
  lock: LedgerLock,
  { store, path }: LockRequest,
  { fence, terminal }: { readonly fence: LockFence; readonly terminal: Terminal },
): Promise<boolean> {
  const removed = await store.unlock(lock.id).catch((error: Error) => {
    printError(
      terminal,
      'lock-left',
      `the lock could not be given back: ${error.message}\n${renderLeftLock(lock, path)}`,
    );
    return lock;
  });
  // Who was stopped by the fence has been told.
  if (removed === undefined && !fence.lost.aborted)
    printError(terminal, 'lock-lost', 'somebody took the lock of this run away while it was working');
  return removed !== undefined;
}
