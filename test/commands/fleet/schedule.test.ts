// When each stack of a fleet is checked, in a real PostgreSQL. Tests move the time of the database, and wait for nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  databaseTime,
  makeDue,
  noteEnd,
  noteStart,
  phaseOf,
  readStatus,
  scheduleStacks,
  takeDue,
} from '../../../src/commands/fleet/schedule.ts';
import type { StackId } from '../../../src/commands/fleet/stack-id.ts';
import { openFleetDatabase, waitUntilBlocked } from '../../support/fleet/database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const minute = 60_000;
const interval = 15 * minute;

/** the repositories of the workers in these tests */
const ours = { repositories: ['infra'] };

function named(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `stacks/${index}/trueup.yaml`);
}

async function openSchedule(paths: readonly string[] = ['trueup.yaml']) {
  const database = await openFleetDatabase(server);
  const { client, now } = database;
  const schedule = (wanted: readonly string[], { seconds = interval / 1000, tree = 'first' } = {}) =>
    scheduleStacks(
      client,
      'infra',
      wanted.map((path) => ({ repository: 'infra', path, seconds, tree })),
    );
  await schedule(paths);
  const end = async (stack: StackId, error?: string) => {
    const attempt = (await noteStart(client, stack))?.attempt ?? '';
    return noteEnd(client, stack, attempt, { error, summary: { drifted: 0 } });
  };
  const status = async (path = 'trueup.yaml') => {
    const { stacks } = await readStatus(client);
    return stacks.find((stack) => stack.path === path);
  };
  const minutesToNext = async () => (((await status())?.nextDue ?? 0) - now()) / minute;
  return {
    ...database,
    schedule,
    end,
    status,
    minutesToNext,
    due: (limit = 100) => takeDue(client, limit, ours),
  };
}

describe.skipIf(bin === undefined)('The schedule of a fleet', () => {
  it('checks a new stack at once, and then once in each interval', async () => {
    const { due, end, advance } = await openSchedule();
    const [stack] = await due();
    expect(stack).toEqual({ repository: 'infra', path: 'trueup.yaml' });
    if (stack === undefined) return;
    await end(stack);
    let checks = 0;
    for (let passed = 0; passed < 24 * 60; passed += 1) {
      await advance(minute);
      const [again] = await due();
      if (again === undefined) continue;
      checks += 1;
      await end(again);
    }
    expect(checks).toBeGreaterThanOrEqual(95);
    expect(checks).toBeLessThanOrEqual(97);
  });

  it('spreads stacks evenly over the interval, even after a time without workers', async () => {
    const { due, end, advance } = await openSchedule(named(300));
    for (const stack of await due(300)) await end(stack);
    const perMinute: number[] = [];
    for (let passed = 0; passed < 60; passed += 1) {
      await advance(minute);
      const taken = await due(300);
      if (passed >= 30) perMinute.push(taken.length);
      for (const stack of taken) await end(stack);
    }
    // 300 stacks in 15 minutes: 20 each minute.
    expect(Math.max(...perMinute)).toBeLessThanOrEqual(40);
    expect(Math.min(...perMinute)).toBeGreaterThanOrEqual(5);
  });

  it('gives a stack to one worker only', async () => {
    const { connect } = await openSchedule(named(60));
    const workers = await Promise.all(Array.from({ length: 4 }, connect));
    const taken = (await Promise.all(workers.map((client) => takeDue(client, 20, ours)))).flat();
    expect(new Set(taken.map(({ path }) => path)).size).toBe(taken.length);
    expect(taken.length).toBeLessThanOrEqual(60);
    const rest = await takeDue(workers[0] as never, 60, ours);
    expect(taken.length + rest.length).toBe(60);
  });

  it('makes all stacks due while another worker reads their repository, without a deadlock', async () => {
    const { client, connect, status } = await openSchedule(['c', 'b', 'a']);
    const [reader, runner] = [await connect(), await connect()];
    await client.query(`begin; select 1 from trueup_fleet.stacks where path = 'b' for update`);
    await reader.query('begin');
    const stacks = ['a', 'b', 'c'].map((path) => ({ repository: 'infra', path, seconds: 900, tree: 'x' }));
    const reads = scheduleStacks(reader, 'infra', stacks).then(() => reader.query('commit'));
    const runs = makeDue(runner, ours);
    const both = Promise.all([reads, runs]);
    await waitUntilBlocked(client, 2);
    await client.query('commit');
    await both;
    expect((await status('a'))?.nextDue).toBeDefined();
  });

  it('leaves stacks that become due during a run to the next "fleet run"', async () => {
    const { client, connect, advance, due, end } = await openSchedule(named(3));
    const dueBy = await databaseTime(client);
    const take = async () => takeDue(await connect(), 20, { ...ours, dueBy });
    const first = await take();
    expect(first).toHaveLength(3);
    for (const stack of first) await end(stack);
    await advance(2 * 900_000);
    expect(await take()).toEqual([]);
    expect(await due()).toHaveLength(3);
  });

  it('leaves stacks of repositories that a worker does not know to other workers', async () => {
    const { client, due } = await openSchedule();
    expect(await takeDue(client, 20, { repositories: ['platform'] })).toEqual([]);
    expect(await due()).toHaveLength(1);
  });

  it('is not delayed by a check that began before the stack was removed and added again', async () => {
    const { schedule, due } = await openSchedule();
    await due();
    await schedule([]);
    await schedule(['trueup.yaml']);
    expect(await due()).toHaveLength(1);
  });

  it('checks a stack again if a worker took it and never reported a result', async () => {
    const { due, advance } = await openSchedule();
    expect(await due()).toHaveLength(1);
    await advance(59 * minute);
    expect(await due()).toHaveLength(0);
    await advance(2 * minute);
    expect(await due()).toHaveLength(1);
  });

  it('ignores the result of a worker that was considered dead and comes back', async () => {
    const { client, due, status } = await openSchedule();
    const [stack] = await due();
    if (stack === undefined) throw new Error('it is due');
    const first = (await noteStart(client, stack))?.attempt ?? '';
    const second = (await noteStart(client, stack))?.attempt ?? '';
    expect(await noteEnd(client, stack, second, { summary: { drifted: 1 } })).toBe(true);
    expect(await noteEnd(client, stack, first, { summary: { drifted: 0 } })).toBe(false);
    expect(await status()).toMatchObject({ summary: { drifted: 1 } });
  });

  it('checks a failing stack less and less often, until a check succeeds', async () => {
    const { due, end, minutesToNext, advance, status } = await openSchedule();
    const waits: number[] = [];
    for (let failures = 1; failures <= 7; failures += 1) {
      const [stack] = await due();
      if (stack === undefined) throw new Error('it is due');
      await end(stack, 'the service does not answer');
      waits.push(await minutesToNext());
      // The database counts in microseconds.
      await advance(Math.ceil((waits.at(-1) ?? 0) * minute) + 1);
    }
    for (const [index, factor] of [1, 2, 4, 8, 16, 16, 16].entries()) {
      expect(waits[index]).toBeGreaterThan((factor - 0.6) * 15);
      expect(waits[index]).toBeLessThan((factor + 0.6) * 15);
    }
    expect(await status()).toMatchObject({ failures: 7, error: 'the service does not answer' });
    const [stack] = await due();
    if (stack !== undefined) await end(stack);
    expect(await status()).toMatchObject({ failures: 0, error: undefined });
    expect(await minutesToNext()).toBeLessThan(24);
  });

  it('checks a stack at once when a commit changes its files, even after failures', async () => {
    const { schedule, due, end, status } = await openSchedule();
    const [stack] = await due();
    if (stack !== undefined) await end(stack, 'a manifest is invalid');
    expect(await due()).toHaveLength(0);
    await schedule(['trueup.yaml']);
    expect(await due()).toHaveLength(0);
    await schedule(['trueup.yaml'], { tree: 'second' });
    expect(await status()).toMatchObject({ failures: 0 });
    expect(await due()).toHaveLength(1);
    expect(await due()).toHaveLength(0);
  });

  it('shows a stack as stale after two intervals without a complete check', async () => {
    const { due, end, status, advance } = await openSchedule();
    expect(await status()).toMatchObject({ standing: expect.not.stringMatching('stale') });
    await advance(31 * minute);
    expect(await status()).toMatchObject({ standing: 'stale' });
    const [stack] = await due();
    if (stack !== undefined) await end(stack);
    expect(await status()).toMatchObject({ standing: expect.not.stringMatching('stale') });
    await advance(31 * minute);
    const [again] = await due();
    if (again !== undefined) await end(again, 'the service does not answer');
    expect(await status()).toMatchObject({ standing: 'stale' });
  });

  it('does not check a stack that was removed from its repository, until it comes back', async () => {
    const { schedule, due, status } = await openSchedule(['a/trueup.yaml', 'b/trueup.yaml']);
    await schedule(['a/trueup.yaml']);
    expect(await due()).toEqual([{ repository: 'infra', path: 'a/trueup.yaml' }]);
    expect(await status('b/trueup.yaml')).toBeUndefined();
    await schedule(['a/trueup.yaml', 'b/trueup.yaml']);
    expect(await due()).toEqual([{ repository: 'infra', path: 'b/trueup.yaml' }]);
  });

  it('follows a shorter interval at once', async () => {
    const { schedule, due, end, minutesToNext } = await openSchedule();
    await schedule(['trueup.yaml'], { seconds: 24 * 3600 });
    const [stack] = await due();
    if (stack !== undefined) await end(stack);
    expect(await minutesToNext()).toBeGreaterThan(60);
    await schedule(['trueup.yaml'], { seconds: 300 });
    expect(await minutesToNext()).toBeLessThanOrEqual(5);
  });

  it('derives the time of a stack from its repository and path, so that restarts do not change it', () => {
    const phase = phaseOf({ repository: 'infra', path: 'trueup.yaml' });
    expect(phaseOf({ repository: 'infra', path: 'trueup.yaml' })).toBe(phase);
    expect(phaseOf({ repository: 'other', path: 'trueup.yaml' })).not.toBe(phase);
    const phases = named(1000).map((path) => phaseOf({ repository: 'infra', path }));
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const inside = phases.filter((one) => Math.floor(one * 10) === tenth).length;
      expect(inside).toBeGreaterThan(60);
      expect(inside).toBeLessThan(140);
    }
  });
});
