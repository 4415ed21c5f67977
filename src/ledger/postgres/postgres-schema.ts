/**
 * The tables that trueup keeps in PostgreSQL, in a schema of their own, and how they come to be. Migrations are only
 * ever added; each runs once, in one transaction with all that are missing, whoever comes first.
 */
import type { ClientBase } from 'pg';
import { LedgerError } from '../../model/stack/ledger.ts';

/** By version, from 1. `json` and not `jsonb`: what was written is read back to the letter. */
const migrations: readonly string[] = [
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

/** Any number that only trueup uses: two runs that come first at the same time take turns. */
const turn = 7_278_783;

/** @throws LedgerError when a newer trueup was here; what the server says when the user may not create */
export async function migrate(client: ClientBase): Promise<void> {
  if ((await versionOf(client)) === migrations.length) return;
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [turn]);
    const version = await versionOf(client);
    if (version === 0) await createSchema(client);
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue;
      await client.query(migration);
      await client.query('insert into trueup.migrations (version) values ($1)', [index + 1]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** The schema may have been made for us by somebody with more rights. */
async function createSchema(client: ClientBase): Promise<void> {
  const { rows } = await client.query(`select from pg_namespace where nspname = 'trueup'`);
  if (rows.length === 0) await client.query('create schema trueup');
  await client.query(
    'create table if not exists trueup.migrations (version integer primary key, applied timestamptz not null default now())',
  );
}

/** 0: trueup was never here. @throws LedgerError when a newer trueup was */
export async function versionOf(client: ClientBase): Promise<number> {
  // A query of the catalogue, which sees what was made a moment ago; `to_regclass` may answer from a cache.
  const { rows: found } = await client.query(
    `select from pg_tables where schemaname = 'trueup' and tablename = 'migrations'`,
  );
  if (found.length === 0) return 0;
  const { rows } = await client.query('select coalesce(max(version), 0) as version from trueup.migrations');
  const version = Number(rows[0]?.version);
  if (version > migrations.length)
    throw new LedgerError(
      `the tables in PostgreSQL have version ${version}, which this trueup does not know: use the trueup that made them, or a newer one`,
    );
  return version;
}
