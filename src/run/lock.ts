/**
 * One apply at a time: takes the lock of a stack, waits for it as long as `--lock-timeout` allows, or reports who holds it. A
 * lock is never taken over because it is old, only when it is certain that its run has ended.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../model/error-message.ts';
import {
  DamagedLedger,
  LedgerConflict,
  type LedgerLock,
  type LedgerStore,
  type RunIdentity,
  type StackStore,
} from '../model/ledger.ts';
import { quoted, quotedUnlessPlain } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { printable, shellWord } from '../report/view/printable.ts';
import { CommandStop } from './command-stop.ts';
import { type Deadline, exitCodeOfStop, type RunTime } from './stop-signals.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import type { Machine } from './host.ts';
import { LedgerWaitEnded } from './ledger-waits.ts';
import { pathOfStack } from './load-manifests.ts';
import { StoreLockGuard } from './lock-guard.ts';
import { printError, printNote, type Terminal } from './terminal.ts';

interface LockRequest {
  readonly store: StackStore;
  readonly stack: string;
  readonly run: RunIdentity;
  /** seconds; 0 does not wait */
  readonly timeout: number;
  /** path of the stack as typed, for the command that unlocks it */
  readonly path: string | undefined;
  /** where the ledger is, as in "spec.ledger", if the stack does not name that place */
  readonly at?: string | undefined;
  readonly stop: AbortSignal;
  /** the deadline of the run, for which the wait for another run does not count */
  readonly deadline: Pick<Deadline, 'leaveOut'>;
}

export interface HeldLock {
  readonly lock: LedgerLock;
  /** checks the lock before every write of the run */
  readonly lockGuard: StoreLockGuard;
  /**
   * Releases the lock. A failure is reported and not thrown, because the apply itself is done.
   * @returns false when it is still held, or this run had lost it, which is reported, too
   */
  release(): Promise<boolean>;
}

/**
 * Does the work, and then calls `end` in any case, for example to release the lock. If `end` fails, it has reported that, and the exit
 * code is an error although the work was done.
 */
export async function endAfter(
  work: () => Promise<ExitCode>,
  end: () => Promise<boolean>,
): Promise<ExitCode> {
  let code: ExitCode;
  let isEnded = false;
  try {
    code = await work();
  } finally {
    isEnded = await end();
  }
  return code === exitCodes.done && !isEnded ? exitCodes.error : code;
}

/** Takes the lock. @throws CommandStop when another run holds it, or this run is stopped */
export async function holdLock(request: LockRequest, terminal: Terminal): Promise<HeldLock> {
  const { store, run } = request;
  const { host } = terminal;
  const wanted: LedgerLock = { id: host.newId(), run, since: new Date(host.now()).toISOString() };
  const held = await takeLock(wanted, request, terminal).catch(async (error: unknown) => {
    const isLeft = error instanceof LedgerWaitEnded ? error.unsure : !(await giveBack(wanted, store));
    if (isLeft) terminal.host.stderr.write(`${renderLeftLock(wanted, request)}\n`);
    throw error;
  });
  if (held.id === wanted.id) {
    const lockGuard = lockGuardOf(store, wanted, terminal);
    return { lock: wanted, lockGuard, release: () => release(wanted, request, { lockGuard, terminal }) };
  }
  if (request.stop.aborted) throw CommandStop.reported(exitCodeOfStop(request.stop));
  throw lockedStop(held, request, terminal);
}

export interface Locking {
  /** @throws CommandStop when the lock cannot be taken */
  take(stack: Stack, store: StackStore, time: RunTime): Promise<HeldLock>;
  /** For a ledger that is no longer written: removes a lock that an earlier attempt of this run has left. */
  free(stack: Stack, store: StackStore): Promise<void>;
}

interface LockingOptions extends Pick<LockRequest, 'run' | 'timeout' | 'path' | 'stop'> {
  readonly terminal: Terminal;
}

/** Takes and frees the locks of a run that writes. @param options.path of the stack as typed */
export function lockingFor({ run, timeout, path, stop, terminal }: LockingOptions): Locking {
  return {
    take: (stack, store, { deadline }) =>
      holdLock(
        { store, stack: stack.name, run, timeout, path: pathOfStack(path, stack), stop, deadline },
        terminal,
      ),
    free: (stack, store) => removeStaleLock({ store, stack: stack.name, run }, terminal),
  };
}

/**
 * Removes the lock that an earlier attempt of this run has left on a ledger that is no longer written. Other locks stay: on such a
 * ledger they block no run.
 */
async function removeStaleLock(
  { store, stack, run }: Pick<LockRequest, 'store' | 'stack' | 'run'>,
  { host }: Terminal,
): Promise<void> {
  const held = await store.readLock();
  if (held === undefined || !isOver(held, run, host.machine())) return;
  const removed = await store.unlock(held.id);
  if (removed !== undefined)
    host.stderr.write(
      `removed the lock of stack ${quoted(stack)} that an earlier attempt of this run, which has ended, left behind\n`,
    );
}

/** Releases the lock if it was taken in spite of an error. @returns false when that could not be checked */
async function giveBack({ id }: LedgerLock, store: StackStore): Promise<boolean> {
  try {
    if ((await store.readLock())?.id === id) await store.unlock(id);
    return true;
  } catch {
    return false;
  }
}

function lockGuardOf(store: StackStore, { id }: LedgerLock, { host }: Terminal): StoreLockGuard {
  const onSlow = (seconds: number) =>
    host.stderr.write(
      `${store.place} takes ${seconds} s to answer: the lock of this run is checked before each write\n`,
    );
  return new StoreLockGuard({ store, id, now: host.now, onSlow, mayWrite: host.fleet?.apply?.mayWrite });
}

/** The longest pause between two attempts to take the lock, in milliseconds. */
const maxPause = 5000;

/** @returns the lock that is held at the end: the wanted one, or that of another run when the time was over */
async function takeLock(wanted: LedgerLock, request: LockRequest, terminal: Terminal): Promise<LedgerLock> {
  const { timeout, stop, deadline } = request;
  const { now } = terminal.host;
  const until = now() + timeout * 1000;
  let reported: string | undefined;
  for (let wait = 250; ; wait = Math.min(wait * 2, maxPause)) {
    const held = await tryLock(wanted, request, terminal);
    const left = until - now();
    if (held.id === wanted.id || left <= 0 || stop.aborted) return held;
    if (reported !== held.id) reportWaiting(held, request, terminal);
    reported = held.id;
    const endWait = terminal.host.progress.waitFor(`the lock that ${quotedUnlessPlain(held.run.who)} holds`);
    await deadline.leaveOut(pause(Math.min(wait, left), undefined, { signal: stop })).catch(() => {});
    endWait();
  }
}

async function tryLock(
  wanted: LedgerLock,
  { store, run, stack }: LockRequest,
  terminal: Terminal,
): Promise<LedgerLock> {
  const held = await store.lock(wanted);
  if (held.id === wanted.id || !isOver(held, run, terminal.host.machine())) return held;
  const unraised = await raiseSerial(store);
  if (unraised !== undefined) printNote(terminal, unraised);
  const current = await store.lock(wanted, held.id);
  if (current.id === wanted.id)
    terminal.host.stderr.write(
      `took over the lock of stack ${quoted(stack)} from an earlier attempt of this run, which has ended\n`,
    );
  return current;
}

/** Whether this run is another attempt of the one that holds the lock, and that one has certainly ended. */
export function isOver({ run: holder }: LedgerLock, run: RunIdentity, machine: Machine): boolean {
  if (holder.id !== run.id) return false;
  if (holder.sole && run.sole) return true;
  const isEarlier = holder.attempt !== undefined && run.attempt !== undefined && holder.attempt < run.attempt;
  return isEarlier || isGone(holder, run, machine);
}

/** Whether the process that holds the lock ran on this machine and has ended. */
export function isGone(holder: RunIdentity, run: RunIdentity, machine: Machine): boolean {
  return holder.pid !== undefined && isSamePlace(holder, run, machine) && machine.isGone(holder.pid);
}

/** Whether the process numbers of both runs belong to one namespace. */
function isSamePlace(
  one: RunIdentity,
  other: RunIdentity,
  { mayBeContainer }: Pick<Machine, 'mayBeContainer'>,
): boolean {
  if (mayBeContainer && one.pidNamespace === undefined) return false;
  return one.where === other.where && one.pidNamespace === other.pidNamespace;
}

function lockedStop(held: LedgerLock, request: LockRequest, { host }: Terminal): CommandStop {
  const { run, stack, timeout } = request;
  const lines = [
    `stack ${quoted(stack)} is locked: another apply holds it${timeout > 0 ? ', also after the wait' : ''}`,
    ...lockLines(held),
    isGone(held.run, run, host.machine())
      ? `  its process ${held.run.pid} on this host is gone: that run seems to have crashed`
      : '  wait for it with "--lock-timeout 5m"',
    `  when you know that it is over: ${unlocking(held, request)}`,
  ];
  return new CommandStop('locked', lines.join('\n'), { exit: exitCodes.locked });
}

function reportWaiting({ run, since }: LedgerLock, { stack }: LockRequest, { host }: Terminal): void {
  host.stderr.write(
    `waiting for the lock of stack ${quoted(stack)}: ${quotedUnlessPlain(run.who)} holds it since ${since}\n`,
  );
}

async function release(
  lock: LedgerLock,
  request: LockRequest,
  { lockGuard, terminal }: { readonly lockGuard: StoreLockGuard; readonly terminal: Terminal },
): Promise<boolean> {
  let removed: LedgerLock | undefined;
  try {
    removed = await request.store.unlock(lock.id);
  } catch (error) {
    const message = `the lock could not be given back: ${messageOf(error)}\n${renderLeftLock(lock, request)}`;
    printError(terminal, 'lock-left', message);
    return false;
  }
  // If the lock guard noticed the loss, it was reported then.
  if (removed === undefined && !lockGuard.lost.aborted)
    printError(terminal, 'lock-lost', 'the lock of this run was taken away while it was working');
  return removed !== undefined;
}

// A run that takes a lock over raises the serial of the ledger first. Then the next ledger write of the run that held the
// lock is refused, even if that run still believes that it holds the lock, and it sends nothing more.

/** After so many conflicts, the other run must be alive and writing. */
const maxAttempts = 10;

/**
 * Raises the serial of the ledger. Does nothing when there is no ledger.
 * @returns a message when the serial was not raised because the ledger is damaged; then the other run cannot write it either
 * @throws LedgerError when it cannot be read or written
 */
export async function raiseSerial(store: LedgerStore): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const ledger = await store.read();
      if (ledger.known) await store.write(ledger);
      return undefined;
    } catch (error) {
      if (error instanceof DamagedLedger) return `the serial of the ledger was not raised: ${error.message}`;
      if (!(error instanceof LedgerConflict) || attempt === maxAttempts) throw error;
    }
  }
}

// Who holds the lock of a stack: person, host, since when, and in which run.

/** The line about the lock of a run that has ended and may not have released it; indented by two. */
function renderLeftLock(lock: LedgerLock, where: Pick<LockRequest, 'path' | 'at'>): string {
  return `  its id is ${printable(lock.id)}; if it still exists, remove it: ${unlocking(lock, where)}`;
}

function unlocking({ id }: LedgerLock, { path, at }: Pick<LockRequest, 'path' | 'at'>): string {
  const place = at === undefined ? [] : ['--ledger', shellWord(at)];
  const stack = path === undefined ? [] : [shellWord(path)];
  return ['trueup unlock --id', shellWord(id), ...place, ...stack].join(' ');
}

/** Person, host, time and run, one line each, indented by two. */
export function lockLines({ id, run, since }: LedgerLock): string[] {
  const attempt = run.attempt === undefined ? '' : `, attempt ${run.attempt}`;
  const pid = run.pid === undefined ? '' : `, process ${run.pid}`;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['who', run.who],
    ['where', `${run.where}${pid}`],
    ['since', since],
    ['run', `${run.id}${attempt}`],
    ['page', run.url],
    ['id', id],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${`${name}:`.padEnd(7)}${printable(value)}`],
  );
}
