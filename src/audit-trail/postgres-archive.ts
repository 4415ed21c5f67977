/** An archive in PostgreSQL, in a separate schema. Reading creates nothing. */
import type { OperationSignals } from '../ledger/ledger-store.ts';
import {
  failureMessage,
  migrate,
  type PostgresClient,
  PostgresConnection,
  type StoreTables,
  versionOf,
} from '../ledger/postgres-connection.ts';
import { WaitEnded } from '../model/ledger.ts';
import { TrailError } from '../model/audit-trail.ts';
import { Archive, type ArchiveDatabase, ArchiveError, archiveMigrations, type Query } from './archive.ts';

const schema = 'trueup_audit';

export const archiveTables: StoreTables = {
  schema,
  migrations: archiveMigrations({ id: 'text collate "C"', content: 'json' }).map((migration) =>
    migration.replaceAll(/\b(create table|on) (?=events|trails|gaps)/g, `$1 ${schema}.`),
  ),
};

/**
 * @param url `postgres://…`, with its credentials; no message repeats it
 * @param signals end the wait for a server that does not answer
 */
export function postgresArchive(url: string, signals: OperationSignals): Archive {
  return new Archive(new PostgresArchive(url, signals));
}

class PostgresArchive implements ArchiveDatabase {
  readonly place = 'the archive in PostgreSQL';
  readonly prefix = `${schema}.`;
  readonly #connection: PostgresConnection;
  readonly #signals: OperationSignals;
  /** whether the tables are known to exist */
  #ready = false;

  constructor(url: string, signals: OperationSignals) {
    this.#connection = new PostgresConnection(url);
    this.#signals = signals;
  }

  read<T>(work: (query: Query) => Promise<T>): Promise<T | undefined> {
    return this.#run('read', async (client) => {
      if (!this.#ready) this.#ready = (await versionOf(client, archiveTables)) > 0;
      return this.#ready ? work(queryOf(client)) : undefined;
    });
  }

  write<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#run('written', async (client) => {
      if (!this.#ready) await migrate(client, archiveTables);
      this.#ready = true;
      await client.query('begin');
      try {
        const done = await work(queryOf(client));
        await client.query('commit');
        return done;
      } catch (error) {
        await client.query('rollback').catch(() => {});
        throw error;
      }
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #run<T>(what: 'read' | 'written', work: (client: PostgresClient) => Promise<T>): Promise<T> {
    try {
      return await this.#connection.run(this.#signals, work);
    } catch (error) {
      if (error instanceof ArchiveError || error instanceof TrailError) throw error;
      const why =
        error instanceof WaitEnded ? 'it did not answer before the run ended' : failureMessage(error);
      throw new ArchiveError(`${this.place} cannot be ${what}: ${why}`);
    }
  }
}

function queryOf(client: PostgresClient): Query {
  return async (statement, values) => (await client.query(statement, [...values])).rows;
}
