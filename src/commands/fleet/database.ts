/** The database of a fleet: its tables and the jobs of pg-boss. A worker refuses tables of another version than its own. */
import { PgBoss } from 'pg-boss';
import {
  failureMessage,
  migrate,
  type PostgresClient,
  PostgresConnection,
  versionOf,
} from '../../ledger/postgres-connection.ts';
import { noSignals } from '../../ledger/ledger-store.ts';
import { messageOf } from '../../model/error-message.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { CliHost } from '../../run/host.ts';
import { killDelay } from './apply-stack.ts';
import { fleetTables, jobSchema } from './tables.ts';
import { checkQueue } from './worker.ts';
import { applyQueue } from './worker-applies.ts';

/** The environment variable with the address of the database. */
const fleetUrlVariable = 'TRUEUP_FLEET_URL';

/** Settings of jobs, which are checks and applies, in seconds. A worker without a heartbeat for `heartbeatSeconds` loses its job. */
const queueSettings = {
  expireInSeconds: 3000,
  heartbeatSeconds: 20,
  retryLimit: 3,
  deleteAfterSeconds: 3600,
};

/** Milliseconds that a statement for a page may take. */
const longestRead = 20_000;

/** Milliseconds that a stopping worker waits for its checks and applies to end: longer than until they are killed. */
const longestEnd = killDelay + 3000;

/** Limits, so that a worker that was stopped in the middle of a transaction does not lock rows forever. */
const beginTransaction = `begin; set local lock_timeout = '15s'; set local idle_in_transaction_session_timeout = '30s'`;

export interface OpenDatabase {
  readonly boss: PgBoss;
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** @throws CommandStop when the variable is not set, the server does not answer, or its tables are of another version */
export async function openDatabase(host: CliHost): Promise<OpenDatabase> {
  const database = connect(host);
  try {
    const version = await database.run((client) => versionOf(client, fleetTables));
    const isReady = version === fleetTables.migrations.length;
    // With another version of its own tables, pg-boss does not start.
    const why = isReady ? await database.boss.start().then(() => undefined, messageOf) : undefined;
    if (!isReady || why !== undefined)
      throw new CommandStop(
        'fleet-database',
        `the tables of the fleet are ${version === 0 ? 'missing' : 'of another version'}${why === undefined ? '' : ` (${why})`}: run "trueup fleet migrate" with this version of trueup`,
      );
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Connections for pages, apart from those of the worker, so that pages do not make it wait. */
export function openReader(host: CliHost): Pick<OpenDatabase, 'run' | 'close'> {
  const connection = new PostgresConnection(urlOf(host));
  return {
    run: (work) =>
      connection
        .run(noSignals, async (client) => {
          await client.query('begin isolation level repeatable read read only');
          try {
            await client.query(`set local statement_timeout = ${longestRead}`);
            return await work(client);
          } finally {
            await client.query('rollback').catch(() => {});
          }
        })
        .catch((error: unknown) => {
          throw error instanceof CommandStop ? error : unusable(error);
        }),
    close: () => connection.close(),
  };
}

/** Creates the tables, or upgrades them to the version of this trueup. Changes nothing if they have it already. */
export async function migrateDatabase(host: CliHost): Promise<void> {
  const database = connect(host, { migrates: true });
  try {
    await database.run((client) => migrate(client, fleetTables));
    await database.boss.start();
    for (const queue of [checkQueue, applyQueue]) {
      const isThere = (await database.boss.getQueue(queue)) !== null;
      if (isThere) await database.boss.updateQueue(queue, queueSettings);
      else await database.boss.createQueue(queue, { ...queueSettings, policy: 'stately' });
    }
  } catch (error) {
    throw error instanceof CommandStop ? error : unusable(error);
  } finally {
    await database.close();
  }
}

function urlOf(host: CliHost): string {
  const url = host.env[fleetUrlVariable];
  if (url === undefined || url === '')
    throw new CommandStop(
      'fleet-database',
      `${fleetUrlVariable} is not set: set it to the address of the fleet's PostgreSQL database, such as postgres://user:password@host/database`,
    );
  host.secrets.keep(url);
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new CommandStop(
      'fleet-database',
      `${fleetUrlVariable} is not an address of PostgreSQL: it begins with postgres://, such as postgres://user:password@host/database`,
    );
  return url;
}

function connect(host: CliHost, { migrates = false } = {}): OpenDatabase {
  const url = urlOf(host);
  const connection = new PostgresConnection(url);
  const boss = new PgBoss({
    connectionString: url,
    schema: jobSchema,
    migrate: migrates,
    application_name: 'trueup fleet',
    max: 4,
    supervise: !migrates,
    schedule: false,
    monitorIntervalSeconds: 10,
    superviseIntervalSeconds: 10,
  });
  boss.on('error', () => {});
  const run: OpenDatabase['run'] = (work) =>
    connection.run(noSignals, work).catch((error: unknown) => {
      throw error instanceof CommandStop ? error : unusable(error);
    });
  return {
    boss,
    run,
    transaction: (work) =>
      run(async (client) => {
        await client.query(beginTransaction);
        try {
          const result = await work(client);
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback').catch(() => {});
          throw error;
        }
      }),
    close: once(async () => {
      // Running checks end first, so that their stacks can be given back.
      await boss.stop({ graceful: true, timeout: longestEnd }).catch(() => {});
      await connection.close();
    }),
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

function unusable(error: unknown): CommandStop {
  return new CommandStop(
    'fleet-database',
    `the database of the fleet cannot be used: ${failureMessage(error)}`,
    { cause: error },
  );
}
