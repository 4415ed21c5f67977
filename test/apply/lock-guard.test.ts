import { describe, expect, it } from 'vitest';
import type { LockGuard } from '../../src/apply/keep-ledger.ts';
import { LedgerConflict, LockLost } from '../../src/model/ledger.ts';
import { at, desired } from '../support/sample-kinds/sample-plan.ts';
import { applySamples, type Script } from '../support/sample-kinds/sample-service.ts';

const parents = Array.from({ length: 40 }, (_, index) => desired(at('Parent', `h${index}`)));

/** Lets so many writes through, and then none any more. */
function fenceAfter(writes: number): LockGuard {
  const lost = new AbortController();
  let left = writes;
  return {
    lost: lost.signal,
    pass: async () => {
      left -= 1;
      if (left < 0) lost.abort(new LockLost('the lock of this run was taken away'));
      lost.signal.throwIfAborted();
    },
  };
}

async function applyParents(lockGuard: LockGuard, script: Script = {}) {
  const sent: string[] = [];
  const outcomes: string[] = [];
  const said = await applySamples(
    { desired: parents },
    {
      ...script,
      lockGuard,
      answer: ({ path }) => {
        sent.push(path);
        return undefined;
      },
      tell: (event) => {
        if (event.type === 'end') outcomes.push(`${event.outcome.kind}: ${event.outcome.detail ?? ''}`);
      },
    },
  ).catch((error: unknown) => error);
  return { said, sent, outcomes };
}

describe('a run whose lock was taken away', () => {
  it('sends nothing more, ends what was not sent as skipped, and ends with that error', async () => {
    const { said, sent, outcomes } = await applyParents(fenceAfter(5));
    expect(said).toBeInstanceOf(LockLost);
    expect(sent).toHaveLength(5);
    const skipped = outcomes.filter(
      (one) => one === 'skipped: not sent: the lock of this run was taken away',
    );
    expect(skipped).toHaveLength(35);
    expect(outcomes).toHaveLength(40);
  });

  it('is reported, rather than that its ledger was written by who took it', async () => {
    let writes = 0;
    const { said } = await applyParents(fenceAfter(5), {
      writeLedger: async (ledger) => {
        writes += 1;
        if (writes > 1) throw new LedgerConflict('the ledger', { found: 9, expected: 2 });
        return { ...ledger, known: true, serial: ledger.serial + 1 };
      },
    });
    expect(said).toBeInstanceOf(LockLost);
  });
});

it('a run that keeps its lock passes the lock guard with every call, and ends well', async () => {
  const { said, sent, outcomes } = await applyParents(fenceAfter(40));
  expect(said).toMatchObject({ ledger: { known: true } });
  expect([sent.length, outcomes.length]).toEqual([40, 40]);
});
