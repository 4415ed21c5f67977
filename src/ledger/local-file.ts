/**
 * Ledger, lock and history in local files beside the stack, readable JSON. Each file is replaced as a whole, and
 * whoever changes ledger or lock does so alone, so that a look and the write that relies on it are one.
 */
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type HistoryEntry,
  type Ledger,
  LedgerConflict,
  LedgerError,
  type LedgerLock,
  type StackStore,
} from '../model/ledger.ts';
import { asideName } from './aside-name.ts';
import { formatLedger, noLedger, parseLedger } from './ledger-text.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { replaceFile } from './replace-file.ts';
import { formatStored, parseEntry, parseLock } from './stored-json.ts';

/** @param file absolute path of the ledger; its directory is made when the first write needs it */
export function localLedger(file: string, stack: string): StackStore {
  return new LocalFile(file, stack);
}

class LocalFile implements StackStore {
  readonly place: string;
  readonly #file: string;
  readonly #stack: string;

  constructor(file: string, stack: string) {
    this.#file = file;
    this.#stack = stack;
    this.place = `the ledger "${file}"`;
  }

  async read(): Promise<Ledger> {
    const text = await readIfThere(this.#file, this.place);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async write(ledger: Ledger): Promise<Ledger> {
    return this.#alone(this.place, async () => {
      const found = (await this.read()).serial;
      if (found !== ledger.serial) throw new LedgerConflict(this.place, { found, expected: ledger.serial });
      const written = { ...ledger, known: true, serial: ledger.serial + 1 };
      await replaceFile(this.#file, formatLedger(this.#stack, written));
      return written;
    });
  }

  async setAside(): Promise<string> {
    return this.#alone(this.place, async () => {
      const aside = `${this.#file}.${asideName()}`;
      await rename(this.#file, aside);
      return `"${aside}"`;
    });
  }

  async readLock(): Promise<LedgerLock | undefined> {
    const text = await readIfThere(this.#lockFile, this.#lockPlace);
    return text === undefined ? undefined : parseLock(text, this.#lockPlace);
  }

  async lock(wanted: LedgerLock, instead?: string): Promise<LedgerLock> {
    return this.#alone(this.#lockPlace, async () => {
      const held = await this.readLock();
      if (held !== undefined && held.id !== instead) return held;
      await replaceFile(this.#lockFile, formatStored(wanted));
      return wanted;
    });
  }

  async unlock(id: string): Promise<LedgerLock | undefined> {
    return this.#alone(this.#lockPlace, async () => {
      const held = await this.readLock();
      if (held?.id !== id) return undefined;
      await rm(this.#lockFile, { force: true });
      return held;
    });
  }

  async keepEntries(entries: readonly HistoryEntry[]): Promise<void> {
    for (const entry of entries) {
      const file = this.#entryFile(entry.id);
      await replaceFile(file, formatStored(entry)).catch(unwritable(`the history entry "${file}"`));
    }
  }

  async listEntries(limit: number): Promise<readonly HistoryEntry[]> {
    const names = await readdir(this.#historyDirectory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new LedgerError(`the history "${this.#historyDirectory}" cannot be read: ${error.message}`);
    });
    const ids = names.flatMap((name) =>
      name.endsWith(entrySuffix) ? [name.slice(0, -entrySuffix.length)] : [],
    );
    const newest = ids.sort().reverse().slice(0, limit);
    const entries = await Promise.all(newest.map((id) => this.showEntry(id)));
    return entries.filter((entry) => entry !== undefined);
  }

  async showEntry(id: string): Promise<HistoryEntry | undefined> {
    if (!isEntryId(id)) return undefined;
    const place = `the history entry "${this.#entryFile(id)}"`;
    const text = await readIfThere(this.#entryFile(id), place);
    return text === undefined ? undefined : parseEntry(text, place);
  }

  async close(): Promise<void> {}

  #alone<T>(what: string, work: () => Promise<T>): Promise<T> {
    return oneAtATime(`${this.#file}.busy`, work).catch(unwritable(what));
  }

  get #lockFile(): string {
    return `${this.#file}.lock`;
  }

  get #lockPlace(): string {
    return `the lock "${this.#lockFile}"`;
  }

  /** `payments.history` beside `payments.ledger.json`. */
  get #historyDirectory(): string {
    return `${this.#file.replace(/(\.ledger)?\.json$/, '')}.history`;
  }

  #entryFile(id: string): string {
    return join(this.#historyDirectory, `${id}${entrySuffix}`);
  }
}

const entrySuffix = '.json';

/** What a user types as an id becomes part of a path. */
function isEntryId(text: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(text);
}

async function readIfThere(file: string, place: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new LedgerError(`${place} cannot be read: ${error.message}`, { cause: error });
  });
}

function unwritable(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof LedgerError || !(error instanceof Error)) throw error;
    throw new LedgerError(`${what} cannot be written: ${error.message}`, { cause: error });
  };
}
