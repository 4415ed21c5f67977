// The rate of requests to one target, with a clock that only advances when someone waits.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/api/transport/clock.ts';
import { RateController } from '../../../src/api/transport/rate-controller.ts';
import { Throttle } from '../../../src/api/transport/throttle.ts';
import { FakeClock } from '../../support/http/fake-clock.ts';

function openThrottle(rate: number, slots: number, clock: Clock = systemClock): Throttle {
  return new Throttle({ rate: new RateController({ initial: rate, highest: rate, clock }), slots, clock });
}

/** Starts `count` requests that end at once, and returns when each began, in milliseconds from the first. */
async function startsOf(throttle: Throttle, clock: FakeClock, count: number): Promise<number[]> {
  const began = clock.now();
  const starts: number[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      const leave = await throttle.enter();
      starts.push(clock.now() - began);
      leave();
    }),
  );
  return starts;
}

function busiestSecond(starts: readonly number[]): number {
  return Math.max(...starts.map((start) => starts.filter((at) => at >= start && at < start + 1000).length));
}

describe('the rate', () => {
  it('allows a third of a second at once and is then kept', async () => {
    const clock = new FakeClock();
    const starts = await startsOf(openThrottle(30, 10, clock), clock, 120);
    expect(starts.filter((start) => start === 0)).toHaveLength(10);
    expect(starts.at(-1)).toBeGreaterThan(2900);
    expect(starts.at(-1)).toBeLessThan(4200);
  });

  it('is never exceeded in any second, including the first', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 200 }),
        async (rate, count) => {
          const clock = new FakeClock();
          const starts = await startsOf(openThrottle(rate, 10, clock), clock, count);
          expect(starts).toHaveLength(count);
          expect(busiestSecond(starts)).toBeLessThanOrEqual(rate);
        },
      ),
    );
  });

  it('may be less than one a second', async () => {
    const clock = new FakeClock();
    const starts = await startsOf(openThrottle(0.5, 10, clock), clock, 3);
    expect(starts).toEqual([0, 2000, 4000]);
  });

  it('may be unlimited', async () => {
    const clock = new FakeClock();
    await startsOf(openThrottle(Number.POSITIVE_INFINITY, 10, clock), clock, 5000);
    expect(clock.waits).toEqual([]);
  });
});

describe('a pause', () => {
  it('holds all requests, and those after it start slowly', async () => {
    const clock = new FakeClock();
    const throttle = openThrottle(10, 10, clock);
    throttle.pause(5000);
    const starts = await startsOf(throttle, clock, 4);
    expect(starts[0]).toBeGreaterThanOrEqual(5000);
    expect(new Set(starts).size).toBe(4);
  });

  it('is not shortened by a shorter one', async () => {
    const clock = new FakeClock();
    const throttle = openThrottle(10, 10, clock);
    throttle.pause(5000);
    throttle.pause(100);
    expect((await startsOf(throttle, clock, 1))[0]).toBeGreaterThanOrEqual(5000);
  });
});

describe('the slots', () => {
  it('limit the requests in flight, first come, first served', async () => {
    const throttle = openThrottle(Number.POSITIVE_INFINITY, 2);
    const order: number[] = [];
    const leaves = [1, 2, 3, 4].map(async (name) => {
      const leave = await throttle.enter();
      order.push(name);
      return leave;
    });
    const [first] = await Promise.all(leaves.slice(0, 2));
    expect(order).toEqual([1, 2]);
    first?.();
    await leaves[2];
    expect(order).toEqual([1, 2, 3]);
  });

  it('are freed only once, even if that is repeated', async () => {
    const throttle = openThrottle(Number.POSITIVE_INFINITY, 1);
    const leave = await throttle.enter();
    const order: string[] = [];
    const second = throttle.enter().then((free) => {
      order.push('second');
      return free;
    });
    const third = throttle.enter().then(() => order.push('third'));
    leave();
    leave();
    const free = await second;
    expect(order).toEqual(['second']);
    free();
    await third;
  });
});

describe('a request that is stopped', () => {
  it('leaves the queue at once, and the others stay', async () => {
    const throttle = openThrottle(Number.POSITIVE_INFINITY, 1);
    const leave = await throttle.enter();
    const stop = new AbortController();
    const stopped = throttle.enter(stop.signal);
    const stays = throttle.enter();
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    leave();
    expect(await stays).toBeTypeOf('function');
  });

  it('does not wait for a pause, and leaves no timer behind', async () => {
    const timers: AbortSignal[] = [];
    const clock = {
      now: () => 0,
      wait: (_: number, signal?: AbortSignal) => {
        if (signal !== undefined) timers.push(signal);
        return new Promise<void>(() => undefined);
      },
    };
    const throttle = openThrottle(10, 1, clock);
    throttle.pause(3_600_000);
    const stop = new AbortController();
    const waiting = throttle.enter(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(throttle.enter(stop.signal)).rejects.toThrow('enough');
    expect(timers.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
