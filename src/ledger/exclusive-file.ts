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
 * @param lockFile absolute path of a file that only trueup uses
 * @param pauses milliseconds between attempts; after the last one the waiting ends
 * @param signal also ends the waiting; it does not stop `work`
 * @throws when the file cannot be locked
 */
export async function withExclusiveFile<T>(
  lockFile: string,
  work: () => Promise<T>,
  pauses: Iterable<number> = pausesForOneMinute(),
  signal?: AbortSignal,
): Promise<T> {
  await makeFolder(dirname(lockFile));
  const leave = await enter(lockFile, pauses, signal);
  try {
    return await work();
  } finally {
    leave();
  }
}

async function enter(
  lockFile: string,
  pauses: Iterable<number>,
  signal: AbortSignal | undefined,
): Promise<() => void> {
  const first = tryToEnter(lockFile);
  if (first !== undefined) return first;
  for (const milliseconds of pauses) {
    await pause(milliseconds, undefined, { signal }).catch(() => {
      throw new WaitEnded();
    });
    const leave = tryToEnter(lockFile);
    if (leave !== undefined) return leave;
  }
  throw new Error(
    `another process has kept ${quoted(lockFile)} locked: it is suspended, or the file system does not support locks`,
  );
}

/** The work reads and writes one small file. A process that holds the lock for longer is suspended, perhaps for ever. */
function* pausesForOneMinute(): Generator<number> {
  for (let waited = 0, next = 1; waited < 60_000; waited += next, next = Math.min(50, next * 2)) yield next;
}

/**
 * Opens and locks synchronously, so that no other code of this process closes a handle of the file meanwhile: the system would then
 * release all locks of the process on it. @returns a function that unlocks; undefined when another process holds the lock
 */
function tryToEnter(lockFile: string): (() => void) | undefined {
  makeFile(lockFile);
  // On a read-only file SQLite would give every process a transaction.
  accessSync(lockFile, constants.W_OK);
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    // Nothing is ever written to the database, and with this mode no journal file is left.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    const reason = messageOf(error);
    throw new Error(
      `${quoted(lockFile)} cannot be locked: ${reason}; keep the ledger on a file system with locks, in git or in PostgreSQL`,
      { cause: error },
    );
  }
}

/** Creates the file, readable by its owner only. An existing file is not opened (see above). */
function makeFile(lockFile: string): void {
  try {
    closeSync(openSync(lockFile, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Whether the primary result code is SQLITE_BUSY; the upper bits hold details (https://sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}
