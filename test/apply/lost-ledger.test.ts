import { describe, expect, it } from 'vitest';
import { LedgerConflict, LedgerError } from '../../src/model/ledger.ts';
import { at, desired } from '../support/sample-kinds/sample-plan.ts';
import { applySamples } from '../support/sample-kinds/sample-service.ts';

const parents = Array.from({ length: 40 }, (_, index) => desired(at('Parent', `h${index}`)));

/** Applies all parents with a store whose first write succeeds and whose later ones fail with this error. */
async function applyWith(failure: Error) {
  let writes = 0;
  let sent = 0;
  const applied = applySamples(
    { desired: parents },
    {
      answer: () => {
        sent += 1;
        return undefined;
      },
      writeLedger: async (ledger) => {
        writes += 1;
        if (writes > 1) throw failure;
        return { ...ledger, known: true, serial: ledger.serial + 1 };
      },
    },
  );
  const result = await applied.catch((error: unknown) => error);
  return { result, sent, writes };
}

describe('when another run has written the ledger', () => {
  const conflict = new LedgerConflict('the ledger', { found: 9, expected: 2 });

  it('no further change is sent, and the apply ends with that error', async () => {
    const { result, sent } = await applyWith(conflict);
    expect(result).toBe(conflict);
    expect(sent).toBeLessThan(parents.length);
  });

  it('no further ledger is written', async () => {
    expect((await applyWith(conflict)).writes).toBe(2);
  });
});

it('a ledger that cannot be written for another reason is tried again, and all changes are sent', async () => {
  const full = new LedgerError('the disk is full');
  const { result, sent, writes } = await applyWith(full);
  expect(result).toBe(full);
  expect(sent).toBe(parents.length);
  expect(writes).toBeGreaterThan(2);
});
