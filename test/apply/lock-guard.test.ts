import { describe, expect, it } from 'vitest';
import type { LockGuard } from '../../src/apply/keep-ledger.ts';
import { LedgerConflict, LockLost } from '../../src/model/ledger.ts';
import { at, desired } from '../support/sample-kinds/sample-plan.ts';
import { applySamples, type Script } from '../support/sample-kinds/sample-service.ts';

const parents = Array.from({ length: 40 }, (_, index) => desired(at('Parent', `h${index}`)));

/** Allows this number of writes, and then no more. */
function guardAfter(writes: number): LockGuard {
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
  const result = await applySamples(
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
  return { result, sent, outcomes };
}

describe('a run whose lock was lost', () => {
  it('sends nothing more, reports unsent changes as skipped, and ends with that error', async () => {
    const { result, sent, outcomes } = await applyParents(guardAfter(5));
    expect(result).toBeInstanceOf(LockLost);
    expect(sent).toHaveLength(5);
    const skipped = outcomes.filter(
      (one) => one === 'skipped: not sent: the lock of this run was taken away',
    );
    expect(skipped).toHaveLength(35);
    expect(outcomes).toHaveLength(40);
  });

  it('reports that, and not that the ledger was written by the run that took the lock', async () => {
    let writes = 0;
    const { result } = await applyParents(guardAfter(5), {
      writeLedger: async (ledger) => {
        writes += 1;
        if (writes > 1) throw new LedgerConflict('the ledger', { found: 9, expected: 2 });
        return { ...ledger, known: true, serial: ledger.serial + 1 };
      },
    });
    expect(result).toBeInstanceOf(LockLost);
  });
});

it('a run that keeps its lock passes the lock guard with every call, and succeeds', async () => {
  const { result, sent, outcomes } = await applyParents(guardAfter(40));
  expect(result).toMatchObject({ ledger: { known: true } });
  expect([sent.length, outcomes.length]).toEqual([40, 40]);
});
