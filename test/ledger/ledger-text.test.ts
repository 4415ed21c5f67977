import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formatLedger, parseLedger } from '../../src/ledger/ledger-text.ts';

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
