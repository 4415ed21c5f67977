/** How often a large ledger is written: each write is complete, so a write for each outcome would be quadratic. */
import { describe, expect, it } from 'vitest';
import { LedgerKeeper } from '../../src/apply/keep-ledger.ts';
import type { Ledger, LedgerRecord } from '../../src/model/ledger.ts';
import { names } from '../support/scale/counted-stack.ts';
import { readAddress } from '../../src/model/address.ts';

const record = (value: number): LedgerRecord => ({ origin: 'created', fields: { value } });

/** Puts one record after another, each after the writes of the previous one have begun, and counts the writes. */
async function keep(count: number): Promise<{ writes: number; records: number; last: Ledger | undefined }> {
  let writes = 0;
  let records = 0;
  let last: Ledger | undefined;
  const write = async (ledger: Ledger) => {
    writes += 1;
    records += ledger.records.size;
    last = { ...ledger, known: true, serial: ledger.serial + 1 };
    return last;
  };
  const keeper = new LedgerKeeper({ write }, { known: true, serial: 1, records: new Map() });
  for (const [index, name] of names('Workspace/acme/ws', count).entries()) {
    keeper.put(readAddress(name), record(index));
    keeper.saveSoon();
    await new Promise(setImmediate);
  }
  await keeper.save();
  return { writes, records, last };
}

describe('The ledger of an apply', () => {
  it('is written after every outcome while it is small', async () => {
    expect(await keep(100)).toMatchObject({ writes: 100 });
  });

  it('is written fewer times than there are many outcomes, and has all of them in the end', async () => {
    const { writes, records, last } = await keep(10_000);
    expect(writes).toBeLessThan(1200);
    expect(records).toBeLessThan(200 * 10_000);
    expect(last?.records.size).toBe(10_000);
  });
});
