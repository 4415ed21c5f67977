// Waits are reported: soon, then less and less often, in one line for a target.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Waits } from '../../../src/api/transport/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function listen() {
  const messages: string[] = [];
  const clock = { now: () => Date.now(), wait: async () => undefined };
  return {
    messages,
    waits: new Waits('target "acme"', { report: (says) => void messages.push(says), clock }),
  };
}

describe('a wait', () => {
  it('is reported after five seconds, and then less and less often', () => {
    const { messages, waits } = listen();
    waits.begin('the answer to GET /a');
    vi.advanceTimersByTime(4_900);
    expect(messages).toEqual([]);
    vi.advanceTimersByTime(200_000);
    expect(messages).toEqual(
      [5, 15, 45, 105, 165].map((s) => `waiting for target "acme" for ${s} s: the answer to GET /a`),
    );
  });

  it('that is over is no longer reported', () => {
    const { messages, waits } = listen();
    const over = waits.begin('the answer to GET /a');
    vi.advanceTimersByTime(3_000);
    over();
    vi.advanceTimersByTime(60_000);
    expect(messages).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('shares its line with all waits for the same target', () => {
    const { messages, waits } = listen();
    const overs = ['GET /a', 'GET /b', 'GET /c'].map((says) => waits.begin(says));
    vi.advanceTimersByTime(5_000);
    overs[0]?.();
    vi.advanceTimersByTime(10_000);
    expect(messages).toEqual([
      'waiting for target "acme" for 5 s: GET /a, and 2 more',
      'waiting for target "acme" for 15 s: GET /b, and 1 more',
    ]);
  });

  it('that begins when the next line is overdue starts no timer with a negative time', () => {
    const { waits } = listen();
    const timer = vi.spyOn(globalThis, 'setTimeout');
    waits.begin('the answer to GET /a');
    const slipped = Date.now() + 5_001;
    timer.mockClear();
    vi.spyOn(Date, 'now')
      .mockReturnValueOnce(slipped - 2)
      .mockReturnValue(slipped);
    vi.advanceTimersByTime(5_000);
    vi.restoreAllMocks();
    expect(timer.mock.calls.every(([, milliseconds = 0]) => milliseconds >= 0)).toBe(true);
  });

  it('of a hundred slow responses in a row does not fill the log', () => {
    const { messages, waits } = listen();
    for (let n = 0; n < 100; n += 1) {
      const over = waits.begin(`GET /${n}`);
      vi.advanceTimersByTime(6_000);
      over();
    }
    expect(messages.length).toBeLessThan(15);
  });
});
