/**
 * Keeps ledger, lock and history in one ref of a git remote, `refs/trueup/<stack>`, for CI without any other storage. Every
 * write is pushed with a lease on the state that it is based on; a run that loses the race reads again and tries again.
 */
import { type HistoryEntry, type Ledger, LedgerError, type LedgerLock } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import {
  completeEntries,
  formatEntry,
  formatLock,
  parseEntry,
  parseLock,
  tryEntry,
} from '../history-text.ts';
import { backupFileName, noLedger, parseLedger } from '../ledger-text.ts';
import { type AbortableStore, noSignals, type OperationSignals, OwnWrites } from '../ledger-store.ts';
import type { GitContext } from './git-command.ts';
import { type Edits, GitRepository, type Snapshot } from './git-repository.ts';

/** @param at a directory in a clone of the repository; @param where.remote the remote that keeps the ledger, such as `origin` */
export function gitLedger(at: GitContext, where: { remote: string; stack: string }): AbortableStore {
  const { remote, stack } = where;
  return new GitRef(at, remote, stack);
}

const ledgerPath = 'ledger.json';
const lockPath = 'lock.json';
const historyFolder = 'history/';

/** The files whose texts are cached. */
const cachedPaths = [ledgerPath, lockPath];

/** The files that trueup writes, backups of damaged ledgers included. */
const ownPath = /^(ledger\.json|lock\.json|damaged-[^/]+\.json|history\/[^/]+\.json)$/;

/** A write fails after it lost this many races against other runs. */
const maxAttempts = 20;

class GitRef implements AbortableStore {
  readonly place: string;
  readonly #stack: string;
  readonly #repository: GitRepository;
  readonly #own: OwnWrites;
  /** the last state that this store read or wrote; used for the first attempt of a write, and for what cannot change under the lock */
  #last: Snapshot | undefined;
  /** the last texts of ledger and lock by path, with the ids of their blobs: the content of an id never changes */
  readonly #texts = new Map<string, { readonly id: string; readonly text: string }>();

  constructor(at: GitContext, remote: string, stack: string) {
    const ref = `refs/trueup/${stack}`;
    this.#stack = stack;
    this.#repository = new GitRepository(at, { remote, ref });
    this.place = `the ledger ${quoted(ref)} of the remote ${quoted(remote)}`;
    this.#own = new OwnWrites({ place: this.place, stack });
  }

  async read(signals = noSignals): Promise<Ledger> {
    return this.#ledgerIn(await this.#readState(signals), signals);
  }

  async write(ledger: Ledger, signals = noSignals): Promise<Ledger> {
    let step = this.#own.first(ledger);
    await this.#replace('write the ledger', signals, async (state) => {
      step = this.#own.next(ledger, await this.#textIn(state, ledgerPath, signals));
      return step.isDone ? undefined : { [ledgerPath]: this.#own.sending(step) };
    });
    return this.#own.confirm(step);
  }

  async whyUnwritable({ read } = noSignals): Promise<string | undefined> {
    return this.#repository.whyUnpushable(read);
  }

  async setAside(signals = noSignals): Promise<string> {
    const path = `${backupFileName()}.json`;
    await this.#replace('set the ledger aside', signals, async (state) => {
      const text = await this.#textIn(state, ledgerPath, signals);
      return text === undefined ? undefined : { [ledgerPath]: undefined, [path]: text };
    });
    return this.#fileName(path);
  }

  async readLock(signals = noSignals): Promise<LedgerLock | undefined> {
    return this.#lockIn(await this.#readState(signals), signals);
  }

  async lock(wanted: LedgerLock, instead?: string, signals = noSignals): Promise<LedgerLock> {
    let current = wanted;
    await this.#replace(`lock for ${wanted.run.who}`, signals, async (state) => {
      const held = await this.#lockIn(state, signals);
      current = held === undefined || held.id === instead ? wanted : held;
      return current === wanted ? { [lockPath]: formatLock(wanted) } : undefined;
    });
    return current;
  }

  async unlock(id: string, signals = noSignals): Promise<LedgerLock | undefined> {
    let removed: LedgerLock | undefined;
    await this.#replace('unlock', signals, async (state) => {
      const held = await this.#lockIn(state, signals);
      removed = held?.id === id ? held : undefined;
      return removed === undefined ? undefined : { [lockPath]: undefined };
    });
    return removed;
  }

  async keepEntries(entries: readonly HistoryEntry[], signals = noSignals): Promise<void> {
    if (entries.length === 0) return;
    const edits = Object.fromEntries(entries.map((entry) => [pathOf(entry.id), formatEntry(entry)]));
    await this.#replace(`keep ${entries.map(({ id }) => id).join(', ')}`, signals, async () => edits);
  }

  async listEntries(limit: number, signals?: OperationSignals): Promise<readonly HistoryEntry[]> {
    return completeEntries(await this.readEntries(limit, 0, signals));
  }

  async readEntries(
    limit: number,
    skipped = 0,
    signals = noSignals,
  ): Promise<readonly (HistoryEntry | LedgerError)[]> {
    const { blobs } = await this.#readState(signals);
    const newest = entryPaths(blobs).slice(skipped, skipped + limit);
    const ids = newest.map((path) => blobs.get(path) ?? '');
    const texts = await this.#repository.readBlobs(ids, signals.read);
    return texts.map((text, index) => tryEntry(text, this.#fileName(newest[index] ?? '')));
  }

  async newestEntryId(signals = noSignals): Promise<string | undefined> {
    const { blobs } = this.#last ?? (await this.#readState(signals));
    return entryPaths(blobs)[0]
      ?.slice(historyFolder.length)
      .replace(/\.json$/, '');
  }

  async showEntry(id: string, signals = noSignals): Promise<HistoryEntry | undefined> {
    const text = await this.#textIn(await this.#readState(signals), pathOf(id), signals);
    return text === undefined ? undefined : parseEntry(text, this.#fileName(pathOf(id)));
  }

  async removeEntries(ids: readonly string[], signals = noSignals): Promise<void> {
    await this.#replace(`remove ${counted(ids.length, 'entry', 'entries')}`, signals, async ({ blobs }) => {
      const there = ids.map(pathOf).filter((path) => blobs.has(path));
      return there.length === 0
        ? undefined
        : Object.fromEntries(there.map((path) => [path, undefined] as const));
    });
  }

  close(): Promise<void> {
    return this.#repository.close();
  }

  async #readState({ read }: OperationSignals): Promise<Snapshot> {
    const seen = await this.#repository.read(read);
    this.#expectOurs(seen);
    this.#last = seen;
    return seen;
  }

  /** A ref without files is valid: an unlock may leave one. @throws LedgerError when trueup wrote none of the files */
  #expectOurs({ blobs }: Snapshot): void {
    const paths = [...blobs.keys()];
    if (paths.length === 0 || paths.some((path) => ownPath.test(path))) return;
    throw new LedgerError(
      `${this.place} cannot be read: it holds files that trueup did not write (${quoted(paths[0] ?? '')}); check that ref, and move it or name another remote in spec.ledger`,
    );
  }

  /**
   * @param edit returns the changes to a state, or undefined when there is nothing to write. It is called for each attempt. A
   * remembered state may be outdated: if `edit` fails with it or returns undefined, the state is read and tried again.
   */
  async #replace(
    what: string,
    signals: OperationSignals,
    edit: (state: Snapshot) => Promise<Edits | undefined>,
  ): Promise<void> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const remembered = attempt === 1 ? this.#last : undefined;
      const state = remembered ?? (await this.#readState(signals));
      const edits = await edit(state).catch((error: unknown) => {
        if (remembered === undefined) throw error;
        return undefined;
      });
      if (edits === undefined) {
        if (remembered === undefined) return;
        continue;
      }
      const about = { message: `${this.#stack}: ${what}`, signal: signals.read };
      const next = await this.#repository.prepare(state, edits, about);
      if (await this.#repository.replace(state, next, signals.write)) {
        this.#last = next;
        for (const [path, text] of Object.entries(edits)) this.#keepText(next, path, text);
        return;
      }
    }
    throw new LedgerError(`${this.place} is written by too many runs at once: try again`);
  }

  async #ledgerIn(state: Snapshot, signals: OperationSignals): Promise<Ledger> {
    const text = await this.#textIn(state, ledgerPath, signals);
    return text === undefined ? noLedger : parseLedger(text, { place: this.place, stack: this.#stack });
  }

  async #lockIn(state: Snapshot, signals: OperationSignals): Promise<LedgerLock | undefined> {
    const text = await this.#textIn(state, lockPath, signals);
    return text === undefined ? undefined : parseLock(text, this.#fileName(lockPath));
  }

  async #textIn({ blobs }: Snapshot, path: string, { read }: OperationSignals): Promise<string | undefined> {
    const id = blobs.get(path);
    if (id === undefined) return undefined;
    const known = this.#texts.get(path);
    if (known?.id === id) return known.text;
    const [text] = await this.#repository.readBlobs([id], read);
    this.#keepText({ blobs }, path, text);
    return text;
  }

  #keepText({ blobs }: Pick<Snapshot, 'blobs'>, path: string, text: string | undefined): void {
    const id = blobs.get(path);
    if (id !== undefined && text !== undefined && cachedPaths.includes(path))
      this.#texts.set(path, { id, text });
  }

  #fileName(path: string): string {
    return `the file ${quoted(path)} of ${this.place}`;
  }
}

/** newest first */
function entryPaths(blobs: Snapshot['blobs']): readonly string[] {
  return [...blobs.keys()]
    .filter((path) => path.startsWith(historyFolder))
    .sort()
    .reverse();
}

function pathOf(entryId: string): string {
  return `${historyFolder}${entryId}.json`;
}
