/**
 * A short critical section between processes: who has the exclusive transaction of an empty database beside the ledger goes
 * on, everyone else waits. The system ends the transaction of whoever dies, and of nobody else: neither clocks nor the time
 * that somebody takes decide. The file stays when all are done, for to remove it would let in who opens it just then.
 */
import { messageOf } from '../../model/message-of.ts';
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WaitEnded } from '../../model/stack/ledger.ts';
import { loadSqlite } from './load-sqlite.ts';
import { makeFolder } from './state-folder.ts';

/**
 * @param guard absolute path of a file that nobody else uses
 * @param pauses milliseconds between tries; when they end, so does the waiting
 * @param signal ends the waiting, too; whoever is inside goes on
 * @throws when the guard cannot be had
 */
export async function withExclusiveFile<T>(
  guard: string,
  work: () => Promise<T>,
  pauses: Iterable<number> = aMinute(),
  signal?: AbortSignal,
): Promise<T> {
  await makeFolder(dirname(guard));
  const leave = await enter(guard, pauses, signal);
  try {
    return await work();
  } finally {
    leave();
  }
}

async function enter(
  guard: string,
  pauses: Iterable<number>,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  const first = tryToEnter(guard);
  if (first !== undefined) return first;
  for (const milliseconds of pauses) {
    await pause(milliseconds, undefined, { signal }).catch(() => {
      throw new WaitEnded();
    });
    const leave = tryToEnter(guard);
    if (leave !== undefined) return leave;
  }
  throw new Error(
    `another process has kept "${guard}" locked all the time: it is paused, or the file system knows no locks`,
  );
}

/** Who is inside reads and writes one small file. Who takes longer is paused, and nobody knows until when. */
function* aMinute(): Generator<number> {
  for (let waited = 0, next = 1; waited < 60_000; waited += next, next = Math.min(50, next * 2)) yield next;
}

/**
 * All in one go: a file that this process closes, whatever it was opened for, would take the locks of the whole process
 * along. @returns how to leave; undefined when somebody is inside
 */
function tryToEnter(guard: string): (() => void) | undefined {
  makeFile(guard);
  // Of a file that it may only read SQLite gives everybody a transaction.
  accessSync(guard, constants.W_OK);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(guard, { timeout: 0 });
  try {
    // Nothing is ever written into it, so there is no journal to leave behind either.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    const reason = messageOf(error);
    throw new Error(
      `"${guard}" cannot be locked: ${reason}; a ledger is kept on a file system with locks, in git or in PostgreSQL`,
      { cause: error },
    );
  }
}

/** Of its owner only. One that is there is not opened. */
function makeFile(guard: string): void {
  try {
    closeSync(openSync(guard, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** SQLITE_BUSY, whatever it says besides in its upper bits (https://sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}
