/**
 * Ledger, lock and history in PostgreSQL. Each change is one statement that names the state it relies on, so the server
 * decides a race. Reading creates nothing: the tables are made by the first run that has something to write.
 */
import { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import {
  type HistoryEntry,
  type Ledger,
  LedgerConflict,
  LedgerError,
  type LedgerLock,
  WaitEnded,
} from '../../model/stack/ledger.ts';
import { systemWords } from '../../model/system-words.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { asideName } from '../local/set-aside-name.ts';
import { type EndableStore, type QuestionEnds, noEnds, unlessEnded } from '../endable-store.ts';
import { noLedger, parseLedger } from '../ledger-text.ts';
import { OwnWrites } from '../own-writes.ts';
import { migrate, versionOf } from './postgres-schema.ts';
import { formatStored, parseEntry, parseLock, tryEntry, wholeEntries } from '../stored-json.ts';

/** @param url `postgres://…`, with its credentials; it is repeated in no message */
export function postgresLedger(url: string, stack: string): EndableStore {
  return new Postgres(url, stack);
}

/** Milliseconds until a server that does not answer is given up. */
const patience = 15_000;

class Postgres implements EndableStore {
  readonly place: string;
  readonly #url: string;
  readonly #stack: string;
  #pool: Promise<Pool> | undefined;
  /** of all connections that were begun */
  readonly #sockets = new Set<Socket>();
  /** the tables exist, as far as this store knows */
  #ready = false;
  readonly #own: OwnWrites;

  constructor(url: string, stack: string) {
    this.#url = url;
    this.#stack = stack;
    this.place = `the ledger of stack "${stack}" in PostgreSQL`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(ends = noEnds): Promise<Ledger> {
    const text = await this.#readStored(ends);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  #readStored(ends: QuestionEnds): Promise<string | undefined> {
    return this.#readText('select content::text from trueup.ledgers where stack = $1', [], ends);
  }

  async write(ledger: Ledger, ends = noEnds): Promise<Ledger> {
    for (let step = this.#own.first(ledger); ; ) {
      const { from } = step;
      if (step.isDone || (await this.#writeText(this.#own.sending(step), from, ends)))
        return this.#own.settle(step);
      step = this.#own.next(ledger, await this.#readStored(ends));
      // Refused, and all the same the one that was expected: it is being written, or was not written by trueup.
      if (!step.isDone && step.from === from)
        throw new LedgerConflict(this.place, { found: from, expected: ledger.serial });
    }
  }

  /** @returns whether the serial was still the one that was expected */
  async #writeText(text: string, serial: number, ends: QuestionEnds): Promise<boolean> {
    const statement =
      serial === 0
        ? `insert into trueup.ledgers (stack, serial, content) values ($1, $2 + 1, $3)
           on conflict (stack) do nothing returning stack`
        : `update trueup.ledgers set serial = serial + 1, content = $3, written = now()
           where stack = $1 and serial = $2 returning stack`;
    return (await this.#change(statement, [serial, text], ends)).length > 0;
  }

  async setAside(ends = noEnds): Promise<string> {
    // No stack has a name with a slash in it.
    const name = `${this.#stack}/${asideName()}`;
    const statement = 'update trueup.ledgers set stack = $2 where stack = $1 returning stack';
    await this.#change(statement, [name], ends);
    return `the row "${name}" of trueup.ledgers`;
  }

  async readLock(ends = noEnds): Promise<LedgerLock | undefined> {
    const statement = 'select content::text from trueup.locks where stack = $1';
    const text = await this.#readText(statement, [], ends);
    return text === undefined ? undefined : parseLock(text, this.#lockName);
  }

  async lock(wanted: LedgerLock, instead?: string, ends = noEnds): Promise<LedgerLock> {
    for (;;) {
      const taken = await this.#change(
        `insert into trueup.locks as held (stack, id, content) values ($1, $2, $3)
         on conflict (stack) do update set id = excluded.id, content = excluded.content where held.id = $4
         returning stack`,
        [wanted.id, formatStored(wanted), instead ?? null],
        ends,
      );
      if (taken.length > 0) return wanted;
      const held = await this.readLock(ends);
      // Given back between the two statements: it is free for the taking.
      if (held !== undefined) return held;
    }
  }

  async unlock(id: string, ends = noEnds): Promise<LedgerLock | undefined> {
    // The statement may be said twice, and only the first time finds anything.
    const seen = await this.readLock(ends);
    if (seen?.id !== id) return undefined;
    await this.#change('delete from trueup.locks where stack = $1 and id = $2 returning stack', [id], ends);
    return seen;
  }

  async keepEntries(entries: readonly HistoryEntry[], ends = noEnds): Promise<void> {
    if (entries.length === 0) return;
    await this.#change(
      `insert into trueup.history (stack, id, content)
       select $1, kept.id, kept.content::json from unnest($2::text[], $3::text[]) as kept (id, content)
       on conflict (stack, id) do update set content = excluded.content`,
      [entries.map(({ id }) => id), entries.map(formatStored)],
      ends,
    );
  }

  async listEntries(limit: number, ends?: QuestionEnds): Promise<readonly HistoryEntry[]> {
    return wholeEntries(await this.readEntries(limit, ends));
  }

  async readEntries(limit: number, ends = noEnds): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const rows = await this.#readTexts(
      `select concat(id, ' ', content::text) from trueup.history where stack = $1 order by id desc limit $2`,
      [limit],
      ends,
    );
    return rows.map((row) => {
      const end = row.indexOf(' ');
      return tryEntry(row.slice(end + 1), this.#entryName(row.slice(0, end)));
    });
  }

  async showEntry(id: string, ends = noEnds): Promise<HistoryEntry | undefined> {
    const text = await this.#readText(
      'select content::text from trueup.history where stack = $1 and id = $2',
      [id],
      ends,
    );
    return text === undefined ? undefined : parseEntry(text, this.#entryName(id));
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    // What is still under way was given up, and a server that does not answer takes no leave either.
    const isIdle = pool === undefined || (pool.idleCount === pool.totalCount && pool.waitingCount === 0);
    if (!isIdle) for (const socket of this.#sockets) socket.destroy();
    await pool?.end();
  }

  get #lockName(): string {
    return `the lock of stack "${this.#stack}" in PostgreSQL`;
  }

  #entryName(id: string): string {
    return `the history entry "${id}" of stack "${this.#stack}" in PostgreSQL`;
  }

  async #readText(
    statement: string,
    values: readonly unknown[],
    ends: QuestionEnds,
  ): Promise<string | undefined> {
    return (await this.#readTexts(statement, values, ends))[0];
  }

  /** Nothing where trueup never wrote. */
  #readTexts(statement: string, values: readonly unknown[], ends: QuestionEnds): Promise<string[]> {
    return this.#with('read', ends, async (client) => {
      if (!this.#ready) this.#ready = (await versionOf(client)) > 0;
      return this.#ready ? this.#query(client, statement, values) : [];
    });
  }

  #change(statement: string, values: readonly unknown[], ends: QuestionEnds): Promise<string[]> {
    return this.#with('written', ends, async (client) => {
      if (!this.#ready) await migrate(client);
      this.#ready = true;
      return this.#query(client, statement, values);
    });
  }

  /** The first column of each row. The stack is `$1` of every statement. */
  async #query(client: PoolClient, statement: string, values: readonly unknown[]): Promise<string[]> {
    const { rows } = await client.query<Record<string, string>>(statement, [this.#stack, ...values]);
    return rows.map((row) => Object.values(row)[0] ?? '');
  }

  async #with<T>(
    what: 'read' | 'written',
    ends: QuestionEnds,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> {
    try {
      this.#pool ??= openPool(this.#url, this.#sockets);
      const pool = await this.#pool;
      return await once(pool, ends, work).catch((error: unknown) => {
        // A connection that broke while nobody used it says so only now; every statement may be said twice.
        if (!(error instanceof BrokenConnection)) throw error;
        return once(pool, ends, work);
      });
    } catch (error) {
      if (error instanceof LedgerError) throw error;
      const cause = error instanceof BrokenConnection ? error.cause : error;
      throw new LedgerError(`${this.place} cannot be ${what}: ${wordsOf(cause)}`);
    }
  }
}

/** The server was there and is gone: what was said last may or may not have been heard. */
class BrokenConnection extends Error {}

async function once<T>(
  pool: Pool,
  { look, word }: QuestionEnds,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const connecting = pool.connect();
  const client = await unlessEnded(connecting, look).catch((error: unknown) => {
    connecting.then(
      (late) => late.release(true),
      () => {},
    );
    throw error;
  });
  let broken = false;
  try {
    return await unlessEnded(work(client), word);
  } catch (error) {
    // A connection on which something is still under way is of no use to anybody.
    if (error instanceof WaitEnded) broken = true;
    if (error instanceof LedgerError) throw error;
    // What the server itself says has a severity.
    broken = !(error instanceof Error && 'severity' in error);
    throw broken ? new BrokenConnection('broken', { cause: error }) : error;
  } finally {
    client.release(broken);
  }
}

/** Loaded here, because only stacks that keep their ledger in PostgreSQL need it. */
async function openPool(url: string, sockets: Set<Socket>): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: withPlainMode(url),
    max: 2,
    connectionTimeoutMillis: patience,
    query_timeout: patience * 4,
    application_name: 'trueup',
    allowExitOnIdle: true,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
  });
  // A connection that breaks is replaced at the next use; who uses it just then is told by his statement.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The driver treats these modes as "verify-full", and has Node warn of it on stderr, where it is nobody's answer. */
function withPlainMode(url: string): string {
  if (/[?&]uselibpqcompat=true(?=&|#|$)/.test(url)) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/g, '$1verify-full');
}

/** Several addresses may have been tried, each with an error of its own. Errors of URLs quote them, and are not repeated. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(wordsOf))].join('; ');
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_INVALID_URL') return 'its address is no valid URL';
  const says = systemWords(error);
  return maskAddresses(says === undefined ? error.message : `${error.message}: ${says}`);
}
