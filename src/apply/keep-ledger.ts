/**
 * The ledger while an apply runs: changed in memory as outcomes come in, written by one writer at a time. Whatever has
 * ended before a write begins is in that write.
 */

import type { AddressText } from '../model/address.ts';
import { sameJson } from '../model/json.ts';
import type { Ledger, LedgerRecord, LedgerStore } from '../model/ledger.ts';

export class LedgerKeeper {
  readonly #store: LedgerStore;
  #ledger: Ledger;
  readonly #records: Map<AddressText, LedgerRecord>;
  #dirty = false;
  #writing: Promise<void> | undefined;

  constructor(store: LedgerStore, ledger: Ledger) {
    this.#store = store;
    this.#ledger = ledger;
    this.#records = new Map(ledger.records);
  }

  get(address: AddressText): LedgerRecord | undefined {
    return this.#records.get(address);
  }

  put(address: AddressText, record: LedgerRecord): void {
    const known = this.#records.get(address);
    if (known !== undefined && sameJson(asJson(known), asJson(record))) return;
    this.#records.set(address, record);
    this.#dirty = true;
  }

  drop(address: AddressText): void {
    if (this.#records.delete(address)) this.#dirty = true;
  }

  /** Resolves when everything put so far is written. A ledger that did not exist is written even when it is empty. */
  async save(): Promise<Ledger> {
    while (this.#dirty || this.#writing !== undefined || !this.#ledger.known) {
      this.#writing ??= this.#write();
      await this.#writing;
    }
    return this.#ledger;
  }

  /** Saves in the background. What fails here is still unsaved, so the next `save` meets the same error and tells it. */
  saveSoon(): void {
    this.save().catch(() => {});
  }

  async #write(): Promise<void> {
    this.#dirty = false;
    try {
      this.#ledger = await this.#store.write({ ...this.#ledger, records: new Map(this.#records) });
    } catch (error) {
      this.#dirty = true;
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}

function asJson(record: LedgerRecord) {
  return JSON.parse(JSON.stringify(record));
}
