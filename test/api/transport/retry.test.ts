// Properties of retries, for any input.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/api/transport/exchange.ts';
import {
  requestedWait,
  decideRetry,
  defaultRetryPolicy,
  type RetryInput,
} from '../../../src/api/transport/retry.ts';

const now = Date.parse('2030-01-01T00:00:00Z');

const headers = fc.option(
  fc.oneof(
    fc.record({ 'retry-after': fc.oneof(fc.nat(10_000).map(String), fc.string()) }),
    fc.record({ 'x-ratelimit-reset': fc.oneof(fc.double({ min: 0, max: 10 }).map(String), fc.string()) }),
  ),
  { nil: {} },
);
const exchanges: fc.Arbitrary<Exchange> = fc.oneof(
  fc.record({
    kind: fc.constant('answered' as const),
    status: fc.oneof(
      fc.constantFrom(200, 403, 404, 408, 425, 429, 500, 503),
      fc.integer({ min: 200, max: 599 }),
    ),
    headers,
    text: fc.constant(''),
  }),
  fc.record({
    kind: fc.constant('broken' as const),
    sent: fc.boolean(),
    cause: fc.constant(new Error('broken')),
  }),
);
const inputs: fc.Arbitrary<RetryInput> = fc.record({
  exchange: exchanges,
  repeatable: fc.boolean(),
  hasAnswered: fc.boolean(),
  isPermanent: fc.boolean(),
  history: fc.record({ faults: fc.nat(8), throttled: fc.nat(40), spent: fc.nat(200_000) }),
});
/** The time until the end of the run. */
const runs = 900_000;
const until = now + runs;
const luck = fc.double({ min: 0, max: 1, noNaN: true });

function decide(input: RetryInput, random: number) {
  return decideRetry(input, defaultRetryPolicy, { now, until, random: () => random });
}

describe('decideRetry', () => {
  it('never repeats a request that is not repeatable, except after a 429 or if it was not sent', () => {
    fc.assert(
      fc.property(inputs, luck, (input, random) => {
        const { exchange } = input;
        fc.pre(!input.repeatable && decide(input, random).repeat);
        expect(exchange.kind === 'answered' ? exchange.status === 429 : !exchange.sent).toBe(true);
      }),
    );
  });

  it('never repeats a success, a refusal, or a failure that is permanent', () => {
    fc.assert(
      fc.property(inputs, luck, (input, random) => {
        const { exchange, isPermanent } = input;
        fc.pre(decide(input, random).repeat);
        if (exchange.kind === 'broken') expect(isPermanent).toBe(false);
        else expect([408, 425, 429].includes(exchange.status) || exchange.status >= 500).toBe(true);
      }),
    );
  });

  it('ends, in attempts and in time, unless the service itself asks to try again', () => {
    fc.assert(
      fc.property(inputs, luck, (input, random) => {
        const decision = decide(input, random);
        fc.pre(decision.repeat);
        const { exchange, history } = input;
        if (!decision.repeat || asks(input)) return;
        const throttled = exchange.kind === 'answered' && exchange.status === 429;
        if (!throttled) expect(history.faults).toBeLessThan(6);
        expect(history.spent + decision.spends).toBeLessThanOrEqual(180_000);
      }),
    );
  });

  it('never plans beyond the end of the run', () => {
    fc.assert(
      fc.property(inputs, luck, (input, random) => {
        const decision = decide(input, random);
        if (decision.repeat) expect(decision.pause).toBeLessThanOrEqual(runs);
        else expect(decision.past ?? Number.POSITIVE_INFINITY).toBeGreaterThan(runs);
      }),
    );
  });

  it('pauses the whole target as long as the service asks, and without that only after a 429', () => {
    fc.assert(
      fc.property(inputs, luck, (input, random) => {
        const decision = decide(input, random);
        fc.pre(decision.repeat && random > 0);
        const { exchange } = input;
        const throttled = exchange.kind === 'answered' && exchange.status === 429;
        if (!decision.repeat) return;
        expect(decision.pause > 0).toBe(throttled || asks(input));
        if (exchange.kind === 'answered')
          expect(decision.pause).toBeGreaterThanOrEqual(requestedWait(exchange, now) ?? 0);
      }),
    );
  });

  it('waits about as long as the service asks, even if it asks often', () => {
    const headers = { 'retry-after': '1' };
    const answer = { kind: 'answered', status: 429, headers, text: '' } as const;
    const input = { exchange: answer, repeatable: true, hasAnswered: true, isPermanent: false };
    const waits = (random: number) =>
      [1, 2, 3, 4, 30, 300].map((throttled) => {
        const decision = decide({ ...input, history: { faults: 0, throttled, spent: 0 } }, random);
        return decision.repeat ? [decision.pause, decision.wait] : [];
      });
    expect(waits(1)).toEqual([
      [1000, 0],
      [1000, 1500],
      [1000, 2000],
      [1000, 2000],
      [1000, 2000],
      [1000, 2000],
    ]);
    expect(waits(0)).toEqual(Array(6).fill([1000, 0]));
  });
});

function asks({ exchange }: RetryInput): boolean {
  return exchange.kind === 'answered' && requestedWait(exchange, now) !== undefined;
}

describe('requestedWait', () => {
  it.each([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0' }, 100],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Tue, 01 Jan 2019 00:00:30 GMT' }, 100],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': 'soon', 'x-ratelimit-reset': '1.5' }, 1500],
    [{ 'x-ratelimit-reset': `${now / 1000 + 4}` }, 4000],
    [{ 'x-ratelimit-reset': '-5' }, undefined],
    [{}, undefined],
  ])('reads %j', (given, wait) => {
    expect(requestedWait({ kind: 'answered', status: 429, headers: given, text: '' }, now)).toBe(wait);
  });

  it.each([408, 500, 502, 503])('uses only Retry-After of a %d', (status) => {
    const reset = { 'x-ratelimit-reset': '3000' };
    const answer = { kind: 'answered', status, text: '' } as const;
    expect(requestedWait({ ...answer, headers: reset }, now)).toBeUndefined();
    expect(requestedWait({ ...answer, headers: { ...reset, 'retry-after': '3' } }, now)).toBe(3000);
  });
});
