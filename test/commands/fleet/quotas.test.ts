// A ceiling for the requests of a whole fleet to one target, in a real PostgreSQL. Tests move the time of the database.
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckRates } from '../../../src/commands/fleet/rates/check-rates.ts';
import { startHeartbeat } from '../../../src/commands/fleet/heartbeat.ts';
import { noteQuotas, quotaOf, readQuotas } from '../../../src/commands/fleet/rates/quotas.ts';
import {
  pauseRequests,
  recordAnswers,
  type RequestPurpose,
  takeStartTimes,
} from '../../../src/commands/fleet/rates/request-rate.ts';
import { noteWorker } from '../../../src/commands/fleet/workers.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { anyLateAnswer, type LateAnswer, startsOf, tolerance } from '../../support/fleet/late-answers.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const address = 'https://api.example.com';

function beat(client: Client, id: string, quotas: Readonly<Record<string, number>>) {
  const worker = { host: 'one.example', pid: 7, fleet: 'acme', version: '1', concurrency: 4 };
  return noteWorker(client, { ...worker, id, shard: undefined, running: 0, problem: undefined }).then(() =>
    noteQuotas(client, id, new Map(Object.entries(quotas))),
  );
}

function setRate(client: Client, identity: string, rate: number) {
  return client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ($1, $2, $3, trueup_fleet.now()) on conflict (address, identity) do update set per_second = $3`,
    [address, identity, rate],
  );
}

async function openDatabase() {
  const database = await openFleetDatabase(server);
  /** start times, in milliseconds since 1970 */
  const take = async (
    identity: string,
    count: number,
    purpose: RequestPurpose = 'apply',
    client: Client = database.client,
  ) => {
    const given = await takeStartTimes(client, { address, identity, purpose, count });
    const { count: some, wait, apart } = given;
    return Array.from({ length: some }, (_, index) => database.now() + wait + index * apart);
  };
  /** the same for a worker that gets the answer late */
  const takeLate = async (
    identity: string,
    answer: LateAnswer,
    wish: { count: number; purpose: RequestPurpose },
  ) =>
    startsOf(
      await takeStartTimes(database.client, { address, identity, ...wish, late: answer.late }),
      answer,
      database.now(),
    );
  return { ...database, take, takeLate };
}

/** The shortest time in milliseconds in which more than `rate` requests started; 1000 if there were no more. */
function shortest(starts: readonly number[], rate: number): number {
  const sorted = starts.toSorted((one, other) => one - other);
  return Math.min(1000, ...sorted.slice(rate).map((later, index) => later - (sorted[index] ?? 0)));
}

describe.skipIf(bin === undefined)('The quota of a target', () => {
  it('is shared by all users of the target', async () => {
    const { client, take, now } = await openDatabase();
    await beat(client, 'a', { [address]: 10 });
    const [first, second] = [await take('ann', 6), await take('bob', 50)];
    expect(first).toHaveLength(6);
    expect(first[1]).toBe(now() + 100);
    expect(second.length).toBe(10);
    expect(second[0]).toBe(now() + 600);
  });

  it('leaves other targets alone', async () => {
    const { client, take } = await openDatabase();
    await beat(client, 'a', { 'https://other.example.com': 1 });
    expect(await take('ann', 50)).toHaveLength(30);
    expect((await client.query('select * from trueup_fleet.quota_times')).rows).toEqual([]);
  });

  it('applies together with the limit that the service announces: the lower one counts', async () => {
    const { client, take, advance } = await openDatabase();
    await beat(client, 'a', { [address]: 10 });
    const announced = (limit: number) => [{ status: 200, milliseconds: 20, limit, remaining: 5, reset: 1 }];
    await recordAnswers(client, { address, identity: 'ann' }, announced(5));
    await recordAnswers(client, { address, identity: 'bob' }, announced(100));
    await advance(2000);
    // One at a time, so that others get their turns in between.
    expect(await take('ann', 50, 'check')).toHaveLength(1);
    expect(await take('ann', 50, 'check')).toEqual([]);
    expect(await take('bob', 50, 'check')).toHaveLength(10);
    await advance(1200);
    expect(await take('ann', 50, 'check')).toHaveLength(1);
  });

  it('gives other users what a slow user cannot take', async () => {
    const { client, take, advance } = await openDatabase();
    await beat(client, 'a', { [address]: 10 });
    await setRate(client, 'slow', 1);
    let [slow, fast] = [0, 0];
    for (let passed = 0; passed < 10_000; passed += 50) {
      slow += (await take('slow', 1, 'check')).length;
      fast += (await take('fast', 2, 'check')).length;
      await advance(50);
    }
    expect(slow).toBeGreaterThanOrEqual(9);
    expect(slow + fast).toBeGreaterThanOrEqual(95);
  });

  it('keeps a third of each second for applies', async () => {
    const { client, take } = await openDatabase();
    await beat(client, 'a', { [address]: 10 });
    expect(await take('ann', 8, 'check')).toHaveLength(8);
    expect(await take('bob', 1, 'check')).toEqual([]);
    expect(await take('cem', 1, 'apply')).toHaveLength(1);
  });

  it('is the lowest quota in the files of all workers, from the next heartbeat on', async () => {
    const { client, advance } = await openDatabase();
    await beat(client, 'old', { [address]: 10, 'https://other.example.com': 3 });
    await beat(client, 'new', { [address]: 4 });
    expect(await readQuotas(client)).toEqual([
      { target: address, requestsPerSecond: 4 },
      { target: 'https://other.example.com', requestsPerSecond: 3 },
    ]);
    await beat(client, 'old', {});
    expect(await readQuotas(client)).toEqual([{ target: address, requestsPerSecond: 4 }]);
    await beat(client, 'new', { [address]: 8 });
    expect(await quotaOf(client, address, undefined)).toBe(8);
    expect(await quotaOf(client, address, 2)).toBe(2);
    expect(await quotaOf(client, address, 20)).toBe(8);
    // Workers that have ended do not count.
    await advance(61_000);
    expect(await quotaOf(client, address, undefined)).toBeUndefined();
    expect(await quotaOf(client, address, 5)).toBe(5);
  });

  it('is recorded by the heartbeat of each worker, and removed when the worker ends', async () => {
    const { client } = await openDatabase();
    const work = <T>(done: (one: Client) => Promise<T>) => done(client);
    const heartbeat = await startHeartbeat({
      host: {
        clean: (value) => value,
        newId: () => 'a',
        version: '1',
        machine: () => ({ hostname: 'one', pid: 7 }) as never,
      },
      database: { run: work, transaction: work } as never,
      file: { fleet: { name: 'acme', quotas: new Map([[address, 7]]) }, problem: undefined } as never,
      ...{ concurrency: 1, shard: undefined, running: () => 0 },
    });
    expect(await readQuotas(client)).toEqual([{ target: address, requestsPerSecond: 7 }]);
    await heartbeat.stop();
    expect(await readQuotas(client)).toEqual([]);
  });

  it('is kept also by a worker without a heartbeat', async () => {
    const { client } = await openDatabase();
    const transaction = <T>(work: (one: Client) => Promise<T>) => work(client);
    const rates = new CheckRates({ transaction } as never, 'check', (of) => (of === address ? 2 : undefined));
    const answer = await rates.answer({ do: 'take', id: 1, count: 9, address, identity: 'ann' });
    expect(answer).toMatchObject({ count: 2, apart: 500 });
  });

  it('gives each start time only once if workers ask at the same moment', async () => {
    const { client, take, connect } = await openDatabase();
    await beat(client, 'a', { [address]: 20 });
    const clients = await Promise.all(Array.from({ length: 6 }, connect));
    const answers = [{ status: 200, milliseconds: 5 }];
    const starts = await Promise.all(
      clients.map(async (one, index) => {
        const identity = `user ${index % 2}`;
        const taken: number[] = [];
        for (let round = 0; round < 5; round += 1) {
          await one.query('begin');
          await recordAnswers(one, { address, identity }, answers);
          taken.push(...(await take(identity, 3, 'apply', one)));
          await one.query('commit');
        }
        return taken;
      }),
    );
    const all = starts.flat();
    expect(all.length).toBeGreaterThan(20);
    expect(new Set(all.map((start) => Math.round(start / 50))).size).toBe(all.length);
  });

  it('is never exceeded in any second, by any number of users and workers, even with late answers', async () => {
    const { client, takeLate, advance } = await openDatabase();
    /** the start times that one step gives */
    const doStep = async (step: Step, users: number): Promise<number[]> => {
      const identity = `${step.user % users}`;
      if (step.do === 'take') return await takeLate(identity, step.answer, step);
      if (step.do === 'wait') await advance(step.milliseconds);
      else await pauseRequests(client, { address, identity }, step.milliseconds);
      return [];
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
        fc.array(anyStep, { maxLength: 50 }),
        async (quota, rates, steps) => {
          await client.query('delete from trueup_fleet.request_rates');
          await client.query('delete from trueup_fleet.quota_times');
          await beat(client, 'a', { [address]: quota });
          for (const [index, rate] of rates.entries()) await setRate(client, `${index}`, rate);
          const starts = rates.map((): number[] => []);
          for (const step of steps)
            starts[step.user % rates.length]?.push(...(await doStep(step, rates.length)));
          expect(shortest(starts.flat(), quota)).toBeGreaterThanOrEqual(1000 - tolerance);
          for (const [index, rate] of rates.entries())
            expect(shortest(starts[index] ?? [], rate)).toBeGreaterThanOrEqual(1000 - tolerance);
        },
      ),
      { numRuns: 60 },
    );
  });
});

type Step =
  | {
      readonly user: number;
      readonly do: 'take';
      readonly count: number;
      readonly purpose: RequestPurpose;
      readonly answer: LateAnswer;
    }
  | { readonly user: number; readonly do: 'wait' | 'pause'; readonly milliseconds: number };

const user = fc.integer({ min: 0, max: 3 });
const take: fc.Arbitrary<Step> = fc.record({
  user,
  do: fc.constant('take' as const),
  count: fc.integer({ min: 1, max: 40 }),
  purpose: fc.constantFrom<RequestPurpose>('apply', 'plan', 'check'),
  answer: anyLateAnswer,
});
const wait: fc.Arbitrary<Step> = fc.record({
  user,
  do: fc.constant('wait' as const),
  milliseconds: fc.integer({ min: 1, max: 1200 }),
});
const pause: fc.Arbitrary<Step> = fc.record({
  user,
  do: fc.constant('pause' as const),
  milliseconds: fc.integer({ min: 1, max: 2000 }),
});
const anyStep = fc.oneof({ weight: 4, arbitrary: take }, { weight: 3, arbitrary: wait }, pause);
