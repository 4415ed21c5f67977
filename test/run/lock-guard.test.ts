import { describe, expect, it } from 'vitest';
import { StoreLockGuard } from '../../src/run/lock-guard.ts';
import { type LedgerLock, LockLost, WaitEnded } from '../../src/model/ledger.ts';
import { lock } from '../support/ledger/ledger-samples.ts';

/** A lock guard whose store answers when the test says so, at a time that the test sets. */
function openGuard() {
  let now = 1_000_000;
  const questions: PromiseWithResolvers<LedgerLock | undefined>[] = [];
  const slow: number[] = [];
  const lockGuard = new StoreLockGuard({
    store: {
      readLock: () => {
        const question = Promise.withResolvers<LedgerLock | undefined>();
        questions.push(question);
        return question.promise;
      },
    },
    id: 'mine',
    now: () => now,
    onSlow: (seconds) => slow.push(seconds),
  });
  return {
    lockGuard,
    slow,
    asked: () => questions.length,
    passes: (milliseconds: number) => {
      now += milliseconds;
    },
    answer: (held: LedgerLock | undefined) => questions.at(-1)?.resolve(held),
    fail: (why: string) => questions.at(-1)?.reject(new Error(why)),
  };
}

const mine = lock('mine');

describe('a lock that was read at most five seconds ago', () => {
  it('is not read again', async () => {
    const { lockGuard, asked, passes } = openGuard();
    await lockGuard.pass();
    passes(5000);
    await lockGuard.pass();
    expect(asked()).toBe(0);
  });

  it('counts from the time of the request, because the answer may show the lock of that time', async () => {
    const { lockGuard, asked, passes, answer } = openGuard();
    passes(5001);
    const passing = lockGuard.pass();
    passes(4000);
    answer(mine);
    await passing;
    passes(1000);
    await lockGuard.pass();
    expect(asked()).toBe(1);
    passes(1);
    const later = lockGuard.pass();
    answer(mine);
    await later;
    expect(asked()).toBe(2);
  });
});

describe('a lock that was read longer ago', () => {
  it('is read once for all writes at the same time, and all of them wait for it', async () => {
    const { lockGuard, asked, passes, answer } = openGuard();
    passes(5001);
    let through = 0;
    const passing = [1, 2, 3].map(() => lockGuard.pass().then(() => (through += 1)));
    await Promise.resolve();
    expect([asked(), through]).toEqual([1, 0]);
    answer(mine);
    await Promise.all(passing);
    expect([asked(), through]).toEqual([1, 3]);
  });

  it('is read even if the clock was set back', async () => {
    const { lockGuard, asked, passes, answer } = openGuard();
    passes(-1);
    const passing = lockGuard.pass();
    answer(mine);
    await passing;
    expect(asked()).toBe(1);
  });
});

describe('a lock that was taken away', () => {
  it.each([
    ['no run', undefined, /^the lock of this run was taken away; nothing more was sent/],
    [
      'another run',
      lock('theirs', { who: 'bob' }),
      /taken away: bob holds it since 2026-11-20T11:42:00.000Z, in the run run-theirs; nothing more/,
    ],
  ])('and is held by %s blocks all further writes', async (_, held, message) => {
    const { lockGuard, asked, passes, answer } = openGuard();
    passes(6000);
    const passing = [lockGuard.pass(), lockGuard.pass()];
    answer(held);
    for (const one of passing) await expect(one).rejects.toThrow(message);
    expect(lockGuard.lost.reason).toBeInstanceOf(LockLost);
    passes(-6000);
    await expect(lockGuard.pass()).rejects.toThrow(LockLost);
    expect(asked()).toBe(1);
  });
});

describe('a lock that cannot be read', () => {
  it('blocks all further writes, with the error of the store', async () => {
    const { lockGuard, passes, fail } = openGuard();
    passes(6000);
    const passing = lockGuard.pass();
    fail('the ledger cannot be read: connection refused');
    await expect(passing).rejects.toThrow(
      /^the lock of this run cannot be seen: the ledger cannot be read: connection refused/,
    );
    expect(lockGuard.lost.aborted).toBe(true);
  });
});

describe('a store that takes longer than five seconds to answer', () => {
  it('is read before each write, and reported as slow once', async () => {
    const { lockGuard, slow, asked, passes, answer } = openGuard();
    passes(6000);
    for (const questions of [1, 2]) {
      const passing = lockGuard.pass();
      expect(asked()).toBe(questions);
      passes(7000);
      answer(mine);
      await passing;
    }
    expect(slow).toEqual([7]);
  });

  it('is trusted again after it answers in time', async () => {
    const { lockGuard, asked, passes, answer } = openGuard();
    passes(6000);
    for (const took of [7000, 10]) {
      const passing = lockGuard.pass();
      passes(took);
      answer(mine);
      await passing;
    }
    await lockGuard.pass();
    expect(asked()).toBe(2);
  });
});

describe('a read that ended with the run', () => {
  it('is not an answer: the lock is read again for writes in flight', async () => {
    const answers = [() => Promise.reject(new WaitEnded()), async () => mine];
    let now = 0;
    const lockGuard = new StoreLockGuard({
      store: { readLock: () => answers.shift()?.() ?? Promise.reject(new WaitEnded()) },
      id: 'mine',
      now: () => now,
      onSlow: () => {},
    });
    now = 5_001;
    await lockGuard.pass();
    expect(answers).toEqual([]);
    expect(lockGuard.lost.aborted).toBe(false);
    now = 10_003;
    await expect(lockGuard.pass()).rejects.toBeInstanceOf(LockLost);
  });
});
