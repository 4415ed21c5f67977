/**
 * The only store of the embedded service: one SQLite database in a file or in memory. The schema is current before anyone
 * reads, every write is inside one immediate transaction, no row is cached because another process may write to the same file,
 * and only the owner of the file can read it.
 */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import process from 'node:process';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { MIGRATIONS } from './migrations.ts';
import { NEW_DATABASE } from './new-database.ts';

/** Named parameters of one statement: `:name` in the SQL text, `name` here. Booleans are stored as 0 and 1. */
export type SqlParameters = Record<string, SQLInputValue>;

/** The name for a database in memory. */
export const IN_MEMORY = ':memory:';

const BUSY_TIMEOUT_MS = 10_000;
const KEPT_STATEMENTS = 500;

/** The data file cannot be opened, or is not a database. */
export class DataFileError extends Error {
  override readonly name = 'DataFileError';

  constructor(file: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`the data file "${file}" cannot be used: ${why}`, { cause });
  }
}

export class Database {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite;
  }

  /**
   * Opens (and creates, and migrates) the database in `file`; `:memory:` makes a private one. A transaction is on the disk when it
   * ends, so a power failure does not lose it. With `relaxed`, the newest transactions may be lost.
   * @throws DataFileError when the file cannot be opened, or is not a database
   */
  static open(file: string, { relaxed = false }: { readonly relaxed?: boolean } = {}): Database {
    const { DatabaseSync: Sqlite } = loadSqlite();
    let sqlite: DatabaseSync | undefined;
    try {
      if (file !== IN_MEMORY) createPrivate(file);
      sqlite = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
      // Fails for a file that is not a database, before anything of that file is changed.
      sqlite.exec('PRAGMA schema_version');
      if (file !== IN_MEMORY) keepPrivate(file);
      sqlite.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${relaxed ? 'NORMAL' : 'FULL'}`);
    } catch (cause) {
      sqlite?.close();
      throw new DataFileError(file, cause);
    }
    const database = new Database(sqlite);
    database.#migrate();
    return database;
  }

  /** All rows of a query. `Row` must fit the caller's SQL. */
  all<Row>(sql: string, parameters: SqlParameters = {}): Row[] {
    return this.#prepare(sql).all(parameters) as Row[];
  }

  /** The first row of a query, if there is one. */
  get<Row>(sql: string, parameters: SqlParameters = {}): Row | undefined {
    return this.#prepare(sql).get(parameters) as Row | undefined;
  }

  /** The row of a table with this `id`, if there is one. */
  byId<Row>(table: string, id: string | null | undefined): Row | undefined {
    return this.get<Row>(`SELECT * FROM ${table} WHERE id = :id`, { id: id ?? null });
  }

  /** The rows of a table with these ids, ordered by id. */
  byIds<Row>(table: string, ids: readonly string[]): Row[] {
    const sql = `SELECT * FROM ${table} WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id`;
    return ids.length === 0 ? [] : this.all<Row>(sql, { ids: JSON.stringify(ids) });
  }

  /** Runs a statement. @returns how many rows it changed */
  run(sql: string, parameters: SqlParameters = {}): number {
    return Number(this.#prepare(sql).run(parameters).changes);
  }

  /** Inserts one row; the keys of `row` are the column names. */
  insert(table: string, row: SqlParameters): void {
    const columns = Object.keys(row);
    this.run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `:${column}`).join(', ')})`,
      row,
    );
  }

  delete(table: string, id: string | number): void {
    this.run(`DELETE FROM ${table} WHERE id = :id`, { id });
  }

  /** Sets columns of the row with this `id`. @returns whether one of them had another value */
  update(table: string, id: string, columns: SqlParameters): boolean {
    const names = Object.keys(columns);
    if (names.length === 0) return false;
    const assignments = names.map((column) => `${column} = :${column}`).join(', ');
    const differs = names.map((column) => `${column} IS NOT :${column}`).join(' OR ');
    const sql = `UPDATE ${table} SET ${assignments} WHERE id = :id AND (${differs})`;
    return this.run(sql, { ...columns, id }) > 0;
  }

  /** Runs `work` in one write transaction: all of it happens, or (when it throws) none. A transaction inside another one joins it. */
  transaction<T>(work: () => T): T {
    return this.#within('BEGIN IMMEDIATE', work);
  }

  /** Runs `work` on one consistent view of the data, even if other processes write meanwhile. */
  snapshot<T>(work: () => T): T {
    return this.#within('BEGIN DEFERRED', work);
  }

  close(): void {
    this.#statements.clear();
    this.#sqlite.close();
  }

  #within<T>(begin: string, work: () => T): T {
    if (this.#sqlite.isTransaction) return work();
    this.#sqlite.exec(begin);
    try {
      const result = work();
      this.#sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#sqlite.isTransaction) this.#sqlite.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    // List filters make many different SQL texts. Clearing all at once is simple, and happens rarely.
    if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.clear();
    const statement = this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Applies missing migrations once: the version is read under the write lock, so two processes that open the file do not race. */
  #migrate(): void {
    this.transaction(() => {
      const version = this.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
      const isNew = version === 0 && this.get('SELECT 1 FROM sqlite_master LIMIT 1') === undefined;
      if (isNew) return this.#sqlite.exec(NEW_DATABASE);
      const missing = MIGRATIONS.slice(version);
      for (const sql of missing) this.#sqlite.exec(sql);
      if (missing.length > 0) this.#sqlite.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    });
  }
}

// Files that only their owner can read: they hold a reviewer JWT, hashes of tokens and the key of a proof.
// Invariant: at no moment can others read their content.

const OWNER_ONLY = 0o600;

/**
 * Creates the file if it does not exist. An existing one is not opened: closing it would release SQLite's locks.
 * @throws Error for a device, a pipe or a folder: it cannot hold a database, and its mode must not be changed
 */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(file).isFile())
      throw new Error('it is not a regular file; name a regular file, or a path that does not exist yet');
  }
}

/** Removes the access of others that an earlier version left. SQLite gives the files that it creates beside this one the same mode. */
function keepPrivate(file: string): void {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const mode = statSync(each, { throwIfNoEntry: false })?.mode ?? OWNER_ONLY;
    if ((mode & 0o077) === 0) continue;
    try {
      chmodSync(each, OWNER_ONLY);
    } catch (error) {
      // a file of another user, or a file system without modes
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
  }
}

// Loads node:sqlite without its "experimental feature" warning, which Node 22 would print on the user's stderr.
// Invariant: warnings are intercepted only while the module loads, and only this one is dropped.

type SqliteModule = typeof import('node:sqlite');

/** The `node:sqlite` module, loaded on first use; synchronous, so that short-lived commands need no await. */
export function loadSqlite(): SqliteModule {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes('SQLite is an experimental feature')) {
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
