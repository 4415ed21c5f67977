/** A new database with the tables of a fleet, whose clock moves only by `advance`. */
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { fleetTables } from '../../../src/commands/fleet/tables.ts';
import { migrate } from '../../../src/ledger/postgres-connection.ts';
import type { PostgresServer } from '../ledger/postgres-server.ts';

export interface FleetDatabase {
  readonly client: pg.Client;
  /** the URL of the database, with its user */
  readonly address: string;
  /** opens another connection, as another worker does */
  connect(): Promise<pg.Client>;
  /** milliseconds since 1970 */
  now(): number;
  advance(milliseconds: number): Promise<void>;
}

export async function openFleetDatabase(server: PostgresServer | undefined): Promise<FleetDatabase> {
  const connectionString = server?.newDatabase();
  const connect = async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const client = await connect();
  await migrate(client, fleetTables);
  let now = Date.parse('2026-01-01T00:00:00Z');
  const setTime = async () => {
    await client.query(
      `create or replace function trueup_fleet.now() returns timestamptz language sql volatile as
       'select timestamptz ''${new Date(now).toISOString()}'''`,
    );
  };
  await setTime();
  return {
    client,
    address: connectionString ?? '',
    connect,
    now: () => now,
    advance: async (milliseconds) => {
      now += milliseconds;
      await setTime();
    },
  };
}

/** Resolves once this many connections of the database wait for a lock. */
export async function waitUntilBlocked(client: pg.Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows[0]?.waiting >= count) return;
  }
}
