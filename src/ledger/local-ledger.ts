/**
 * Keeps ledger, lock and history in local files beside the stack, as readable JSON. Each file is replaced as a whole. Ledger and
 * lock are changed only in a critical section, so that a read and the write that depends on it are one step. When the ledger is
 * a symbolic link, all files are kept beside its target, so that stacks that share a ledger share its lock.
 */
import { constants } from 'node:fs';
import { access, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { megabyte, readRegularBytes } from '../files/read-file.ts';
import { systemErrorMessage } from '../model/error-message.ts';
import { type HistoryEntry, type Ledger, LedgerError, type LedgerLock } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import {
  completeEntries,
  entryPieces,
  formatLock,
  onlyLedgerError,
  parseEntry,
  parseLock,
} from './history-text.ts';
import { backupFileName, noLedger, parseLedger } from './ledger-text.ts';
import { type AbortableStore, noSignals, type OperationSignals, OwnWrites } from './ledger-store.ts';

import { withExclusiveFile } from './exclusive-file.ts';
import { replaceFile, stateFolderName } from '../files/write-file.ts';

/** @param file absolute path of the ledger; its directory is created by the first write */
export function localLedger(file: string, stack: string): AbortableStore {
  return new LocalFile(file, stack);
}

class LocalFile implements AbortableStore {
  readonly place: string;
  readonly #file: string;
  readonly #stack: string;
  readonly #own: OwnWrites;

  constructor(file: string, stack: string) {
    this.#file = file;
    this.#stack = stack;
    this.place = `the ledger ${quoted(file)}`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(): Promise<Ledger> {
    const text = await readIfThere(this.#file, this.place);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async write(ledger: Ledger, signals?: OperationSignals): Promise<Ledger> {
    return this.#exclusively(this.place, signals, async (file) => {
      const step = this.#own.next(ledger, await readBytesIfThere(this.#file, this.place));
      if (!step.isDone) await replaceFile(file, this.#own.sending(step));
      return this.#own.confirm(step);
    });
  }

  /** Files are replaced and not overwritten, so the permissions of the folder decide. */
  async whyUnwritable(): Promise<string | undefined> {
    const folder = await firstExisting(dirname(await this.#realFile()));
    return access(folder, constants.W_OK | constants.X_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) =>
        `the folder ${quoted(folder)} cannot be written: ${systemErrorMessage(error) ?? error.message}`,
    );
  }

  async setAside(signals?: OperationSignals): Promise<string> {
    return this.#exclusively(this.place, signals, async (file) => {
      const aside = `${file}.${backupFileName()}`;
      await rename(file, aside);
      return quoted(aside);
    });
  }

  async readLock(): Promise<LedgerLock | undefined> {
    return readLockIn(await this.#realFile());
  }

  async lock(wanted: LedgerLock, instead?: string, signals?: OperationSignals): Promise<LedgerLock> {
    return this.#exclusively(this.#lockPlace, signals, async (file) => {
      const held = await readLockIn(file);
      if (held !== undefined && held.id !== instead) return held;
      await replaceFile(lockOf(file), formatLock(wanted));
      return wanted;
    });
  }

  async unlock(id: string, signals?: OperationSignals): Promise<LedgerLock | undefined> {
    return this.#exclusively(this.#lockPlace, signals, async (file) => {
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
      await replaceFile(file, entryPieces(entry)).catch(unwritable(`the history entry ${quoted(file)}`));
    }
  }

  async readEntries(limit: number, skipped = 0): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const newest = (await this.#entryIds()).slice(skipped, skipped + limit);
    const entries = await Promise.all(newest.map((id) => this.showEntry(id).catch(onlyLedgerError)));
    return entries.filter((entry) => entry !== undefined);
  }

  async newestEntryId(): Promise<string | undefined> {
    return (await this.#entryIds())[0];
  }

  /** newest first */
  async #entryIds(): Promise<readonly string[]> {
    const history = historyOf(await this.#realFile());
    const names = await readdir(history).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new LedgerError(`the history ${quoted(history)} cannot be read: ${error.message}`);
    });
    return names
      .flatMap((name) => (name.endsWith(entrySuffix) ? [name.slice(0, -entrySuffix.length)] : []))
      .sort()
      .reverse();
  }

  async listEntries(limit: number): Promise<readonly HistoryEntry[]> {
    return completeEntries(await this.readEntries(limit));
  }

  async showEntry(id: string): Promise<HistoryEntry | undefined> {
    if (!isEntryId(id)) return undefined;
    const file = entryIn(historyOf(await this.#realFile()), id);
    const place = `the history entry ${quoted(file)}`;
    const text = await readIfThere(file, place);
    return text === undefined ? undefined : parseEntry(text, place);
  }

  async removeEntries(ids: readonly string[]): Promise<void> {
    const history = historyOf(await this.#realFile());
    for (const id of ids.filter(isEntryId)) {
      const file = entryIn(history, id);
      await rm(file, { force: true }).catch(unwritable(`the history entry ${quoted(file)}`));
    }
  }

  async close(): Promise<void> {}

  /** Runs `work` in the critical section of this ledger. @param work gets the real path of the ledger's file */
  async #exclusively<T>(
    what: string,
    { read }: OperationSignals = noSignals,
    work: (file: string) => Promise<T>,
  ): Promise<T> {
    try {
      const file = await followLinks(this.#file);
      return await withExclusiveFile(exclusiveFileOf(file), () => work(file), undefined, read);
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
    return `the lock ${quoted(lockOf(this.#file))}`;
  }
}

function lockOf(file: string): string {
  return `${file}.lock`;
}

async function readLockIn(file: string): Promise<LedgerLock | undefined> {
  const place = `the lock ${quoted(lockOf(file))}`;
  const text = await readIfThere(lockOf(file), place);
  return text === undefined ? undefined : parseLock(text, place);
}

/** The file of the critical section. It is never removed, so it is in a folder that git ignores, even if the ledger is committed. */
function exclusiveFileOf(file: string): string {
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

/** Users type ids, and an id becomes part of a path, so other characters are not allowed. */
function isEntryId(text: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(text);
}

/** The maximal size of a ledger, a lock or an entry: a much longer text does not fit into one string. */
const maxBytes = 500 * megabyte;

/** The maximal number of symbolic links to follow, as in the operating system. */
const maxLinks = 40;

/**
 * Follows symbolic links to their target, even if it does not exist yet, so that the target is written and not the link.
 * @param file absolute. @throws when the links form a circle
 */
async function followLinks(file: string): Promise<string> {
  let at = file;
  for (let followed = 0; followed <= maxLinks; followed += 1) {
    const folder = await realpath(dirname(at)).catch(() => dirname(at));
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) return join(folder, basename(at));
    at = resolve(folder, target);
  }
  throw new Error(`${quoted(file)} has too many symbolic links`);
}

/** The folder, or the nearest one above that exists: the first write creates those below. */
async function firstExisting(folder: string): Promise<string> {
  const above = dirname(folder);
  const isThere = await stat(folder).then(
    () => true,
    () => above === folder,
  );
  return isThere ? folder : firstExisting(above);
}

async function readIfThere(file: string, place: string): Promise<string | undefined> {
  return (await readBytesIfThere(file, place))?.toString('utf8');
}

async function readBytesIfThere(file: string, place: string): Promise<Buffer | undefined> {
  return readRegularBytes(file, maxBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new LedgerError(`${place} cannot be read: ${error.message}`, { cause: error });
  });
}

/** Handles an error of a write: throws it as a LedgerError. */
function unwritable(what: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof LedgerError || !(error instanceof Error)) throw error;
    throw new LedgerError(`${what} cannot be written: ${error.message}`, { cause: error });
  };
}
