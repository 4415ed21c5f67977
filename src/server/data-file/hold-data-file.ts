/**
 * One server for a data file, as long as it lives.
 * Invariant: the lock is SQLite's own on a file beside the data file, so the system frees it when its holder dies, however
 * it dies, and a holder that is only paused keeps it. The file stays: taking it away would let two hold it.
 */
import type { DatabaseSync } from 'node:sqlite';

import { Database, DataFileError } from './database.ts';
import { loadSqlite } from './load-sqlite.ts';
import { createPrivate } from './private-file.ts';

/** Either it is ours until it is released, or another server has it. */
type Hold = { release(): void } | { readonly heldBy: Holder };

interface Holder {
  /** its process; undefined when that cannot be told */
  readonly pid: number | undefined;
}

/**
 * Takes the data file for this process, `pid`, alone to serve.
 * @throws DataFileError when it cannot be opened
 */
export function holdDataFile(dataFile: string, pid: number): Hold {
  const database = Database.open(dataFile);
  try {
    const lock = takeLock(`${dataFile}.lock`);
    if (lock === undefined) return { heldBy: { pid: lastServer(database) } };
    database.run('UPDATE data_file SET served_by_pid = :pid', { pid });
    return { release: () => lock.close() };
  } finally {
    database.close();
  }
}

function lastServer(database: Database): number | undefined {
  const row = database.get<{ pid: number | null }>('SELECT served_by_pid AS pid FROM data_file');
  return row?.pid ?? undefined;
}

const SQLITE_BUSY = 5;

/** Undefined when another server has it, in this process or elsewhere. */
function takeLock(file: string): DatabaseSync | undefined {
  const { DatabaseSync: Sqlite } = loadSqlite();
  let lock: DatabaseSync | undefined;
  try {
    createPrivate(file);
    lock = new Sqlite(file, { timeout: 0 });
    // a transaction that writes nothing and never ends
    lock.exec('BEGIN IMMEDIATE');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw new DataFileError(file, error);
  }
}
