// One limit of requests for all workers, in a real PostgreSQL. Tests move the time of the database, and wait for nothing.
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  hiddenToken,
  initialRate,
  pauseRequests,
  type RequestPurpose,
  takeStartTimes,
} from '../../../src/commands/fleet/request-rate.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const owner = { address: 'https://api.example.com', identity: 'user-1' };

function setRate(client: Client, rate: number) {
  return client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ($1, $2, $3, trueup_fleet.now()) on conflict (address, identity) do update set per_second = $3`,
    [owner.address, owner.identity, rate],
  );
}

async function openDatabase() {
  const database = await openFleetDatabase(server);
  const take = (count: number, purpose: RequestPurpose = 'apply') =>
    takeStartTimes(database.client, { ...owner, purpose, count });
  return { ...database, take };
}

describe.skipIf(bin === undefined)('The limit of requests of a fleet', () => {
  it('gives a new owner thirty requests a second', async () => {
    const { take } = await openDatabase();
    expect(await take(1000)).toEqual({ count: initialRate, wait: 0, apart: 1000 / initialRate });
    expect(await take(10)).toMatchObject({ count: 10, wait: 1000 });
  });

  it('leaves a third of each second to applies and plans when checks ask', async () => {
    const { take, advance } = await openDatabase();
    await take(24, 'check');
    expect(await take(5, 'check')).toMatchObject({ count: 0, wait: 100 });
    expect(await take(5, 'plan')).toMatchObject({ count: 5, wait: 800 });
    expect(await take(1, 'plan')).toMatchObject({ count: 0 });
    expect(await take(1, 'apply')).toMatchObject({ count: 1 });
    await advance(400);
    expect(await take(1, 'check')).toMatchObject({ count: 1 });
  });

  it('stops everybody for as long as the service says', async () => {
    const { client, take, advance } = await openDatabase();
    await pauseRequests(client, owner, 5000);
    expect(await take(1)).toEqual({ count: 0, wait: 4000, apart: expect.any(Number) });
    await advance(4000);
    expect(await take(1)).toMatchObject({ count: 1, wait: 1000 });
  });

  it('is another one for another user or another service', async () => {
    const { client, take } = await openDatabase();
    await take(30);
    const other = { ...owner, identity: 'user-2', purpose: 'check' as const, count: 3 };
    expect(await takeStartTimes(client, other)).toMatchObject({ count: 3, wait: 0 });
    const elsewhere = { ...owner, address: 'https://eu.example.com', purpose: 'check' as const, count: 3 };
    expect(await takeStartTimes(client, elsewhere)).toMatchObject({ count: 3, wait: 0 });
  });

  it('follows a rate that changes', async () => {
    const { client, take } = await openDatabase();
    await setRate(client, 2);
    expect(await take(50)).toEqual({ count: 2, wait: 0, apart: 500 });
    await setRate(client, 0.5);
    expect(await take(50)).toEqual({ count: 1, wait: 1000, apart: 2000 });
  });

  it('keeps no token that a reader of the table could use', async () => {
    const { client } = await openDatabase();
    const [one, again, other] = [
      await hiddenToken(client, 'secret-token'),
      await hiddenToken(client, 'secret-token'),
      await hiddenToken(client, 'another-token'),
    ];
    expect(one).toBe(again);
    expect(one).not.toBe(other);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
  });

  it('never gives more than the rate in any second, whatever workers do', async () => {
    const { client, take, advance, now } = await openDatabase();
    /** the start times that one step gives */
    const doStep = async (step: Step): Promise<number[]> => {
      if (step.do === 'wait') await advance(step.milliseconds);
      else if (step.do === 'pause') await pauseRequests(client, owner, step.milliseconds);
      if (step.do !== 'take') return [];
      const { count, wait, apart } = await take(step.count, step.purpose);
      return Array.from({ length: count }, (_, index) => now() + wait + index * apart);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.array(anyStep, { maxLength: 40 }),
        async (rate, steps) => {
          await client.query('delete from trueup_fleet.request_rates');
          await setRate(client, rate);
          const starts: number[] = [];
          for (const step of steps) starts.push(...(await doStep(step)));
          starts.sort((one, other) => one - other);
          const apart = starts.slice(rate).map((later, index) => later - (starts[index] ?? 0));
          // A start time is rounded up to a whole millisecond.
          expect(Math.min(1000, ...apart)).toBeGreaterThanOrEqual(998);
        },
      ),
      { numRuns: 60 },
    );
  });
});

type Step =
  | { readonly do: 'take'; readonly count: number; readonly purpose: RequestPurpose }
  | { readonly do: 'wait' | 'pause'; readonly milliseconds: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('take' as const),
    count: fc.integer({ min: 1, max: 40 }),
    purpose: fc.constantFrom<RequestPurpose>('apply', 'plan', 'check'),
  }),
  fc.record({ do: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 3000 }) }),
  fc.record({ do: fc.constant('pause' as const), milliseconds: fc.integer({ min: 1, max: 2000 }) }),
);
