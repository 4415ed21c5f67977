/**
 * Connections to one PostgreSQL server, and the migrations of the tables of each store. Waits can be ended, and work is retried once
 * after its connection broke. Migrations are only added, never changed.
 */
import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { systemErrorMessage } from '../model/error-message.ts';
import { LedgerError, WaitEnded } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { maskUrls } from '../redaction/mask-text.ts';
import { type OperationSignals, waitFor } from './ledger-store.ts';

/** Runs statements. */
export type PostgresClient = Pick<PoolClient, 'query'>;

/** Timeout for a connection, in milliseconds. */
const connectTimeout = 15_000;

export class PostgresConnection {
  readonly #url: string;
  #pool: Promise<Pool> | undefined;
  /** the sockets of all open connections, also of those that are not established yet */
  readonly #sockets = new Set<Socket>();

  /** @param url `postgres://…`, with its credentials; no message repeats it */
  constructor(url: string) {
    this.#url = url;
  }

  /**
   * Does the work on one connection, and again if the connection broke: the work must be safe to repeat.
   * @throws the error of the server or of the connection, for `failureMessage`; WaitEnded
   */
  async run<T>(signals: OperationSignals, work: (client: PostgresClient) => Promise<T>): Promise<T> {
    try {
      this.#pool ??= openPool(this.#url, this.#sockets);
      const pool = await this.#pool;
      return await runOnce(pool, signals, work).catch((error: unknown) => {
        // A connection may have broken while it was idle, which shows only now.
        if (!(error instanceof BrokenConnection)) throw error;
        return runOnce(pool, signals, work);
      });
    } catch (error) {
      throw error instanceof BrokenConnection ? error.cause : error;
    }
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    // Statements that still run were abandoned. Their connections cannot be closed in order, because the server may not answer.
    const isIdle = pool === undefined || (pool.idleCount === pool.totalCount && pool.waitingCount === 0);
    if (!isIdle) for (const socket of this.#sockets) socket.destroy();
    await pool?.end();
  }
}

/** The connection broke: the last statement may or may not have been carried out. */
class BrokenConnection extends Error {}

async function runOnce<T>(
  pool: Pool,
  { read, write }: OperationSignals,
  work: (client: PostgresClient) => Promise<T>,
): Promise<T> {
  const connecting = pool.connect();
  const client = await waitFor(connecting, read).catch((error: unknown) => {
    connecting.then(
      (late) => late.release(true),
      () => {},
    );
    throw error;
  });
  let broken = false;
  try {
    return await waitFor(work(client), write);
  } catch (error) {
    // A connection with a statement that still runs cannot be used again.
    if (error instanceof WaitEnded) broken = true;
    if (error instanceof LedgerError) throw error;
    // Only errors that the server sent have a severity.
    broken = !(error instanceof Error && 'severity' in error);
    throw broken ? new BrokenConnection('broken', { cause: error }) : error;
  } finally {
    client.release(broken);
  }
}

/** Loads the driver on demand, because only stacks with PostgreSQL need it. */
async function openPool(url: string, sockets: Set<Socket>): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: withPlainMode(url),
    max: 2,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: connectTimeout * 4,
    application_name: 'trueup',
    allowExitOnIdle: true,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
  });
  // An idle connection that breaks is replaced at the next use; one in use makes its statement fail.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Replaces the modes that the driver treats as "verify-full" with a warning by "verify-full" itself, which gives no warning. */
function withPlainMode(url: string): string {
  if (/[?&]uselibpqcompat=true(?=&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

/** Whether the database answered and refused a statement, for example for lack of a privilege. Waiting does not help. */
export function isRefusedStatement(error: unknown): boolean {
  // Not refused: errors of connections, resources and the operator, and conflicts of transactions (PostgreSQL, appendix A).
  const isStatement = error instanceof Error && 'severity' in error && 'code' in error;
  return isStatement && !/^(08|40|53|55|57)/.test(String(error.code));
}

/** The message of an error, or those of all addresses that were tried. An error about an invalid URL quotes it, so it is replaced. */
export function failureMessage(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(failureMessage))].join('; ');
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_INVALID_URL') return 'its address is not a valid URL';
  const explanation = systemErrorMessage(error);
  return maskUrls(explanation === undefined ? error.message : `${error.message}: ${explanation}`);
}

// Creates and migrates the tables, in a separate schema for each store. All missing migrations run in one transaction, started by the
// first run that needs them.

/** The tables of a store, in a separate schema. */
export interface StoreTables {
  /** a plain name, which is put into statements without quotes */
  readonly schema: string;
  /** by version, from 1 */
  readonly migrations: readonly string[];
}

/** `json` and not `jsonb`, because `json` keeps the exact text. */
const ledgerMigrations = [
  `create table trueup.ledgers (
     stack text primary key,
     serial bigint not null,
     content json not null,
     written timestamptz not null default now()
   );
   create table trueup.locks (
     stack text primary key,
     id text not null,
     content json not null
   );
   create table trueup.history (
     stack text not null,
     id text collate "C" not null,
     content json not null,
     primary key (stack, id)
   );`,
];

export const ledgerTables: StoreTables = { schema: 'trueup', migrations: ledgerMigrations };

/** The key of an advisory lock, a number that only trueup uses: two runs cannot migrate at the same time. */
const migrationLock = 7_278_783;

/** @throws LedgerError when a newer trueup created the tables; the server's error when the user may not create them */
export async function migrate(client: PostgresClient, tables: StoreTables): Promise<void> {
  const { schema, migrations } = tables;
  if ((await versionOf(client, tables)) === migrations.length) return;
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [migrationLock]);
    const version = await versionOf(client, tables);
    if (version === 0) await createSchema(client, schema);
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      await client.query(migration);
      await client.query(`insert into ${schema}.migrations (version) values ($1)`, [index + 1]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** The schema may exist already, created by an administrator. */
async function createSchema(client: PostgresClient, schema: string): Promise<void> {
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema ${schema}`);
  await client.query(
    `create table if not exists ${schema}.migrations (version integer primary key, applied timestamptz not null default now())`,
  );
}

/** The version of the tables; 0 when there are none. @throws LedgerError when a newer trueup created them */
export async function versionOf(
  client: PostgresClient,
  { schema, migrations }: StoreTables,
): Promise<number> {
  // A query of the catalogue sees tables that were just created; `to_regclass` may answer from a cache.
  const { rows: found } = await client.query(
    `select from pg_tables where schemaname = $1 and tablename = 'migrations'`,
    [schema],
  );
  if (found.length === 0) return 0;
  const { rows } = await client.query(
    `select coalesce(max(version), 0) as version from ${schema}.migrations`,
  );
  const version = Number(rows[0]?.version);
  if (version > migrations.length)
    throw new LedgerError(
      `the tables in PostgreSQL have version ${version}, which this version of trueup does not support: use the version that created them, or a newer one`,
    );
  return version;
}

/** Why this user could not write the tables, or create those that are missing; undefined when it could. Changes nothing. */
export async function whyUnwritable(
  client: PostgresClient,
  tables: StoreTables,
): Promise<string | undefined> {
  const { schema, migrations } = tables;
  const { rows } = await client.query(
    `select current_user as name, current_setting('transaction_read_only') = 'on' as readonly,
       (select count(*) from pg_tables where schemaname = $1
          and not has_table_privilege(format('%I.%I', schemaname, tablename), 'insert, update, delete')
          and tablename <> 'migrations') as refused,
       coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = $1),
          has_database_privilege(current_database(), 'create')) as creates`,
    [schema],
  );
  const { name, readonly, refused, creates } = rows[0] ?? {};
  if (readonly === true) return 'the server is a standby, or its transactions are read-only';
  if (Number(refused) > 0)
    return `the user ${quoted(String(name))} may not write the tables of the schema ${quoted(schema)}`;
  const isComplete = (await versionOf(client, tables)) === migrations.length;
  return isComplete || creates === true
    ? undefined
    : `the user ${quoted(String(name))} may not create the tables of the schema ${quoted(schema)}`;
}
