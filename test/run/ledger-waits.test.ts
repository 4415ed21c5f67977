import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineError, openDeadline } from '../../src/run/stop-signals.ts';
import { LedgerWaitEnded, LedgerWaits } from '../../src/run/ledger-waits.ts';
import { WaitEnded } from '../../src/model/ledger.ts';
import { type OperationSignals, waitFor } from '../../src/ledger/ledger-store.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => {});

/** A run, and its waits for a store that never answers. */
function openRun() {
  const [runEnded, forceQuit] = [new AbortController(), new AbortController()];
  const ledgerWaits = new LedgerWaits(
    'the ledger "x"',
    { runEnded: runEnded.signal, forceQuit: forceQuit.signal },
    () => Date.now(),
  );
  const asked = (question: Parameters<LedgerWaits['run']>[0], end: keyof OperationSignals) => {
    const state = { ended: undefined as LedgerWaitEnded | undefined };
    ledgerWaits
      .run(question, (signals) => waitFor(never, signals[end]))
      .catch((error: LedgerWaitEnded) => {
        state.ended = error;
      });
    return state;
  };
  return {
    ledgerWaits,
    asked,
    runsOut: () => runEnded.abort(new DeadlineError(5)),
    forcesQuit: () => forceQuit.abort(),
    passes: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

describe('the end of a run', () => {
  it('ends reads and waits for a turn at once', async () => {
    const { asked, runsOut, passes } = openRun();
    const waiting = [asked('read', 'read'), asked('read', 'write'), asked('lock', 'read')];
    runsOut();
    await passes(0);
    expect(waiting.map(({ ended }) => ended?.unsure)).toEqual([false, false, false]);
    expect(waiting[2]?.ended?.message).toBe(
      'the deadline of 5s passed while waiting to take the lock (the ledger "x"); --timeout gives a run more time, or "timeout" in the stack\'s spec',
    );
  });

  it.each(['write', 'keepEntries', 'unlock', 'lock'] as const)(
    'gives %s fifteen more seconds, whenever it began',
    async (question) => {
      const { asked, runsOut, passes } = openRun();
      const before = asked(question, 'write');
      await passes(60_000);
      runsOut();
      await passes(10_000);
      const after = asked(question, 'write');
      await passes(4_999);
      expect(before.ended).toBeUndefined();
      await passes(1);
      expect(before.ended).toMatchObject({ unsure: true, interrupted: false });
      expect(before.ended?.message).toContain(', and it did not answer afterwards either');
      expect(after.ended).toBeUndefined();
      await passes(10_000);
      expect(after.ended).toBeInstanceOf(LedgerWaitEnded);
    },
  );

  it('during a read has a message without "afterwards", because nothing was sent then', async () => {
    const run = { runEnded: new AbortController(), forceQuit: new AbortController() };
    const ends = { runEnded: run.runEnded.signal, forceQuit: run.forceQuit.signal };
    const ledgerWaits = new LedgerWaits('the ledger "x"', ends, () => Date.now());
    const slow = Promise.withResolvers<never>();
    const asked = ledgerWaits.run('read', () => slow.promise).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(10_000);
    run.runEnded.abort(new DeadlineError(5));
    run.forceQuit.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    slow.reject(new WaitEnded());
    expect(await asked).toBe(
      'the deadline of 5s passed while waiting to read the ledger (the ledger "x"); --timeout gives a run more time, or "timeout" in the stack\'s spec',
    );
  });

  it('has only one wait of fifteen seconds without an answer', async () => {
    const { asked, runsOut, passes } = openRun();
    runsOut();
    asked('write', 'write');
    await passes(15_000);
    const next = asked('unlock', 'write');
    await passes(0);
    expect(next.ended).toBeInstanceOf(LedgerWaitEnded);
  });

  it('gives each operation at most five seconds after a second signal', async () => {
    const { asked, runsOut, forcesQuit, passes } = openRun();
    runsOut();
    const old = asked('write', 'write');
    await passes(6_000);
    const young = asked('unlock', 'write');
    forcesQuit();
    await passes(0);
    expect(old.ended).toBeInstanceOf(LedgerWaitEnded);
    expect(young.ended).toBeUndefined();
    await passes(5_000);
    expect(young.ended).toBeInstanceOf(LedgerWaitEnded);
  });

  it('does not change answers in time, and errors', async () => {
    const { ledgerWaits, runsOut } = openRun();
    runsOut();
    expect(await ledgerWaits.run('read', async () => 'answer')).toBe('answer');
    await expect(ledgerWaits.run('write', () => Promise.reject(new Error('full')))).rejects.toThrow('full');
  });
});

describe('the time of a run', () => {
  it('does not count waits that are left out', async () => {
    const deadline = openDeadline(10, { now: () => Date.now() });
    const { until } = deadline;
    await vi.advanceTimersByTimeAsync(4_000);
    const lock = Promise.withResolvers<void>();
    const waiting = deadline.leaveOut(lock.promise);
    await vi.advanceTimersByTimeAsync(3_600_000);
    lock.resolve();
    await waiting;
    expect(deadline.until).toBe(until + 3_600_000);
    await vi.advanceTimersByTimeAsync(5_999);
    expect(deadline.passed.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(deadline.passed.reason).toBeInstanceOf(DeadlineError);
  });
});
