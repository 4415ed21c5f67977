/**
 * Ledger, lock and history in one ref of a git remote, `refs/trueup/<stack>`: what a CI without any other storage has.
 * Every write is pushed with a lease on the state that it was made from; who loses the race looks again and decides anew.
 */
import { type HistoryEntry, type Ledger, LedgerError, type LedgerLock } from '../../model/stack/ledger.ts';
import { asideName } from '../local/set-aside-name.ts';
import { type EndableStore, type QuestionEnds, noEnds } from '../endable-store.ts';
import type { GitContext } from './git-command.ts';
import { type Edits, GitRepository, type Snapshot } from './git-repository.ts';
import { noLedger, parseLedger } from '../ledger-text.ts';
import { OwnWrites } from '../own-writes.ts';
import { formatStored, parseEntry, parseLock, tryEntry, wholeEntries } from '../stored-json.ts';

/** @param at a directory in a clone of the repository whose remote (`origin`, say) keeps the ledger */
export function gitLedger(
  at: GitContext,
  { remote, stack }: { remote: string; stack: string },
): EndableStore {
  return new GitRef(at, remote, stack);
}

const ledgerPath = 'ledger.json';
const lockPath = 'lock.json';
const historyFolder = 'history/';

/** Also a ledger that was set aside. */
const ours = /^(ledger\.json|lock\.json|damaged-[^/]+\.json|history\/[^/]+\.json)$/;

/** A lost race is no failure: this many in a row are. */
const attempts = 20;

class GitRef implements EndableStore {
  readonly place: string;
  readonly #stack: string;
  readonly #repository: GitRepository;
  readonly #own: OwnWrites;
  /** what this store read or wrote last: good enough to try a write from, never to answer from */
  #last: Snapshot | undefined;

  constructor(at: GitContext, remote: string, stack: string) {
    const ref = `refs/trueup/${stack}`;
    this.#stack = stack;
    this.#repository = new GitRepository(at, { remote, ref });
    this.place = `the ledger "${ref}" of the remote "${remote}"`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(ends = noEnds): Promise<Ledger> {
    return this.#ledgerIn(await this.#look(ends), ends);
  }

  async write(ledger: Ledger, ends = noEnds): Promise<Ledger> {
    let step = this.#own.first(ledger);
    await this.#replace('write the ledger', ends, async (state) => {
      step = this.#own.next(ledger, await this.#textIn(state, ledgerPath, ends));
      return step.isDone ? undefined : { [ledgerPath]: this.#own.sending(step) };
    });
    return this.#own.settle(step);
  }

  async setAside(ends = noEnds): Promise<string> {
    const path = `${asideName()}.json`;
    await this.#replace('set the ledger aside', ends, async (state) => {
      const text = await this.#textIn(state, ledgerPath, ends);
      return text === undefined ? undefined : { [ledgerPath]: undefined, [path]: text };
    });
    return this.#fileName(path);
  }

  async readLock(ends = noEnds): Promise<LedgerLock | undefined> {
    return this.#lockIn(await this.#look(ends), ends);
  }

  async lock(wanted: LedgerLock, instead?: string, ends = noEnds): Promise<LedgerLock> {
    let standing = wanted;
    await this.#replace(`lock for ${wanted.run.who}`, ends, async (state) => {
      const held = await this.#lockIn(state, ends);
      standing = held === undefined || held.id === instead ? wanted : held;
      return standing === wanted ? { [lockPath]: formatStored(wanted) } : undefined;
    });
    return standing;
  }

  async unlock(id: string, ends = noEnds): Promise<LedgerLock | undefined> {
    let removed: LedgerLock | undefined;
    await this.#replace('unlock', ends, async (state) => {
      const held = await this.#lockIn(state, ends);
      removed = held?.id === id ? held : undefined;
      return removed === undefined ? undefined : { [lockPath]: undefined };
    });
    return removed;
  }

  async keepEntries(entries: readonly HistoryEntry[], ends = noEnds): Promise<void> {
    if (entries.length === 0) return;
    const edits = Object.fromEntries(entries.map((entry) => [pathOf(entry.id), formatStored(entry)]));
    await this.#replace(`keep ${entries.map(({ id }) => id).join(', ')}`, ends, async () => edits);
  }

  async listEntries(limit: number, ends?: QuestionEnds): Promise<readonly HistoryEntry[]> {
    return wholeEntries(await this.readEntries(limit, ends));
  }

  async readEntries(limit: number, ends = noEnds): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const { blobs } = await this.#look(ends);
    const paths = [...blobs.keys()].filter((path) => path.startsWith(historyFolder));
    const newest = paths.sort().reverse().slice(0, limit);
    const ids = newest.map((path) => blobs.get(path) ?? '');
    const texts = await this.#repository.readBlobs(ids, ends.look);
    return texts.map((text, index) => tryEntry(text, this.#fileName(newest[index] ?? '')));
  }

  async showEntry(id: string, ends = noEnds): Promise<HistoryEntry | undefined> {
    const text = await this.#textIn(await this.#look(ends), pathOf(id), ends);
    return text === undefined ? undefined : parseEntry(text, this.#fileName(pathOf(id)));
  }

  close(): Promise<void> {
    return this.#repository.close();
  }

  async #look({ look }: QuestionEnds): Promise<Snapshot> {
    const seen = await this.#repository.look(look);
    this.#expectOurs(seen);
    this.#last = seen;
    return seen;
  }

  /** Nothing at all is what a lock leaves that was given back. @throws LedgerError when all that stands there is somebody else's */
  #expectOurs({ blobs }: Snapshot): void {
    const paths = [...blobs.keys()];
    if (paths.length === 0 || paths.some((path) => ours.test(path))) return;
    throw new LedgerError(
      `${this.place} cannot be read: trueup did not write what stands there ("${paths[0]}"); look at that ref, and move it elsewhere or name another remote in spec.ledger`,
    );
  }

  /**
   * @param edit judges a state; undefined when nothing is to be written. Asked again for each state that is met, and what
   * it says or throws of a state that is only remembered counts for nothing.
   */
  async #replace(
    what: string,
    ends: QuestionEnds,
    edit: (state: Snapshot) => Promise<Edits | undefined>,
  ): Promise<void> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const remembered = attempt === 1 ? this.#last : undefined;
      const state = remembered ?? (await this.#look(ends));
      const edits = await edit(state).catch((error: unknown) => {
        if (remembered === undefined) throw error;
        return undefined;
      });
      if (edits === undefined) {
        if (remembered === undefined) return;
        continue;
      }
      const about = { message: `${this.#stack}: ${what}`, signal: ends.look };
      const next = await this.#repository.prepare(state, edits, about);
      if (await this.#repository.replace(state, next, ends.word)) {
        this.#last = next;
        return;
      }
    }
    throw new LedgerError(`${this.place} is written by too many runs at once: try again`);
  }

  async #ledgerIn(state: Snapshot, ends: QuestionEnds): Promise<Ledger> {
    const text = await this.#textIn(state, ledgerPath, ends);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async #lockIn(state: Snapshot, ends: QuestionEnds): Promise<LedgerLock | undefined> {
    const text = await this.#textIn(state, lockPath, ends);
    return text === undefined ? undefined : parseLock(text, this.#fileName(lockPath));
  }

  async #textIn({ blobs }: Snapshot, path: string, { look }: QuestionEnds): Promise<string | undefined> {
    const id = blobs.get(path);
    return id === undefined ? undefined : (await this.#repository.readBlobs([id], look))[0];
  }

  #fileName(path: string): string {
    return `the file "${path}" of ${this.place}`;
  }
}

function pathOf(entryId: string): string {
  return `${historyFolder}${entryId}.json`;
}
