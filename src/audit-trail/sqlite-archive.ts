/**
 * An archive in one SQLite file: a killed process leaves only complete transactions, and several may write (decision 0006). Other
 * files are never changed.
 */
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadSqlite } from '../ledger/exclusive-file.ts';
import { makeFolder } from '../files/write-file.ts';
import { messageOf } from '../model/error-message.ts';
import { quoted } from '../model/quoted.ts';
import {
  Archive,
  type ArchiveDatabase,
  ArchiveError,
  archiveMigrations,
  type Column,
  type Query,
} from './archive.ts';

type Sqlite = InstanceType<ReturnType<typeof loadSqlite>['DatabaseSync']>;

/** Marks the file as ours: "true" in ASCII. */
const applicationId = 0x74727565;

/** Milliseconds to wait while another process writes; a transaction has a page of events at most. */
const busyTimeout = 10_000;

const migrations = archiveMigrations({ id: 'text', content: 'text' });

/** @param file absolute path; created by the first write, readable by its owner only */
export function sqliteArchive(file: string): Archive {
  return new Archive(new SqliteArchive(file));
}

class SqliteArchive implements ArchiveDatabase {
  readonly place: string;
  readonly prefix = '';
  readonly #file: string;
  #database: Sqlite | undefined;
  /** one transaction at a time, because they share the connection */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
    this.place = `the archive ${quoted(file)}`;
  }

  read<T>(work: (query: Query) => Promise<T>): Promise<T | undefined> {
    return this.#inTurn('read', async () => {
      if (this.#database === undefined && !existsSync(this.#file)) return undefined;
      const database = this.#open();
      return versionOf(database) === 0 ? undefined : inTransaction(database, 'begin', work);
    });
  }

  write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#inTurn('written', async () => {
      await this.#create();
      const database = this.#open();
      return inTransaction(database, 'begin immediate', (query) => {
        migrate(database);
        return work(query);
      });
    });
  }

  async close(): Promise<void> {
    await this.#last;
    this.#database?.close();
    this.#database = undefined;
  }

  #inTurn<T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work).catch((error: unknown) => {
      if (!isOfSystem(error) && !(error instanceof ArchiveError)) throw error;
      throw new ArchiveError(`${this.place} cannot be ${what}: ${messageOf(error)}`, { cause: error });
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Creates the file before the database opens it: closing any handle of a file releases all locks of the process on it. */
  async #create(): Promise<void> {
    if (this.#database !== undefined || existsSync(this.#file)) return;
    await makeFolder(dirname(this.#file));
    closeSync(openSync(this.#file, constants.O_CREAT | constants.O_RDWR, 0o600));
  }

  #open(): Sqlite {
    const { DatabaseSync } = loadSqlite();
    this.#database ??= new DatabaseSync(this.#file, { timeout: busyTimeout });
    return this.#database;
  }
}

async function inTransaction<T>(
  database: Sqlite,
  begin: string,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  database.exec(begin);
  try {
    const done = await work(async (statement, values) => run(database, statement, values));
    database.exec('commit');
    return done;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
}

function run(database: Sqlite, statement: string, values: readonly Column[]) {
  return database.prepare(statement.replaceAll(/\$(\d+)/g, '?$1')).all(...values);
}

/** 0 for a new file. @throws ArchiveError when it is not an archive, or of a newer version */
function versionOf(database: Sqlite): number {
  const read = (name: string) => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);
  const version = read('user_version');
  const isEmpty = database.prepare('select 1 from sqlite_schema limit 1').get() === undefined;
  if (isEmpty && version === 0) return 0;
  if (read('application_id') !== applicationId)
    throw new ArchiveError('its file is another database, which is not changed: name another file');
  if (version > migrations.length)
    throw new ArchiveError(
      `the archive has version ${version}, which this version of trueup does not support: use the version that created it, or a newer one`,
    );
  return version;
}

/** Runs inside a write transaction, so that two runs cannot migrate at once. */
function migrate(database: Sqlite): void {
  const version = versionOf(database);
  if (version === migrations.length) return;
  for (const migration of migrations.slice(version)) database.exec(migration);
  database.exec(`pragma application_id = ${applicationId}; pragma user_version = ${migrations.length}`);
}

/** Whether it is an error of SQLite or of the file system. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && ('errcode' in error || 'syscall' in error);
}
