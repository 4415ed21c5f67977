import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLedger, parseLedger } from '../../src/ledger/ledger-text.ts';
import type { AddressText } from '../../src/model/address.ts';
import type { Ledger, LedgerRecord } from '../../src/model/ledger.ts';

const place = { place: 'the ledger', stack: 'payments' };

/** A ledger from before targets had identities. */
function former(records: object): string {
  const checksum = createHash('sha256').update(JSON.stringify(records)).digest('hex');
  return JSON.stringify({ version: 1, stack: 'payments', serial: 3, checksum, records });
}

describe('a ledger of version 1', () => {
  const text = former({ 'Kind/acme/app': { origin: 'created', fields: {} } });

  it('has no identities of targets, even after it was written again unchanged', () => {
    const read = parseLedger(text, place);
    expect(read).not.toHaveProperty('targets');
    const again = parseLedger(formatLedger('payments', { ...read, serial: 4 }), place);
    expect(again).toEqual({ ...read, serial: 4 });
    expect(again).not.toHaveProperty('targets');
  });
});

it('a ledger with a record of an invalid address is damaged, even with a valid checksum', () => {
  const text = former({
    'Kind/acme/app': { origin: 'created', fields: {} },
    app: { origin: 'created', fields: {} },
  });
  expect(() => parseLedger(text, place)).toThrow(
    'the ledger is damaged: one of its records has no valid address',
  );
});

describe('the text of a ledger', () => {
  const records = fc.array(
    fc.record({
      id: fc.string({ unit: 'binary' }),
      origin: fc.constantFrom<LedgerRecord['origin']>('created', 'adopted'),
      // A negative zero cannot be written as JSON.
      fields: fc
        .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
        .map((fields) => JSON.parse(JSON.stringify(fields))),
    }),
    { maxLength: 5 },
  );
  const ledgerOf = (some: readonly LedgerRecord[], shift: number): Ledger => {
    const addressed = some.map(
      (record, index) => [`Kind/acme/app "${(index * 7 + shift) % 5}"` as AddressText, record] as const,
    );
    return { known: true, serial: 4, stackId: 'an-id', records: new Map(addressed) };
  };

  it('is indented JSON with sorted addresses, and its checksum covers the same JSON without spaces', () => {
    fc.assert(
      fc.property(records, (some) => {
        const text = formatLedger('payments', ledgerOf(some, 0));
        const { version: _, stack: __, serial: ___, checksum, ...content } = JSON.parse(text);
        expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
        expect(checksum).toBe(createHash('sha256').update(JSON.stringify(content)).digest('hex'));
        expect(Object.keys(content.records)).toEqual(Object.keys(content.records).toSorted());
        expect(parseLedger(text, place)).toEqual(ledgerOf(some, 0));
      }),
    );
  });

  it('follows a record that has another address than in the write before', () => {
    fc.assert(
      fc.property(records, (some) => {
        formatLedger('payments', ledgerOf(some, 0));
        const moved = formatLedger('payments', ledgerOf(some, 1));
        expect(moved).toBe(formatLedger('payments', ledgerOf(structuredClone(some), 1)));
      }),
    );
  });
});
