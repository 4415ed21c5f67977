/**
 * Creates and migrates trueup's tables in PostgreSQL, which have a schema of their own for each store. Migrations are only added, never changed.
 * All missing ones run in one transaction, started by the first run that needs them.
 */
import { LedgerError } from '../../model/stack/ledger.ts';
import type { PostgresClient } from './postgres-connection.ts';

/** What a store keeps, in a schema of the server of its own. */
export interface StoreTables {
  /** a plain name; goes into statements as it is */
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

/** The schema may exist already, because an administrator with more rights created it for us. */
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
      `the tables in PostgreSQL have version ${version}, which this trueup does not know: use the trueup that made them, or a newer one`,
    );
  return version;
}
