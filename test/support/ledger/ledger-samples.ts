/** Sample ledgers, locks and history entries. */
import type { HistoryEntry, Ledger, LedgerLock, LedgerRecord } from '../../../src/model/ledger.ts';
import { type AddressText, formatAddress, parseAddress, readAddress } from '../../../src/model/address.ts';

/** The address of a record in these ledgers. */
export function addressOf(name: string): AddressText {
  return formatAddress({ kind: 'Kind', target: 'acme', name });
}

/** The names of the resources that a ledger has records of. */
export function namesIn({ records }: Pick<Ledger, 'records'>): string[] {
  return [...records.keys()].map((text) => parseAddress(text).name);
}

export function ledger(serial: number, ...names: readonly string[]): Ledger {
  const record: LedgerRecord = { id: 'ws-1', origin: 'created', fields: { executionMode: 'remote' } };
  return { known: serial > 0, serial, records: new Map(names.map((name) => [addressOf(name), record])) };
}

export function lock(id: string, about: Partial<LedgerLock['run']> = {}): LedgerLock {
  return {
    id,
    since: '2026-11-20T11:42:00.000Z',
    run: { id: `run-${id}`, who: 'ann', where: 'ci-1', ...about },
  };
}

export function entry(id: string, about: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    version: 1,
    id,
    stack: 'payments',
    run: { id: 'run-1', who: 'ann', where: 'ci-1' },
    began: '2026-11-20T11:42:00.000Z',
    digest: '0123456789abcdef0123456789abcdef',
    changes: [
      {
        address: readAddress('Kind/acme/app'),
        action: 'update',
        reason: 'differs',
        fields: [{ path: ['mode'], before: 'a', after: 'b', shape: 'scalar' }],
      },
    ],
    ...about,
  };
}
