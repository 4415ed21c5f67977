/**
 * Ledger, lock and history in one ref of a git remote, `refs/trueup/<stack>`: what a CI without any other storage has.
 * Every write is pushed with a lease on the state that it was made from; who loses the race looks again and decides anew.
 */
import {
  type HistoryEntry,
  type Ledger,
  LedgerConflict,
  LedgerError,
  type LedgerLock,
  type StackStore,
} from '../model/ledger.ts';
import { asideName } from './aside-name.ts';
import type { GitPlace } from './git-command.ts';
import { type Edits, GitRepository, type Snapshot } from './git-repository.ts';
import { formatLedger, noLedger, parseLedger } from './ledger-text.ts';
import { formatStored, parseEntry, parseLock, tryEntry, wholeEntries } from './stored-json.ts';

/** @param at a directory in a clone of the repository whose remote (`origin`, say) keeps the ledger */
export function gitLedger(at: GitPlace, { remote, stack }: { remote: string; stack: string }): StackStore {
  return new GitRef(at, remote, stack);
}

const ledgerPath = 'ledger.json';
const lockPath = 'lock.json';
const historyFolder = 'history/';

/** A lost race is no failure: this many in a row are. */
const attempts = 20;

class GitRef implements StackStore {
  readonly place: string;
  readonly #stack: string;
  readonly #repository: GitRepository;
  /** what this store read or wrote last: good enough to try a write from, never to answer from */
  #last: Snapshot | undefined;

  constructor(at: GitPlace, remote: string, stack: string) {
    const ref = `refs/trueup/${stack}`;
    this.#stack = stack;
    this.#repository = new GitRepository(at, { remote, ref });
    this.place = `the ledger "${ref}" of the remote "${remote}"`;
  }

  async read(): Promise<Ledger> {
    return this.#ledgerIn(await this.#look());
  }

  async write(ledger: Ledger): Promise<Ledger> {
    const written = { ...ledger, known: true, serial: ledger.serial + 1 };
    await this.#replace('write the ledger', async (state) => {
      const found = (await this.#ledgerIn(state)).serial;
      if (found !== ledger.serial) throw new LedgerConflict(this.place, { found, expected: ledger.serial });
      return { [ledgerPath]: formatLedger(this.#stack, written) };
    });
    return written;
  }

  async setAside(): Promise<string> {
    const path = `${asideName()}.json`;
    await this.#replace('set the ledger aside', async (state) => {
      const text = await this.#textIn(state, ledgerPath);
      return text === undefined ? undefined : { [ledgerPath]: undefined, [path]: text };
    });
    return this.#fileName(path);
  }

  async readLock(): Promise<LedgerLock | undefined> {
    return this.#lockIn(await this.#look());
  }

  async lock(wanted: LedgerLock, instead?: string): Promise<LedgerLock> {
    let standing = wanted;
    await this.#replace(`lock for ${wanted.run.who}`, async (state) => {
      const held = await this.#lockIn(state);
      standing = held === undefined || held.id === instead ? wanted : held;
      return standing === wanted ? { [lockPath]: formatStored(wanted) } : undefined;
    });
    return standing;
  }

  async unlock(id: string): Promise<LedgerLock | undefined> {
    let removed: LedgerLock | undefined;
    await this.#replace('unlock', async (state) => {
      const held = await this.#lockIn(state);
      removed = held?.id === id ? held : undefined;
      return removed === undefined ? undefined : { [lockPath]: undefined };
    });
    return removed;
  }

  async keepEntries(entries: readonly HistoryEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const edits = Object.fromEntries(entries.map((entry) => [pathOf(entry.id), formatStored(entry)]));
    await this.#replace(`keep ${entries.map(({ id }) => id).join(', ')}`, async () => edits);
  }

  async listEntries(limit: number): Promise<readonly HistoryEntry[]> {
    return wholeEntries(await this.readEntries(limit));
  }

  async readEntries(limit: number): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const { blobs } = await this.#look();
    const paths = [...blobs.keys()].filter((path) => path.startsWith(historyFolder));
    const newest = paths.sort().reverse().slice(0, limit);
    const texts = await this.#repository.readBlobs(newest.map((path) => blobs.get(path) ?? ''));
    return texts.map((text, index) => tryEntry(text, this.#fileName(newest[index] ?? '')));
  }

  async showEntry(id: string): Promise<HistoryEntry | undefined> {
    const text = await this.#textIn(await this.#look(), pathOf(id));
    return text === undefined ? undefined : parseEntry(text, this.#fileName(pathOf(id)));
  }

  close(): Promise<void> {
    return this.#repository.close();
  }

  async #look(): Promise<Snapshot> {
    this.#last = await this.#repository.look();
    return this.#last;
  }

  /**
   * @param edit judges a state; undefined when nothing is to be written. Asked again for each state that is met, and what
   * it says or throws of a state that is only remembered counts for nothing.
   */
  async #replace(what: string, edit: (state: Snapshot) => Promise<Edits | undefined>): Promise<void> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const remembered = attempt === 1 ? this.#last : undefined;
      const state = remembered ?? (await this.#look());
      const edits = await edit(state).catch((error: unknown) => {
        if (remembered === undefined) throw error;
        return undefined;
      });
      if (edits === undefined) {
        if (remembered === undefined) return;
        continue;
      }
      const next = await this.#repository.prepare(state, edits, `${this.#stack}: ${what}`);
      if (await this.#repository.replace(state, next)) {
        this.#last = next;
        return;
      }
    }
    throw new LedgerError(`${this.place} is written by too many runs at once: try again`);
  }

  async #ledgerIn(state: Snapshot): Promise<Ledger> {
    const text = await this.#textIn(state, ledgerPath);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async #lockIn(state: Snapshot): Promise<LedgerLock | undefined> {
    const text = await this.#textIn(state, lockPath);
    return text === undefined ? undefined : parseLock(text, this.#fileName(lockPath));
  }

  async #textIn({ blobs }: Snapshot, path: string): Promise<string | undefined> {
    const id = blobs.get(path);
    return id === undefined ? undefined : (await this.#repository.readBlobs([id]))[0];
  }

  #fileName(path: string): string {
    return `the file "${path}" of ${this.place}`;
  }
}

function pathOf(entryId: string): string {
  return `${historyFolder}${entryId}.json`;
}
