/**
 * Ledger, lock and history in local files beside the stack, readable JSON. Each file is replaced as a whole, and
 * whoever changes ledger or lock does so alone, so that a look and the write that relies on it are one. Where the ledger is
 * a link, all of it is kept where that leads, so that those who share a ledger share its lock.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { type HistoryEntry, type Ledger, LedgerError, type LedgerLock } from '../../model/stack/ledger.ts';
import { asideName } from './set-aside-name.ts';
import { type EndableStore, type QuestionEnds, noEnds } from '../endable-store.ts';
import { followLinks } from './follow-links.ts';
import { noLedger, parseLedger } from '../ledger-text.ts';
import { withExclusiveFile } from './exclusive-file.ts';
import { OwnWrites } from '../own-writes.ts';
import { replaceFile } from './replace-file.ts';
import { stateFolderName } from './state-folder.ts';
import { formatStored, onlyLedgerError, parseEntry, parseLock, wholeEntries } from '../stored-json.ts';

/** @param file absolute path of the ledger; its directory is made when the first write needs it */
export function localLedger(file: string, stack: string): EndableStore {
  return new LocalFile(file, stack);
}

class LocalFile implements EndableStore {
  readonly place: string;
  readonly #file: string;
  readonly #stack: string;
  readonly #own: OwnWrites;

  constructor(file: string, stack: string) {
    this.#file = file;
    this.#stack = stack;
    this.place = `the ledger "${file}"`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(): Promise<Ledger> {
    const text = await this.#readText();
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async write(ledger: Ledger, ends?: QuestionEnds): Promise<Ledger> {
    return this.#alone(this.place, ends, async (file) => {
      const step = this.#own.next(ledger, await this.#readText());
      if (!step.isDone) await replaceFile(file, this.#own.sending(step));
      return this.#own.settle(step);
    });
  }

  #readText(): Promise<string | undefined> {
    return readIfThere(this.#file, this.place);
  }

  async setAside(ends?: QuestionEnds): Promise<string> {
    return this.#alone(this.place, ends, async (file) => {
      const aside = `${file}.${asideName()}`;
      await rename(file, aside);
      return `"${aside}"`;
    });
  }

  async readLock(): Promise<LedgerLock | undefined> {
    return readLockIn(await this.#realFile());
  }

  async lock(wanted: LedgerLock, instead?: string, ends?: QuestionEnds): Promise<LedgerLock> {
    return this.#alone(this.#lockPlace, ends, async (file) => {
      const held = await readLockIn(file);
      if (held !== undefined && held.id !== instead) return held;
      await replaceFile(lockOf(file), formatStored(wanted));
      return wanted;
    });
  }

  async unlock(id: string, ends?: QuestionEnds): Promise<LedgerLock | undefined> {
    return this.#alone(this.#lockPlace, ends, async (file) => {
      const held = await readLockIn(file);
      if (held?.id !== id) return undefined;
      await rm(lockOf(file), { force: true });
      return held;
    });
  }

  async keepEntries(entries: readonly HistoryEntry[]): Promise<void> {
    const history = historyOf(await this.#realFile());
    for (const entry of entries) {
      const file = entryIn(history, entry.id);
      await replaceFile(file, formatStored(entry)).catch(unwritable(`the history entry "${file}"`));
    }
  }

  async readEntries(limit: number): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const history = historyOf(await this.#realFile());
    const names = await readdir(history).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new LedgerError(`the history "${history}" cannot be read: ${error.message}`);
    });
    const ids = names.flatMap((name) =>
      name.endsWith(entrySuffix) ? [name.slice(0, -entrySuffix.length)] : [],
    );
    const newest = ids.sort().reverse().slice(0, limit);
    const entries = await Promise.all(newest.map((id) => this.showEntry(id).catch(onlyLedgerError)));
    return entries.filter((entry) => entry !== undefined);
  }

  async listEntries(limit: number): Promise<readonly HistoryEntry[]> {
    return wholeEntries(await this.readEntries(limit));
  }

  async showEntry(id: string): Promise<HistoryEntry | undefined> {
    if (!isEntryId(id)) return undefined;
    const file = entryIn(historyOf(await this.#realFile()), id);
    const place = `the history entry "${file}"`;
    const text = await readIfThere(file, place);
    return text === undefined ? undefined : parseEntry(text, place);
  }

  async close(): Promise<void> {}

  /** Who is inside is waited for, and nothing else can take long. @param work is given the ledger's file, where it really lies */
  async #alone<T>(
    what: string,
    { look }: QuestionEnds = noEnds,
    work: (file: string) => Promise<T>,
  ): Promise<T> {
    try {
      const file = await followLinks(this.#file);
      return await withExclusiveFile(guardOf(file), () => work(file), undefined, look);
    } catch (error) {
      return unwritable(what)(error);
    }
  }

  async #realFile(): Promise<string> {
    return followLinks(this.#file).catch((error: Error) => {
      throw new LedgerError(`${this.place} cannot be read: ${error.message}`, { cause: error });
    });
  }

  get #lockPlace(): string {
    return `the lock "${lockOf(this.#file)}"`;
  }
}

function lockOf(file: string): string {
  return `${file}.lock`;
}

async function readLockIn(file: string): Promise<LedgerLock | undefined> {
  const place = `the lock "${lockOf(file)}"`;
  const text = await readIfThere(lockOf(file), place);
  return text === undefined ? undefined : parseLock(text, place);
}

/** It stays, so it stands in a folder that git leaves out, also where the ledger itself is meant for git. */
function guardOf(file: string): string {
  const folder = dirname(file);
  const ours = basename(folder) === stateFolderName ? folder : join(folder, stateFolderName);
  return join(ours, `${basename(file)}.guard`);
}

/** `payments.history` beside `payments.ledger.json`. */
function historyOf(file: string): string {
  return `${file.replace(/(\.ledger)?\.json$/, '')}.history`;
}

function entryIn(history: string, id: string): string {
  return join(history, `${id}${entrySuffix}`);
}

const entrySuffix = '.json';

/** What a user types as an id becomes part of a path. */
function isEntryId(text: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(text);
}

/** Of a ledger, a lock or an entry; a text of many more could not be held in one piece. */
const mostBytes = 500 * megabyte;

async function readIfThere(file: string, place: string): Promise<string | undefined> {
  return readRegularText(file, mostBytes).catch((error: NodeJS.ErrnoException) => {
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
