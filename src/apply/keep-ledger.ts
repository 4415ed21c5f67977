/**
 * The ledger and the lock while an apply runs. The ledger is changed in memory, with at most one write at a time. Once the lock
 * is lost or another run has written the ledger, nothing more is written.
 */
import type { AddressText } from '../model/address.ts';
import { sameJson } from '../model/json.ts';
import { type Ledger, LedgerConflict, type LedgerRecord, type LedgerStore } from '../model/ledger.ts';
import { matchesRedacted } from '../redaction/stored-values.ts';

/** What an apply needs of a store. */
export type LedgerWriter = Pick<LedgerStore, 'write'>;

/** What a ledger holds besides its records. */
export type LedgerHead = Pick<Ledger, 'targets' | 'commit' | 'otherCommits' | 'stackId' | 'repository'>;

export class LedgerKeeper {
  readonly #store: LedgerWriter;
  #ledger: Ledger;
  readonly #records: Map<AddressText, LedgerRecord>;
  /** number of changes that are not written yet */
  #unwritten = 0;
  #writing: Promise<void> | undefined;
  readonly #lost = new AbortController();

  /** @param head what the ledger holds besides its records; written with the first record, or alone */
  constructor(store: LedgerWriter, ledger: Ledger, head: LedgerHead = {}) {
    this.#store = store;
    this.#ledger = { ...ledger, ...head };
    this.#records = new Map(ledger.records);
    if (!sameJson(headJson(ledger), headJson(this.#ledger))) this.#unwritten = 1;
  }

  /** Aborts when another run has written the ledger: nothing more can be recorded then. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get(address: AddressText): LedgerRecord | undefined {
    return this.#records.get(address);
  }

  /** Whether there is such a record, which may lack secrets: a run that had read them has redacted them. */
  has(address: AddressText, record: LedgerRecord): boolean {
    const known = this.#records.get(address);
    return known !== undefined && matchesRedacted(asJson(known), asJson(record));
  }

  put(address: AddressText, record: LedgerRecord): void {
    const known = this.#records.get(address);
    if (known !== undefined && sameJson(asJson(known), asJson(record))) return;
    this.#records.set(address, record);
    this.#unwritten += 1;
  }

  drop(address: AddressText): void {
    if (this.#records.delete(address)) this.#unwritten += 1;
  }

  /**
   * Resolves when everything put so far is written. A ledger that did not exist is written even when it is empty.
   * @throws what the store throws
   */
  async save(): Promise<Ledger> {
    while (this.#unwritten > 0 || this.#writing !== undefined || !this.#ledger.known) {
      const earlier = this.#writing;
      if (earlier === undefined) await this.#begin();
      // If the earlier write fails, the next one writes its changes.
      else await earlier.catch(() => {});
    }
    return this.#ledger;
  }

  /**
   * Starts a write, and does not wait for its end. A large ledger is written only after many changes, because each write stores
   * all of it. After a failure the changes stay unwritten, and `save` tries again.
   */
  saveSoon(): void {
    const { size } = this.#records;
    const enough = size <= smallLedger ? 1 : size / maxWrites;
    if (this.#writing !== undefined || this.#unwritten < enough) return;
    this.#begin().then(
      () => this.saveSoon(),
      () => {},
    );
  }

  #begin(): Promise<void> {
    // The callback runs after the assignment below, even if the write fails at once.
    const writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    this.#writing = writing;
    return writing;
  }

  async #write(): Promise<void> {
    const written = this.#unwritten;
    this.#unwritten = 0;
    try {
      this.#lost.signal.throwIfAborted();
      const records = new Map(this.#records);
      this.#ledger = await this.#store.write({ ...withoutReturned(this.#ledger, records), records });
    } catch (error) {
      this.#unwritten += Math.max(written, 1);
      if (error instanceof LedgerConflict) this.#lost.abort(error);
      throw error;
    }
  }
}

/** Removes from `movedAway` the resources that this stack has records of again: they no longer belong to another stack. */
function withoutReturned(ledger: Ledger, records: Ledger['records']): Ledger {
  const { movedAway } = ledger;
  if (movedAway === undefined) return ledger;
  return { ...ledger, movedAway: new Map([...movedAway].filter(([address]) => !records.has(address))) };
}

/** A ledger of at most this many records is written after each change. */
const smallLedger = 200;

/** The maximum number of writes of a larger ledger while each of its records changes once. */
const maxWrites = 50;

function headJson({ targets, commit, otherCommits = [], stackId, repository }: LedgerHead) {
  const all = [
    [...(targets ?? [])].sort(),
    commit ?? null,
    otherCommits,
    stackId ?? null,
    repository ?? null,
  ];
  return JSON.parse(JSON.stringify(all));
}

function asJson(record: LedgerRecord) {
  return JSON.parse(JSON.stringify(record));
}

/** Keeps a run from writing after it has lost its lock. */
export interface LockGuard {
  /** Resolves when a write may be sent now. @throws LockLost when it may not, and on each later call */
  pass(): Promise<void>;
  /** aborts as soon as the lock is known to be lost; its reason is a LockLost */
  readonly lost: AbortSignal;
}

/** Lets one attempt pass, unless it had to wait for so long that the resource has to be read again. */
export class GuardedRequest {
  readonly #lockGuard: LockGuard | undefined;
  readonly #isRecent: () => boolean;
  /** the attempt was held back because its last read is too old */
  mustRecheck = false;

  constructor(lockGuard: LockGuard | undefined, isRecent: () => boolean) {
    this.#lockGuard = lockGuard;
    this.#isRecent = isRecent;
  }

  async pass(): Promise<void> {
    await this.#lockGuard?.pass();
    this.mustRecheck = !this.#isRecent();
    if (this.mustRecheck) throw new Error('the resource is read again before the write');
  }
}
