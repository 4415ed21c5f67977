/**
 * The ledger while an apply runs: changed in memory as outcomes come in, written by one writer at a time. Whatever has
 * ended before a write begins is in that write; what a failed write was to hold is in the next one. Once another run has
 * written the ledger, nothing more is: what this run knows is out of date for good.
 */
import type { AddressText } from '../model/resource/address.ts';
import { sameJson } from '../model/json/json.ts';
import { type Ledger, LedgerConflict, type LedgerRecord, type LedgerStore } from '../model/stack/ledger.ts';

/** All that an apply does with a store. */
export type LedgerWriter = Pick<LedgerStore, 'write'>;

/** What a ledger says besides its records. */
export type LedgerHead = Pick<Ledger, 'targets' | 'commit'>;

export class LedgerKeeper {
  readonly #store: LedgerWriter;
  #ledger: Ledger;
  readonly #records: Map<AddressText, LedgerRecord>;
  /** changes that no write holds yet */
  #unwritten = 0;
  #writing: Promise<void> | undefined;
  readonly #lost = new AbortController();

  /** @param head what the ledger is to say besides its records; written with the first of them, or by itself */
  constructor(store: LedgerWriter, ledger: Ledger, head: LedgerHead = {}) {
    this.#store = store;
    this.#ledger = { ...ledger, ...head };
    this.#records = new Map(ledger.records);
    if (!sameJson(headJson(ledger), headJson(this.#ledger))) this.#unwritten = 1;
  }

  /** Aborts when another run has written the ledger: there is nobody left to tell what is done. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get(address: AddressText): LedgerRecord | undefined {
    return this.#records.get(address);
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
      this.#writing ??= this.#write();
      await this.#writing;
    }
    return this.#ledger;
  }

  /**
   * Lets a write begin and waits for nothing. A large ledger waits until enough has changed: it is written whole, and
   * must not be written whole ten thousand times. A failure is not lost: what is unwritten stays so, and `save` tries again.
   */
  saveSoon(): void {
    const enough = Math.max(1, this.#records.size / writesOfAll);
    if (this.#writing !== undefined || this.#unwritten < enough) return;
    this.#writing = this.#write();
    this.#writing.then(
      () => this.saveSoon(),
      () => {},
    );
  }

  async #write(): Promise<void> {
    const written = this.#unwritten;
    this.#unwritten = 0;
    try {
      this.#lost.signal.throwIfAborted();
      this.#ledger = await this.#store.write({ ...this.#ledger, records: new Map(this.#records) });
    } catch (error) {
      this.#unwritten += Math.max(written, 1);
      if (error instanceof LedgerConflict) this.#lost.abort(error);
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** How often a ledger is written, at most, while each of its records changes once. */
const writesOfAll = 200;

function headJson({ targets, commit }: LedgerHead) {
  return JSON.parse(JSON.stringify([[...(targets ?? [])].sort(), commit ?? null]));
}

function asJson(record: LedgerRecord) {
  return JSON.parse(JSON.stringify(record));
}
