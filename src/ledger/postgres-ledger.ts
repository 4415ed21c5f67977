/**
 * Keeps ledger, lock and history in PostgreSQL. Each change is one statement that names the state it is based on, so the server
 * decides races. Reading creates nothing: the first run that writes creates the tables.
 */
import {
  type HistoryEntry,
  type Ledger,
  LedgerConflict,
  LedgerError,
  type LedgerLock,
} from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { completeEntries, formatEntry, formatLock, parseEntry, parseLock, tryEntry } from './history-text.ts';
import { backupFileName, noLedger, parseLedger } from './ledger-text.ts';
import { type AbortableStore, noSignals, type OperationSignals, OwnWrites } from './ledger-store.ts';
import {
  failureMessage,
  ledgerTables,
  migrate,
  type PostgresClient,
  PostgresConnection,
  versionOf,
  whyUnwritable,
} from './postgres-connection.ts';

/** @param url `postgres://…`, with its credentials; no message repeats it */
export function postgresLedger(url: string, stack: string): AbortableStore {
  return new Postgres(url, stack);
}

class Postgres implements AbortableStore {
  readonly place: string;
  readonly #connection: PostgresConnection;
  readonly #stack: string;
  /** whether this store has seen or created the tables */
  #ready = false;
  readonly #own: OwnWrites;
  /** the newest entry, as far as it was read or written since this store took the lock */
  #newestId: { readonly id: string | undefined } | undefined;

  constructor(url: string, stack: string) {
    this.#connection = new PostgresConnection(url);
    this.#stack = stack;
    this.place = `the ledger of stack ${quoted(stack)} in PostgreSQL`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(signals = noSignals): Promise<Ledger> {
    const text = await this.#readStored(signals);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  #readStored(signals: OperationSignals): Promise<string | undefined> {
    return this.#readText('select content::text from trueup.ledgers where stack = $1', [], signals);
  }

  async write(ledger: Ledger, signals = noSignals): Promise<Ledger> {
    for (let step = this.#own.first(ledger); ; ) {
      const { from } = step;
      if (step.isDone || (await this.#writeText(this.#own.sending(step), from, signals)))
        return this.#own.confirm(step);
      step = this.#own.next(ledger, await this.#readStored(signals));
      // The server refused although the serial is as expected: another run is writing, or trueup did not write the row.
      if (!step.isDone && step.from === from)
        throw new LedgerConflict(this.place, { found: from, expected: ledger.serial });
    }
  }

  /** @returns whether the stored serial was the expected one, and so the text was written */
  async #writeText(text: string, serial: number, signals: OperationSignals): Promise<boolean> {
    const statement =
      serial === 0
        ? `insert into trueup.ledgers (stack, serial, content) values ($1, $2 + 1, $3)
           on conflict (stack) do nothing returning stack`
        : `update trueup.ledgers set serial = serial + 1, content = $3, written = now()
           where stack = $1 and serial = $2 returning stack`;
    return (await this.#change(statement, [serial, text], signals)).length > 0;
  }

  async whyUnwritable(signals = noSignals): Promise<string | undefined> {
    return this.#with('read', signals, (client) => whyUnwritable(client, ledgerTables));
  }

  async setAside(signals = noSignals): Promise<string> {
    // Names of stacks have no slash, so this key cannot be that of a stack.
    const name = `${this.#stack}/${backupFileName()}`;
    const statement = 'update trueup.ledgers set stack = $2 where stack = $1 returning stack';
    await this.#change(statement, [name], signals);
    return `the row ${quoted(name)} of trueup.ledgers`;
  }

  async readLock(signals = noSignals): Promise<LedgerLock | undefined> {
    const statement = 'select content::text from trueup.locks where stack = $1';
    const text = await this.#readText(statement, [], signals);
    return text === undefined ? undefined : parseLock(text, this.#lockName);
  }

  async lock(wanted: LedgerLock, instead?: string, signals = noSignals): Promise<LedgerLock> {
    for (;;) {
      const taken = await this.#change(
        `insert into trueup.locks as held (stack, id, content) values ($1, $2, $3)
         on conflict (stack) do update set id = excluded.id, content = excluded.content where held.id = $4
         returning stack`,
        [wanted.id, formatLock(wanted), instead ?? null],
        signals,
      );
      if (taken.length > 0) {
        // Another run may have written entries before.
        this.#newestId = undefined;
        return wanted;
      }
      const held = await this.readLock(signals);
      // The lock was released between the two statements: try again.
      if (held !== undefined) return held;
    }
  }

  async unlock(id: string, signals = noSignals): Promise<LedgerLock | undefined> {
    // The lock is read before, because the delete may be sent twice, and the second one would find nothing.
    const seen = await this.readLock(signals);
    if (seen?.id !== id) return undefined;
    await this.#change(
      'delete from trueup.locks where stack = $1 and id = $2 returning stack',
      [id],
      signals,
    );
    return seen;
  }

  async keepEntries(entries: readonly HistoryEntry[], signals = noSignals): Promise<void> {
    if (entries.length === 0) return;
    await this.#change(
      `insert into trueup.history (stack, id, content)
       select $1, kept.id, kept.content::json from unnest($2::text[], $3::text[]) as kept (id, content)
       on conflict (stack, id) do update set content = excluded.content`,
      [entries.map(({ id }) => id), entries.map(formatEntry)],
      signals,
    );
    if (this.#newestId !== undefined) {
      const known = this.#newestId.id === undefined ? [] : [this.#newestId.id];
      this.#newestId = { id: [...known, ...entries.map(({ id }) => id)].sort().at(-1) };
    }
  }

  async listEntries(limit: number, signals?: OperationSignals): Promise<readonly HistoryEntry[]> {
    return completeEntries(await this.readEntries(limit, 0, signals));
  }

  async readEntries(
    limit: number,
    skipped = 0,
    signals = noSignals,
  ): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const rows = await this.#readTexts(
      `select concat(id, ' ', content::text) from trueup.history where stack = $1 order by id desc limit $2 offset $3`,
      [limit, skipped],
      signals,
    );
    const found = rows.map((row) => {
      const end = row.indexOf(' ');
      return { id: row.slice(0, end), text: row.slice(end + 1) };
    });
    if (skipped === 0 && limit > 0) this.#newestId = { id: found[0]?.id };
    return found.map(({ id, text }) => tryEntry(text, this.#entryName(id)));
  }

  async newestEntryId(signals = noSignals): Promise<string | undefined> {
    const statement = 'select id from trueup.history where stack = $1 order by id desc limit 1';
    this.#newestId ??= { id: await this.#readText(statement, [], signals) };
    return this.#newestId.id;
  }

  async showEntry(id: string, signals = noSignals): Promise<HistoryEntry | undefined> {
    const text = await this.#readText(
      'select content::text from trueup.history where stack = $1 and id = $2',
      [id],
      signals,
    );
    return text === undefined ? undefined : parseEntry(text, this.#entryName(id));
  }

  async removeEntries(ids: readonly string[], signals = noSignals): Promise<void> {
    if (ids.length === 0) return;
    await this.#change(
      'delete from trueup.history where stack = $1 and id = any($2::text[])',
      [ids],
      signals,
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  get #lockName(): string {
    return `the lock of stack ${quoted(this.#stack)} in PostgreSQL`;
  }

  #entryName(id: string): string {
    return `the history entry ${quoted(id)} of stack ${quoted(this.#stack)} in PostgreSQL`;
  }

  async #readText(
    statement: string,
    values: readonly unknown[],
    signals: OperationSignals,
  ): Promise<string | undefined> {
    return (await this.#readTexts(statement, values, signals))[0];
  }

  /** Returns nothing when trueup has created no tables. */
  #readTexts(statement: string, values: readonly unknown[], signals: OperationSignals): Promise<string[]> {
    return this.#with('read', signals, async (client) => {
      if (!this.#ready) this.#ready = (await versionOf(client, ledgerTables)) > 0;
      return this.#ready ? this.#query(client, statement, values) : [];
    });
  }

  #change(statement: string, values: readonly unknown[], signals: OperationSignals): Promise<string[]> {
    return this.#with('written', signals, async (client) => {
      if (!this.#ready) await migrate(client, ledgerTables);
      this.#ready = true;
      return this.#query(client, statement, values);
    });
  }

  /** The first column of each row. The stack is `$1` of every statement. */
  async #query(client: PostgresClient, statement: string, values: readonly unknown[]): Promise<string[]> {
    const { rows } = await client.query<Record<string, string>>(statement, [this.#stack, ...values]);
    return rows.map((row) => Object.values(row)[0] ?? '');
  }

  async #with<T>(
    what: 'read' | 'written',
    signals: OperationSignals,
    work: (client: PostgresClient) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#connection.run(signals, work);
    } catch (error) {
      if (error instanceof LedgerError) throw error;
      throw new LedgerError(`${this.place} cannot be ${what}: ${failureMessage(error)}`);
    }
  }
}
