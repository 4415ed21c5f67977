import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineError, openDeadline } from '../../../src/cli/stop/deadline.ts';
import { GivenUp, LedgerPatience } from '../../../src/cli/ledger/ledger-waits.ts';
import { WaitEnded } from '../../../src/model/stack/ledger.ts';
import { type QuestionEnds, unlessEnded } from '../../../src/ledger/endable-store.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => {});

/** A run and its patience with a store that never answers. */
function openRun() {
  const [over, insist] = [new AbortController(), new AbortController()];
  const patience = new LedgerPatience('the ledger "x"', { over: over.signal, insist: insist.signal });
  const asked = (question: Parameters<LedgerPatience['ask']>[0], end: keyof QuestionEnds) => {
    const state = { ended: undefined as GivenUp | undefined };
    patience
      .ask(question, (ends) => unlessEnded(never, ends[end]))
      .catch((error: GivenUp) => {
        state.ended = error;
      });
    return state;
  };
  return {
    patience,
    asked,
    runsOut: () => over.abort(new DeadlineError(5)),
    insists: () => insist.abort(),
    passes: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

describe('the end of a run', () => {
  it('ends a look at once, and the wait for a turn', async () => {
    const { asked, runsOut, passes } = openRun();
    const waiting = [asked('read', 'look'), asked('read', 'word'), asked('lock', 'look')];
    runsOut();
    await passes(0);
    expect(waiting.map(({ ended }) => ended?.unsure)).toEqual([false, false, false]);
    expect(waiting[2]?.ended?.message).toBe(
      'the deadline of 5s passed while waiting to take the lock (the ledger "x"); --timeout gives a run more time, or "timeout" in the stack\'s spec',
    );
  });

  it.each(['write', 'keepEntries', 'unlock', 'lock'] as const)(
    'leaves %s fifteen seconds, whenever it began',
    async (question) => {
      const { asked, runsOut, passes } = openRun();
      const before = asked(question, 'word');
      await passes(60_000);
      runsOut();
      await passes(10_000);
      const after = asked(question, 'word');
      await passes(4_999);
      expect(before.ended).toBeUndefined();
      await passes(1);
      expect(before.ended).toMatchObject({ unsure: true, interrupted: false });
      expect(before.ended?.message).toContain(', and it did not answer afterwards either');
      expect(after.ended).toBeUndefined();
      await passes(10_000);
      expect(after.ended).toBeInstanceOf(GivenUp);
    },
  );

  it('that ends with a look says nothing of afterwards, for nothing was asked then', async () => {
    const run = { over: new AbortController(), insist: new AbortController() };
    const patience = new LedgerPatience('the ledger "x"', {
      over: run.over.signal,
      insist: run.insist.signal,
    });
    const slow = Promise.withResolvers<never>();
    const asked = patience.ask('read', () => slow.promise).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(10_000);
    run.over.abort(new DeadlineError(5));
    run.insist.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    slow.reject(new WaitEnded());
    expect(await asked).toBe(
      'the deadline of 5s passed while waiting to read the ledger (the ledger "x"); --timeout gives a run more time, or "timeout" in the stack\'s spec',
    );
  });

  it('that was waited for in vain once is not waited for again', async () => {
    const { asked, runsOut, passes } = openRun();
    runsOut();
    asked('write', 'word');
    await passes(15_000);
    const next = asked('unlock', 'word');
    await passes(0);
    expect(next.ended).toBeInstanceOf(GivenUp);
  });

  it('leaves those who insist no more than five seconds of each', async () => {
    const { asked, runsOut, insists, passes } = openRun();
    runsOut();
    const old = asked('write', 'word');
    await passes(6_000);
    const young = asked('unlock', 'word');
    insists();
    await passes(0);
    expect(old.ended).toBeInstanceOf(GivenUp);
    expect(young.ended).toBeUndefined();
    await passes(5_000);
    expect(young.ended).toBeInstanceOf(GivenUp);
  });

  it('changes no answer that comes in time, and none of the errors', async () => {
    const { patience, runsOut } = openRun();
    runsOut();
    expect(await patience.ask('read', async () => 'answer')).toBe('answer');
    await expect(patience.ask('write', () => Promise.reject(new Error('full')))).rejects.toThrow('full');
  });
});

describe('the time of a run', () => {
  it('does not count what is left out of it', async () => {
    const deadline = openDeadline(10);
    const { until } = deadline;
    await vi.advanceTimersByTimeAsync(4_000);
    const lock = Promise.withResolvers<void>();
    const waiting = deadline.leaveOut(lock.promise);
    await vi.advanceTimersByTimeAsync(3_600_000);
    lock.resolve();
    await waiting;
    expect(deadline.until).toBe(until + 3_600_000);
    await vi.advanceTimersByTimeAsync(5_999);
    expect(deadline.over.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(deadline.over.reason).toBeInstanceOf(DeadlineError);
  });
});
