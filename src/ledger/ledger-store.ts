/**
 * What all stores share: operations that can be aborted, because a store may never answer; and the decision whether a run may replace
 * the stored ledger.
 */
import {
  type HistoryEntry,
  type HistoryStore,
  type Ledger,
  LedgerConflict,
  type LedgerError,
  type StackStore,
  WaitEnded,
} from '../model/ledger.ts';
import { formatLedger, hashOf, type LedgerLocation, parseLedger } from './ledger-text.ts';

/** The signals that abort one operation of a store. */
export interface OperationSignals {
  /** aborts what can be abandoned without consequences: a read, a connection, the wait for the critical section */
  readonly read: AbortSignal;
  /** aborts a request that the store may have received, so that its outcome is unknown; never before `read` */
  readonly write: AbortSignal;
}

export type StoreOperation = Exclude<keyof StackStore, 'place' | 'close'>;

/** An aborted operation rejects with `WaitEnded`, after everything that was started for it has ended. */
export type AbortableStore = Pick<StackStore, 'place' | 'close'> & {
  readonly [Name in StoreOperation]: (
    ...given: [...Parameters<StackStore[Name]>, signals?: OperationSignals]
  ) => ReturnType<StackStore[Name]>;
};

const never = new AbortController().signal;

/** For operations that are never aborted. */
export const noSignals: OperationSignals = { read: never, write: never };

/**
 * Waits for the work until the signal is aborted. The work itself is not stopped then, and its result is ignored.
 * @throws WaitEnded
 */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(new WaitEnded());
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

// Decides whether a run may replace the stored ledger. A write may be stored although its response was lost, so each write is
// remembered until a later one is confirmed. So a run never mistakes its own write for one of another run.

/** One attempt to write a ledger. */
interface WriteStep {
  readonly written: Ledger;
  readonly text: string;
  readonly hash: string;
  /** serial of the ledger that it replaces */
  readonly from: number;
  /** already stored by an earlier attempt */
  readonly isDone: boolean;
}

/** The writes of one store, one at a time. */
export class OwnWrites {
  readonly #where: LedgerLocation;
  /** hashes of the texts that were sent since the last confirmed one */
  readonly #unconfirmed = new Set<string>();
  /** the text that was stored last: it need not be parsed again to know its serial */
  #confirmed: { readonly hash: string; readonly serial: number } | undefined;

  constructor(where: LedgerLocation) {
    this.#where = where;
  }

  /** The first attempt, based on the ledger's own serial; for stores that compare the serials themselves. */
  first(ledger: Ledger): WriteStep {
    return this.#step(ledger, ledger.serial);
  }

  /**
   * The next attempt, based on the stored text.
   * @param stored undefined when there is none; the bytes of a text in UTF-8 need not be decoded if they are known
   * @throws LedgerConflict when the stored ledger is neither the one that `ledger` is based on nor a write of this store
   */
  next(ledger: Ledger, stored: string | Buffer | undefined): WriteStep {
    const hash = stored === undefined ? undefined : hashOf(stored);
    const found = this.#serialOf(stored, hash);
    const isOurs = hash !== undefined && this.#unconfirmed.has(hash);
    if (!isOurs) {
      if (found !== ledger.serial)
        throw new LedgerConflict(this.#where.place, { found, expected: ledger.serial });
      return this.#step(ledger, found);
    }
    const before = this.#step(ledger, found - 1);
    return before.hash === hash ? { ...before, isDone: true } : this.#step(ledger, found);
  }

  /** Call it just before sending, because the text may be stored from then on. @returns the text to send */
  sending({ text, hash }: WriteStep): string {
    this.#unconfirmed.add(hash);
    return text;
  }

  /** Call it when an attempt is known to be stored. */
  confirm({ written, hash }: WriteStep): Ledger {
    this.#unconfirmed.clear();
    this.#confirmed = { hash, serial: written.serial };
    return written;
  }

  #serialOf(stored: string | Buffer | undefined, hash: string | undefined): number {
    if (stored === undefined) return 0;
    const confirmed = this.#confirmed;
    return confirmed !== undefined && confirmed.hash === hash
      ? confirmed.serial
      : parseLedger(stored.toString(), this.#where).serial;
  }

  #step(ledger: Ledger, from: number): WriteStep {
    const written = { ...ledger, known: true, serial: from + 1 };
    const text = formatLedger(this.#where.stack, written);
    return { written, text, hash: hashOf(text), from, isDone: false };
  }
}

/**
 * Reads the history from the newest entry on, in portions that grow: a caller that stops early has read little, and a store that is far
 * away is asked only a few times.
 */
export async function* newestFirst(
  store: Pick<HistoryStore, 'readEntries'>,
): AsyncGenerator<HistoryEntry | LedgerError, void> {
  let skipped = 0;
  for (let portion = 1; ; portion *= 2) {
    const entries = await store.readEntries(portion, skipped);
    yield* entries;
    if (entries.length < portion) return;
    skipped += portion;
  }
}

/**
 * The newest entries of the history, without those that were copied from another stack together with a resource: they say nothing about
 * the applies of this one.
 */
export async function ownEntries(
  store: Pick<HistoryStore, 'readEntries'>,
  limit: number,
): Promise<readonly (HistoryEntry | LedgerError)[]> {
  for (let asked = limit; ; asked *= 8) {
    const entries = await store.readEntries(asked);
    const own = entries.filter((entry) => entry instanceof Error || entry.moved !== true);
    if (own.length >= limit || entries.length < asked) return own.slice(0, limit);
  }
}
