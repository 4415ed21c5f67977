// A fleet of 200 stacks with four workers and one service, which allows 30 requests a second. The test counts; `bench/fleet.ts` measures.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FleetScene, openFleet } from '../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const names = Array.from({ length: 200 }, (_, index) => `stack-${String(index).padStart(3, '0')}`);
const intervalSeconds = 900;

/** Runs four workers at once. @returns results by stack, in the order of names; a stack that was checked twice is listed twice */
async function runWorkers({ fleet, checks }: FleetScene): Promise<(readonly [string, string])[]> {
  const shards = ['1/4', '2/4', '3/4', '4/4'];
  const runs = await Promise.all(shards.map((shard) => fleet('run', '--shard', shard, '--concurrency', '1')));
  expect(runs.map(({ err }) => err)).toEqual(['', '', '', '']);
  return runs
    .flatMap((run) => Object.entries(checks(run)))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

describe.skipIf(bin === undefined)('A fleet of 200 stacks', { timeout: 900_000 }, () => {
  it('checks each stack once in an interval, spreads checks evenly, and stays within the limit of the service', async () => {
    if (server === undefined) throw new Error('PostgreSQL is not installed');
    const scene = await openFleet(server, { stacks: [], rateLimit: 30 });
    const { bench, fleet, push, sql, stack } = scene;
    push(Object.assign({}, ...names.map((name) => stack(name))));
    expect(await runWorkers(scene)).toEqual(names.map((name) => [name, 'no drift']));

    const times = `extract(epoch from next_due) / ${intervalSeconds}`;
    const tenths = sql(
      `select count(*) from trueup_fleet.stacks group by floor(10 * (${times} - floor(${times}))) order by 1`,
    );
    const counts = tenths.split('\n').map(Number);
    expect(counts).toHaveLength(10);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...counts)).toBeLessThanOrEqual(36);

    // The next check of a new stack is between half an interval and one and a half intervals later.
    sql(`create or replace function trueup_fleet.now() returns timestamptz language sql volatile as
      'select clock_timestamp() + interval ''${intervalSeconds} seconds'''`);
    const due = 'from trueup_fleet.stacks where next_due <= trueup_fleet.now()';
    const half = sql(`select split_part(path, '/', 1) ${due} order by 1`).split('\n');
    expect(half.length).toBeGreaterThanOrEqual(60);
    expect(half.length).toBeLessThanOrEqual(140);
    const checked = (await runWorkers(scene)).map(([name]) => name);
    // A few more became due while the workers started.
    expect(checked).toEqual(expect.arrayContaining(half));
    expect(new Set(checked).size).toBe(checked.length);
    expect((await fleet('status')).out).toMatch(/^200 stacks: 0 stale, 0 in need of attention/);

    const requests = bench.wire.seen;
    expect(requests.filter(({ status }) => status === 429)).toEqual([]);
    // Three requests for each check, and one for each worker to read the user.
    expect(requests.length).toBeLessThanOrEqual(3 * (names.length + checked.length) + 8);
  });
});
