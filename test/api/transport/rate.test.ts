// The rate of requests to services that limit them, or do not, in simulated time. The sender, the throttle and the
// retries are the real ones.
import { describe, expect, it } from 'vitest';
import {
  type Answering,
  type Load,
  simulate,
  type Simulation,
  type SimulatedAnswer,
} from '../../support/http/simulated-service.ts';

interface Counting {
  /** requests that each window allows; it may depend on the time since the beginning, in milliseconds */
  readonly limit: number | ((at: number) => number);
  /** milliseconds of a window */
  readonly window?: number;
  readonly latency?: number;
  /** requests of other clients that count in each window as well */
  readonly others?: number;
  readonly headers?: (counted: Counted) => Readonly<Record<string, string>>;
}

interface Counted {
  readonly limit: number;
  readonly remaining: number;
  /** milliseconds until the end of the window */
  readonly left: number;
  readonly isRefused: boolean;
}

/** A service that counts requests in windows and answers 429 to those above the limit. */
function counting({ limit, window = 1000, latency = 20, others = 0, headers }: Counting): Answering {
  let [opened, count] = [Number.NEGATIVE_INFINITY, 0];
  return (at) => {
    const start = at - (at % window);
    if (start !== opened) [opened, count] = [start, others];
    count += 1;
    const most = typeof limit === 'number' ? limit : limit(at);
    const isRefused = count > most;
    const left = start + window - at;
    return {
      status: isRefused ? 429 : 200,
      after: latency,
      ...(headers && {
        headers: headers({ limit: most, remaining: Math.max(0, most - count), left, isRefused }),
      }),
    };
  };
}

/** `X-RateLimit-Reset` like the embedded service. */
const exact = ({ limit, remaining, left }: Counted) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': (left / 1000).toFixed(3),
});

/** Whole seconds, rounded down, like secrets services (wire/cluster-auth 2.1). */
const wholeSeconds = ({ limit, remaining, left, isRefused }: Counted) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.floor(left / 1000)),
  ...(isRefused ? { 'retry-after': String(Math.floor(left / 1000)) } : {}),
});

/** No header about a limit, but one about when to try again. */
const retryAfter = ({ left, isRefused }: Counted): Record<string, string> =>
  isRefused ? { 'retry-after': String(Math.ceil(left / 1000)) } : {};

const unlimited: Answering = () => ({});

function percentOf({ arrivals }: Simulation, status: number): number {
  return (100 * arrivals.filter((arrival) => arrival.status === status).length) / arrivals.length;
}

/** Requests in each window of this number of milliseconds. */
function perWindow({ arrivals, took }: Simulation, milliseconds: number): number[] {
  const counts = Array<number>(Math.floor(took / milliseconds) + 1).fill(0);
  for (const { at } of arrivals) {
    const window = Math.floor(at / milliseconds);
    counts[window] = (counts[window] ?? 0) + 1;
  }
  return counts;
}

/** Requests in each second, except the last one, which may have begun late. */
function perSecond(simulation: Simulation): number[] {
  return perWindow(simulation, 1000).slice(0, -1);
}

function ratePerSecond({ requests }: Load, { took }: Simulation): number {
  return requests / (took / 1000);
}

describe('A service that announces no limit', () => {
  it('gets 30 requests a second at first, 10 % more after each five seconds, and never more than 200', async () => {
    const seconds = perSecond(await simulate(unlimited, { requests: 11_000 }));
    expect(Math.max(...seconds.slice(0, 5))).toBe(30);
    const [first = 0, second = 0, third = 0] = [2, 8, 13].map((at) => seconds[at]);
    expect(first).toBe(30);
    expect(second).toBe(33);
    expect(third).toBe(36);
    expect(seconds.at(-1)).toBeGreaterThan(190);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(200);
  });

  it('gets no more requests than before while more make it slow', async () => {
    let recent: number[] = [];
    const overloaded: Answering = (at) => {
      recent = [...recent.filter((earlier) => earlier > at - 1000), at];
      return { after: recent.length > 45 ? 240 : 20 };
    };
    const seconds = perSecond(await simulate(overloaded, { requests: 6000 }));
    expect(Math.max(...seconds)).toBeLessThanOrEqual(55);
    expect(Math.min(...seconds.slice(1))).toBeGreaterThanOrEqual(25);
  });

  it('that is always slow gets as many requests as it can answer', async () => {
    const load = { requests: 4000 };
    expect(ratePerSecond(load, await simulate(() => ({ after: 250 }), load))).toBeGreaterThan(35);
  });

  it('does not get fewer requests because other requests take longer than the first ones', async () => {
    const load = { requests: 4000 };
    const seconds = perSecond(await simulate((at) => ({ after: at < 20_000 ? 5 : 150 }), load));
    expect(Math.min(...seconds.slice(1))).toBeGreaterThanOrEqual(28);
    expect(seconds.at(-2)).toBeGreaterThan(50);
  });

  it.each([429, 503])('gets half as many requests after a %d, once in five seconds', async (status) => {
    const fails = (at: number) => at > 3000 && at < 6000 && Math.floor(at / 50) % 20 === 0;
    const seconds = perSecond(
      await simulate((at): SimulatedAnswer => (fails(at) ? { status } : {}), { requests: 400 }),
    );
    expect(seconds[1]).toBe(30);
    expect(Math.max(...seconds.slice(4, 9))).toBeLessThanOrEqual(16);
    expect(Math.max(...seconds.slice(6, 9))).toBeGreaterThanOrEqual(14);
  });

  it.each([
    { limit: 10, requests: 1500 },
    { limit: 30, requests: 2000 },
    { limit: 50, requests: 3000 },
    { limit: 120, requests: 4000 },
  ])('but refuses more than $limit a second refuses 2 % at most', async ({ limit, requests }) => {
    for (const headers of [retryAfter, undefined])
      for (const latency of [5, 300]) {
        const load = { requests };
        const simulation = await simulate(
          counting({ limit, latency, ...(headers === undefined ? {} : { headers }) }),
          load,
        );
        expect(percentOf(simulation, 429)).toBeLessThanOrEqual(2);
        const reachable = Math.min(limit, 60, (10 * 1000) / latency);
        expect(ratePerSecond(load, simulation)).toBeGreaterThan(reachable / 2);
      }
  });

  it('but changes its limit refuses 2 % at most', async () => {
    const limit = (at: number) => (at < 60_000 ? 100 : at < 120_000 ? 15 : 60);
    for (const headers of [retryAfter, undefined]) {
      const simulation = await simulate(counting({ limit, ...(headers && { headers }) }), { requests: 6000 });
      expect(percentOf(simulation, 429)).toBeLessThanOrEqual(2);
      expect(perSecond(simulation).at(-2)).toBeGreaterThan(20);
    }
  });

  it('may announce it with its first refusal, and gets that rate from then on', async () => {
    const headers = (counted: Counted) => (counted.isRefused ? exact(counted) : {});
    const simulation = await simulate(counting({ limit: 40, headers }), { requests: 3000 });
    expect(percentOf(simulation, 429)).toBeLessThan(0.5);
    expect(perSecond(simulation).slice(-20)).toEqual(Array(20).fill(40));
  });
});

describe('A service that announces its limit', () => {
  it.each([10, 30, 100, 150])('of %d a second gets that rate, and refuses nothing', async (limit) => {
    for (const headers of [exact, wholeSeconds]) {
      const load = { requests: 20 * limit };
      const simulation = await simulate(counting({ limit, headers }), load);
      expect(percentOf(simulation, 429)).toBe(0);
      expect(ratePerSecond(load, simulation)).toBeGreaterThan(0.95 * limit);
    }
  });

  it('by the minute gets requests until nothing is left, and then in the next minute', async () => {
    for (const headers of [exact, wholeSeconds]) {
      const limit = 400;
      const simulation = await simulate(counting({ limit, window: 60_000, headers }), { requests: 2000 });
      expect(percentOf(simulation, 429)).toBe(0);
      expect(simulation.took).toBeLessThan(5 * 60_000);
    }
  });

  it('and answers slowly gets no more than is left while its responses are pending', async () => {
    const slow = counting({ limit: 15, window: 60_000, latency: 1500, headers: exact });
    expect(percentOf(await simulate(slow, { requests: 60 }), 429)).toBe(0);
  });

  it('and changes it gets the current rate', async () => {
    const limit = (at: number) => (at < 20_000 ? 60 : at < 40_000 ? 10 : 40);
    const simulation = await simulate(counting({ limit, headers: exact }), { requests: 2200 });
    expect(percentOf(simulation, 429)).toBeLessThan(0.5);
    const seconds = perSecond(simulation);
    expect([seconds[10], seconds[30], seconds[50]]).toEqual([60, 10, 40]);
  });

  it('gets no more than other clients with the same limit have left', async () => {
    const simulation = await simulate(counting({ limit: 30, others: 20, headers: exact }), { requests: 600 });
    expect(percentOf(simulation, 429)).toBeLessThanOrEqual(2);
  });

  it('that is too high to be true gets 200 requests a second at most', async () => {
    const headers = { 'x-ratelimit-limit': '6000' };
    const seconds = perSecond(await simulate(() => ({ headers }), { requests: 2000 }));
    expect(Math.max(...seconds)).toBe(200);
  });

  it.each(['0', '-1', 'many', '1e999'])('of "%s" is no limit', async (limit) => {
    const headers = { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' };
    const seconds = perSecond(await simulate(() => ({ headers }), { requests: 400 }));
    expect(seconds.slice(0, 4)).toEqual([30, 30, 30, 30]);
  });

  it('with a window that ends in hours still gets requests', async () => {
    const headers = { 'x-ratelimit-limit': '30', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '86400' };
    expect((await simulate(() => ({ headers }), { requests: 60 })).took).toBeLessThan(5000);
  });
});

describe('requestsPerSecond of a target', () => {
  it.each([4, 20, 150])('of %d is the rate from the beginning, and is never exceeded', async (most) => {
    const services = [
      unlimited,
      counting({ limit: 1000, headers: exact }),
      counting({ limit: most, headers: retryAfter }),
    ];
    for (const service of ['workspaces', 'cluster-auth'] as const)
      for (const answering of services) {
        const load = { requests: 20 * most, requestsPerSecond: most, service };
        const simulation = await simulate(answering, load);
        expect(Math.max(...perSecond(simulation))).toBe(most);
      }
  });

  it('above the limit of the service is reduced to that limit', async () => {
    const load = { requests: 2000, requestsPerSecond: 500 };
    const simulation = await simulate(counting({ limit: 40, headers: exact }), load);
    expect(percentOf(simulation, 429)).toBeLessThanOrEqual(2);
    expect(ratePerSecond(load, simulation)).toBeGreaterThan(35);
  });
});

describe('Reads of a cluster-auth service', () => {
  const load = { requests: 1000, service: 'cluster-auth' } as const;

  it('are limited only by the ten requests in flight', async () => {
    let most = 0;
    const service: Answering = (_, busy) => {
      most = Math.max(most, busy);
      return { after: 20 };
    };
    const { took } = await simulate(service, load);
    expect(most).toBe(10);
    expect(took).toBe((1000 / 10) * 20);
  });

  it('do not speed up writes, which have the usual rate', async () => {
    const seconds = perSecond(await simulate(unlimited, { ...load, method: 'POST' }));
    expect(Math.max(...seconds.slice(0, 5))).toBe(30);
  });

  it.each([5, 30, 100, 300])(
    'have a rate after a service refused more than %d a second, and 2 % at most are refused',
    async (limit) => {
      for (const headers of [retryAfter, undefined])
        for (const latency of [2, 50]) {
          const requests = Math.max(1200, 20 * limit);
          const counted = counting({ limit, latency, ...(headers === undefined ? {} : { headers }) });
          const simulation = await simulate(counted, { ...load, requests });
          expect(percentOf(simulation, 429)).toBeLessThanOrEqual(2);
        }
    },
  );

  it('have half the rate of the responses in the second before the first 429', async () => {
    const seconds = perSecond(await simulate(counting({ limit: 100 }), load));
    expect(seconds[0]).toBeGreaterThanOrEqual(100);
    expect(Math.max(...seconds.slice(2, 6))).toBeLessThanOrEqual(55);
  });

  it('have a rate from the first 503 on', async () => {
    let isFirst = true;
    const service: Answering = (at) => {
      const fails = isFirst && at >= 100;
      if (fails) isFirst = false;
      return fails ? { status: 503 } : {};
    };
    const seconds = perSecond(await simulate(service, load));
    expect(Math.max(...seconds.slice(1, 4))).toBeLessThanOrEqual(16);
  });

  it('have the rate that the service announces', async () => {
    const simulation = await simulate(counting({ limit: 50, headers: wholeSeconds }), load);
    expect(percentOf(simulation, 429)).toBe(0);
    expect(Math.max(...perSecond(simulation))).toBe(50);
  });
});
