// A limit that processes share: start times whose response is late, with a clock that only advances when someone waits.
import { describe, expect, it } from 'vitest';
import { RateController } from '../../../src/api/transport/rate-controller.ts';
import type { SharedRate } from '../../../src/api/transport/shared-rate.ts';
import { Throttle } from '../../../src/api/transport/throttle.ts';
import { FakeClock } from '../../support/http/fake-clock.ts';

/**
 * A limit of ten requests a second, counted from the time of the request. @param took milliseconds of each response in turn; then those of
 * the last one again
 */
function openLimit(took: number[]) {
  const clock = new FakeClock();
  const began = clock.now();
  const asked: { readonly at: number; readonly late: number }[] = [];
  const taken: { readonly first: number; readonly last: number }[] = [];
  let free = began;
  const shared: SharedRate = {
    take: async (wanted, late) => {
      const now = clock.now();
      asked.push({ at: now - began, late });
      const first = Math.max(free, now);
      const count = wanted + Math.ceil(late / 100);
      free = first + count * 100;
      taken.push({ first: first - began, last: free - 100 - began });
      clock.pass(took[asked.length - 1] ?? took.at(-1) ?? 0);
      return { count, wait: first - now, apart: 100 };
    },
    pause: () => {},
    observe: () => {},
  };
  const rate = new RateController({ initial: 200, highest: 200, clock });
  const throttle = new Throttle({ rate, slots: 100, shared, clock });
  const start = async () => {
    (await throttle.enter())();
    return clock.now() - began;
  };
  return { clock, asked, taken, start };
}

describe('Start times of a limit that processes share', () => {
  it('are used when the response arrives soon', async () => {
    const { start, asked } = openLimit([20]);
    expect([await start(), await start()]).toEqual([20, 120]);
    expect(asked).toEqual([
      { at: 0, late: 0 },
      { at: 20, late: 0 },
    ]);
  });

  it('are not used when the process was suspended until the response arrived', async () => {
    const { start, asked } = openLimit([1000, 10]);
    // With the second response, it gets the time of one request and of the two seconds by which it may be late.
    expect(await start()).toBe(1010);
    expect(asked).toEqual([
      { at: 0, late: 0 },
      { at: 1000, late: 2000 },
    ]);
  });

  it('are not used when the process is suspended after the response arrived', async () => {
    const { start, asked, clock } = openLimit([10]);
    const first = start();
    const others = [start(), start(), start()];
    await first;
    await others[0];
    clock.pass(2000);
    await Promise.all(others);
    expect(asked).toHaveLength(3);
    expect(asked[2]?.at).toBeGreaterThan(2000);
  });

  it.each([150, 300, 900, 1900])(
    'let a process with responses that always take %i ms continue, at times that it has taken',
    async (took) => {
      const { start, taken, asked } = openLimit([took]);
      for (let request = 0; request < 5; request += 1) {
        const at = await start();
        expect(taken.some(({ first, last }) => first <= at && at <= last + 100)).toBe(true);
      }
      // The first response shows that the limit is slow.
      expect(asked.length).toBeLessThanOrEqual(6);
    },
  );
});
