/**
 * A short critical section between processes, as an exclusive transaction on an empty SQLite database beside the ledger. Also loads
 * `node:sqlite` without its warning.
 */
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder } from '../files/write-file.ts';
import { messageOf } from '../model/error-message.ts';
import { WaitEnded } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';

type SqliteModule = typeof import('node:sqlite');

/** Call it on first use: most commands need no database. */
export function loadSqlite(): SqliteModule {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes('SQLite is an experimental feature'))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

// The process with the exclusive transaction runs, the others wait. The system ends the transaction only when its process ends: no
// timeout can break the lock. The file is never removed, because a process that has just opened the removed file would not see the
// lock on a new one.

/**
 * @param guard absolute path of a file that nobody else uses
 * @param pauses milliseconds between attempts; after the last one the waiting ends
 * @param signal also ends the waiting; it does not stop `work`
 * @throws when the guard cannot be locked
 */
export async function withExclusiveFile<T>(
  guard: string,
  work: () => Promise<T>,
  pauses: Iterable<number> = pausesForOneMinute(),
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
    `another process has kept ${quoted(guard)} locked: it is suspended, or the file system does not support locks`,
  );
}

/** The work reads and writes one small file. A process that holds the lock for longer is suspended, perhaps for ever. */
function* pausesForOneMinute(): Generator<number> {
  for (let waited = 0, next = 1; waited < 60_000; waited += next, next = Math.min(50, next * 2)) yield next;
}

/**
 * Opens and locks synchronously: when this process closes any handle of the file, the system releases all of the process's locks
 * on it. @returns a function that unlocks; undefined when the lock is held
 */
function tryToEnter(guard: string): (() => void) | undefined {
  makeFile(guard);
  // On a read-only file SQLite would give every process a transaction.
  accessSync(guard, constants.W_OK);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(guard, { timeout: 0 });
  try {
    // Nothing is ever written to the database, and with this mode no journal file is left.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    const reason = messageOf(error);
    throw new Error(
      `${quoted(guard)} cannot be locked: ${reason}; keep the ledger on a file system with locks, in git or in PostgreSQL`,
      { cause: error },
    );
  }
}

/** Creates the file, readable by its owner only. An existing file is not opened (see above). */
function makeFile(guard: string): void {
  try {
    closeSync(openSync(guard, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Whether the primary result code is SQLITE_BUSY; the upper bits hold details (https://sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}
