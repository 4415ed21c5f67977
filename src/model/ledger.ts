/** Our record of what a stack last applied (RULES 25). A cache of evidence: it can be lost and rebuilt. No secrets. */
import type { AddressText } from './address.ts';
import type { Json } from './json.ts';

export type Origin = 'created' | 'adopted';

export interface LedgerRecord {
  readonly id?: string;
  readonly origin: Origin;
  readonly onRemove?: 'delete' | 'release';
  readonly protect?: boolean;
  /** canonical value last applied of each field that was declared, by top-level field name */
  readonly fields: Readonly<Record<string, Json>>;
  /** the whole canonical content when we last wrote it: only for kinds whose deletion needs it as a witness */
  readonly content?: Readonly<Record<string, Json>>;
  /** what the kind wants to remember besides fields: consumer edges with their ids, that we hold the lock */
  readonly marks?: Readonly<Record<string, Json>>;
}

export interface Ledger {
  /** false when there was none: nothing is reset, removed or revoked on its absence */
  readonly known: boolean;
  /** counts writes of the store */
  readonly serial: number;
  readonly records: ReadonlyMap<AddressText, LedgerRecord>;
}

/** Where a ledger is kept. Writes are atomic: a reader sees the old one or the new one. */
export interface LedgerStore {
  read(): Promise<Ledger>;
  /** @throws when the stored serial is not the one that `ledger` was read with */
  write(ledger: Ledger): Promise<Ledger>;
}
