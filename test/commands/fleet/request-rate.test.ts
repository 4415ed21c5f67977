// One limit of requests for all workers, in a real PostgreSQL. Tests move the time of the database, and wait for nothing.
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialRate, RateController, type RatedAnswer } from '../../../src/api/transport/rate-controller.ts';
import {
  identityOf,
  isUserKnown,
  pauseRequests,
  recordAnswers,
  recordUser,
  type RequestPurpose,
  takeStartTimes,
} from '../../../src/commands/fleet/rates/request-rate.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { anyLateAnswer, type LateAnswer, startsOf, tolerance } from '../../support/fleet/late-answers.ts';
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
  const take = (count: number, purpose: RequestPurpose = 'apply', late = 0) =>
    takeStartTimes(database.client, { ...owner, purpose, count, late });
  return { ...database, take };
}

describe.skipIf(bin === undefined)('The limit of requests of a fleet', () => {
  it('gives a new user thirty requests a second', async () => {
    const { take } = await openDatabase();
    expect(await take(1000)).toEqual({ count: initialRate, wait: 0, apart: 1000 / initialRate });
    expect(await take(10)).toMatchObject({ count: 10, wait: 1000 });
  });

  it('keeps a third of each second for applies and plans', async () => {
    const { take, advance } = await openDatabase();
    await take(24, 'check');
    expect(await take(5, 'check')).toMatchObject({ count: 0, wait: 100 });
    expect(await take(5, 'plan')).toMatchObject({ count: 5, wait: 800 });
    expect(await take(1, 'plan')).toMatchObject({ count: 0 });
    expect(await take(1, 'apply')).toMatchObject({ count: 1 });
    await advance(400);
    expect(await take(1, 'check')).toMatchObject({ count: 1 });
  });

  it('stops all requests for as long as the service asks', async () => {
    const { client, take, advance } = await openDatabase();
    await pauseRequests(client, owner, 5000);
    expect(await take(1)).toEqual({ count: 0, wait: 4000, apart: expect.any(Number) });
    await advance(4000);
    expect(await take(1)).toMatchObject({ count: 1, wait: 1000 });
  });

  it('gives more start times if the last answer was late, for at most two seconds', async () => {
    const { client, take } = await openDatabase();
    await setRate(client, 10);
    expect(await take(3, 'apply', 450)).toEqual({ count: 8, wait: 0, apart: 100 });
    expect(await take(1, 'apply', -1000)).toMatchObject({ count: 1, wait: 800 });
    expect(await take(1, 'apply', 60_000)).toMatchObject({ count: 21, wait: 900 });
    expect(await take(1, 'apply', 450)).toMatchObject({ count: 0 });
  });

  it('is separate for each user and each service', async () => {
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

  it('is the limit that the service announces', async () => {
    const { client, take } = await openDatabase();
    const announced = { status: 200, milliseconds: 20, limit: 10, remaining: 9, reset: 800 };
    await recordAnswers(client, owner, [announced]);
    expect(await take(50)).toEqual({ count: 10, wait: 0, apart: 100 });
  });

  it('starts nothing while the service has no requests left', async () => {
    const { client, take } = await openDatabase();
    const last = { status: 200, milliseconds: 20, limit: 10, remaining: 0, reset: 3000 };
    await recordAnswers(client, owner, [last]);
    expect(await take(1)).toMatchObject({ count: 0, wait: 2000 });
  });

  it('is halved when the service refuses a request, and rises slowly when it answers again', async () => {
    const { client, take, advance } = await openDatabase();
    const rate = async () => 1000 / (await take(1)).apart;
    await recordAnswers(client, owner, [{ status: 429, milliseconds: 5 }]);
    expect(await rate()).toBeCloseTo(15);
    // Several refusals at once count once.
    await recordAnswers(client, owner, [{ status: 429, milliseconds: 5 }]);
    expect(await rate()).toBeCloseTo(15);
    await advance(6000);
    await recordAnswers(client, owner, [{ status: 200, milliseconds: 20 }]);
    expect(await rate()).toBeCloseTo(16.5);
  });

  it('follows the rule of a single run, for all answers of the service', async () => {
    const { client, advance, now } = await openDatabase();
    const batch = fc.record({
      wait: fc.integer({ min: 0, max: 9000 }),
      answers: fc.array(fc.option(anyAnswer, { nil: undefined }), { minLength: 1, maxLength: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 12 }), async (batches) => {
        await client.query('delete from trueup_fleet.request_rates');
        const alone = new RateController({ initial: initialRate, highest: 200, clock: { now } });
        for (const { wait, answers } of batches) {
          await advance(wait);
          await recordAnswers(client, owner, answers);
          for (const answer of answers) {
            if (answer === undefined) alone.failed();
            else alone.answered(answer);
          }
          const { rows } = await client.query('select per_second from trueup_fleet.request_rates');
          expect(rows).toEqual([{ per_second: alone.perSecond }]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is shared by all tokens of a user, with the pauses of each', async () => {
    const { client, take, advance } = await openDatabase();
    const tokens = ['one', 'two'].map((token) => ({ address: owner.address, token }));
    for (const token of tokens) {
      const identity = await identityOf(client, token);
      await takeStartTimes(client, { address: owner.address, identity, purpose: 'check', count: 6 });
      expect(await isUserKnown(client, token)).toBe(false);
      await recordUser(client, token, 'user-7');
      expect(await isUserKnown(client, token)).toBe(true);
    }
    const [identity, second] = await Promise.all(tokens.map((token) => identityOf(client, token)));
    expect(second).toBe(identity);
    expect((await client.query('select identity from trueup_fleet.request_rates')).rows).toEqual([
      { identity },
    ]);
    const wish = { address: owner.address, identity: String(identity), purpose: 'apply' as const, count: 1 };
    expect(await takeStartTimes(client, wish)).toMatchObject({ wait: 200 });
    // The user is read again after a day, because a token can be given to another user.
    await advance(86_400_000);
    expect(await isUserKnown(client, { address: owner.address, token: 'one' })).toBe(false);
    expect(await take(1)).toMatchObject({ count: 1 });
  });

  it('belongs to the token if the service names no user', async () => {
    const { client } = await openDatabase();
    const token = { address: owner.address, token: 'of an organization' };
    const before = await identityOf(client, token);
    await recordUser(client, token, undefined);
    expect(await identityOf(client, token)).toBe(before);
    expect(await isUserKnown(client, token)).toBe(true);
  });

  it('stores no token and no user that a reader of the tables could use', async () => {
    const { client } = await openDatabase();
    const token = { address: owner.address, token: 'secret-token' };
    const [one, other] = [
      await identityOf(client, token),
      await identityOf(client, { ...token, token: 'another-token' }),
    ];
    expect(one).not.toBe(other);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    await recordUser(client, token, 'user-ann');
    const { rows } = await client.query('select * from trueup_fleet.users');
    expect(JSON.stringify(rows)).not.toMatch(/secret-token|user-ann/);
  });

  it('never gives more than the rate in any second, even if workers stop or answers are late', async () => {
    const { client, take, advance, now } = await openDatabase();
    /** the start times that one step gives */
    const doStep = async (step: Step): Promise<number[]> => {
      if (step.do === 'wait') await advance(step.milliseconds);
      else if (step.do === 'pause') await pauseRequests(client, owner, step.milliseconds);
      if (step.do !== 'take') return [];
      return startsOf(await take(step.count, step.purpose, step.answer.late), step.answer, now());
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
          expect(Math.min(1000, ...apart)).toBeGreaterThanOrEqual(1000 - tolerance);
        },
      ),
      { numRuns: 60 },
    );
  });
});

const anyAnswer: fc.Arbitrary<RatedAnswer> = fc.record({
  status: fc.constantFrom(200, 200, 200, 404, 429, 500, 503),
  milliseconds: fc.constantFrom(5, 20, 90, 300, 2000),
  limit: fc.constantFrom(undefined, undefined, undefined, 10, 60, 1000),
  remaining: fc.constantFrom(undefined, 0, 3),
  reset: fc.constantFrom(undefined, 500, 5000),
});

type Step =
  | {
      readonly do: 'take';
      readonly count: number;
      readonly purpose: RequestPurpose;
      readonly answer: LateAnswer;
    }
  | { readonly do: 'wait' | 'pause'; readonly milliseconds: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('take' as const),
    count: fc.integer({ min: 1, max: 40 }),
    purpose: fc.constantFrom<RequestPurpose>('apply', 'plan', 'check'),
    answer: anyLateAnswer,
  }),
  fc.record({ do: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 3000 }) }),
  fc.record({ do: fc.constant('pause' as const), milliseconds: fc.integer({ min: 1, max: 2000 }) }),
);
