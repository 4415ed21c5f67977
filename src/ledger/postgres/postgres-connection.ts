/** Connections to one PostgreSQL server, for stores that keep something there: waits that can be ended, and a second try of what broke. */
import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import { LedgerError, WaitEnded } from '../../model/stack/ledger.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { systemErrorMessage } from '../../model/system-error-message.ts';
import { type OperationSignals, waitFor } from '../abortable-store.ts';

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
   * Does the work on one connection, and once more where the connection broke: it must be safe to do it twice.
   * @throws the error of the server or of the connection, for `failureMessage`; WaitEnded
   */
  async run<T>(signals: OperationSignals, work: (client: PostgresClient) => Promise<T>): Promise<T> {
    try {
      this.#pool ??= openPool(this.#url, this.#sockets);
      const pool = await this.#pool;
      return await once(pool, signals, work).catch((error: unknown) => {
        // A connection may have broken while it was idle, which shows only now.
        if (!(error instanceof BrokenConnection)) throw error;
        return once(pool, signals, work);
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

async function once<T>(
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

/** Loaded here, because only stacks that keep something in PostgreSQL need it. */
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

/** The driver treats these modes as "verify-full" and prints a warning; with the real mode there is no warning on stderr. */
function withPlainMode(url: string): string {
  if (/[?&]uselibpqcompat=true(?=&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

/** The message of an error, or of each address that was tried. Errors about URLs quote them and so are replaced. */
export function failureMessage(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(failureMessage))].join('; ');
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_INVALID_URL') return 'its address is no valid URL';
  const explanation = systemErrorMessage(error);
  return maskAddresses(explanation === undefined ? error.message : `${error.message}: ${explanation}`);
}
