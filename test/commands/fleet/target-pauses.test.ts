// A target that fails for several stacks is paused for a while, in a real PostgreSQL whose time the tests move.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordEnd } from '../../../src/commands/fleet/check-records.ts';
import { noteStart, scheduleStacks, takeDue } from '../../../src/commands/fleet/schedule.ts';
import type { StackId } from '../../../src/commands/fleet/stack-id.ts';
import { type PauseChange, readPauses } from '../../../src/commands/fleet/target-pauses.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { resultWith } from '../../support/fleet/reports.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const minute = 60_000;

/** The error of the service of a stack, or undefined if it answers. */
type Outage = (path: string) => string | undefined;

async function openTargets(count: number) {
  const database = await openFleetDatabase(server);
  const { client, advance } = database;
  const paths = Array.from({ length: count }, (_, index) => `${index}/trueup.yaml`);
  const wanted = paths.map((path) => ({ repository: 'infra', path, seconds: 900, tree: 'first' }));
  await scheduleStacks(client, 'infra', wanted);
  const changes: PauseChange['is'][] = [];
  const check = async (stack: StackId, outage: Outage) => {
    const attempt = (await noteStart(client, stack))?.attempt;
    if (attempt === undefined) return false;
    const unread = outage(stack.path);
    const result = resultWith(unread === undefined ? {} : { unread });
    changes.push(...((await recordEnd(client, stack, attempt, result)) ?? []).map(({ is }) => is));
    return true;
  };
  /** makes the due checks once a minute. @returns the number of checks of each minute */
  const pass = async (minutes: number, outage: Outage, onCheck: (stack: StackId) => void = () => {}) => {
    const each: number[] = [];
    for (let at = 0; at < minutes; at += 1) {
      await advance(minute);
      let checks = 0;
      for (const stack of await takeDue(client, 1000, { repositories: ['infra'] })) {
        if (!(await check(stack, outage))) continue;
        checks += 1;
        onCheck(stack);
      }
      each.push(checks);
    }
    return each;
  };
  return { ...database, pass, changes, check, paths };
}

const noOutage: Outage = () => undefined;
const down: Outage = (path) => `GET /${path} answered 503: unavailable`;

describe.skipIf(bin === undefined)('A target that fails', () => {
  it('is probed by single stacks in an hour of failures, is reported once, and recovers slowly', async () => {
    const { pass, changes, client } = await openTargets(100);
    await pass(20, noOutage);
    const outage = await pass(60, down);
    expect(changes).toEqual(['paused']);
    const [pause] = await readPauses(client);
    expect(pause).toMatchObject({ address: 'https://app.example.com' });
    // Five stacks fail, and then a probe follows after 1, 2, 4, 8, 15, 15 … minutes.
    expect(outage.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(30);
    const probes = outage.slice(6);
    expect(Math.max(...probes)).toBe(1);
    expect(probes.filter((one) => one > 0).length).toBeGreaterThanOrEqual(4);
    expect(probes.filter((one) => one > 0).length).toBeLessThanOrEqual(8);
    const after = await pass(45, noOutage);
    expect(changes).toEqual(['paused', 'back']);
    const back = after.findIndex((one) => one > 0);
    const ramp = after.slice(back, back + 16);
    // All are checked within a quarter of an hour, few at first, and never all at once.
    expect(ramp.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(95);
    expect(Math.max(...ramp)).toBeLessThanOrEqual(25);
    expect(ramp.slice(0, 4).reduce((sum, one) => sum + one)).toBeLessThan(20);
  });

  it('is not paused for one stack of a hundred that always fails, and the others are not delayed', async () => {
    const { pass, changes, client } = await openTargets(100);
    const failing: Outage = (path) => (path === '7/trueup.yaml' ? down(path) : undefined);
    const seen = new Map<string, number>();
    await pass(120, failing, ({ path }) => seen.set(path, (seen.get(path) ?? 0) + 1));
    expect(changes).toEqual([]);
    expect(await readPauses(client)).toEqual([]);
    const others = [...seen].filter(([path]) => path !== '7/trueup.yaml').map(([, count]) => count);
    expect(others).toHaveLength(99);
    expect(Math.min(...others)).toBeGreaterThanOrEqual(8);
    expect(seen.get('7/trueup.yaml')).toBeLessThan(6);
  });

  it('is not paused if it refuses the tokens of stacks', async () => {
    const { pass, changes, client, check } = await openTargets(12);
    await pass(2, noOutage);
    for (let index = 0; index < 8; index += 1)
      await check({ repository: 'infra', path: `${index}/trueup.yaml` }, () => 'GET / answered 401: no');
    expect(changes).toEqual([]);
    expect(await readPauses(client)).toEqual([]);
  });

  it('counts as back when it refuses a token', async () => {
    const { pass, changes } = await openTargets(12);
    await pass(2, noOutage);
    await pass(20, down);
    await pass(20, () => 'GET / answered 401: no');
    expect(changes).toEqual(['paused', 'back']);
  });

  it('is not paused if stacks fail in different ways, or if one succeeds in between', async () => {
    const { pass, changes, check } = await openTargets(12);
    await pass(2, noOutage);
    const stack = (index: number) => ({ repository: 'infra', path: `${index}/trueup.yaml` });
    for (let index = 0; index < 8; index += 1)
      await check(stack(index), () => `GET / answered ${index < 4 ? 500 : 503}: no`);
    expect(changes).toEqual([]);
    await check(stack(8), noOutage);
    for (let index = 0; index < 4; index += 1) await check(stack(index), down);
    expect(changes).toEqual([]);
    await check(stack(4), down);
    expect(changes).toEqual(['paused']);
    // A job that was sent before the pause is not run, and its stack stays due.
    expect(await check(stack(9), down)).toBe(false);
  });

  it('does not delay stacks that a commit has moved to another target', async () => {
    const { pass, client, paths } = await openTargets(40);
    await pass(20, noOutage);
    await pass(20, down);
    expect(await readPauses(client)).toHaveLength(1);
    const moved = paths.map((path) => ({ repository: 'infra', path, seconds: 900, tree: 'second' }));
    await scheduleStacks(client, 'infra', moved);
    const seen = new Set<string>();
    await pass(
      2,
      () => 'no',
      ({ path }) => seen.add(path),
    );
    expect(seen.size).toBe(40);
  });

  it('keeps a changed stack due if the pause delayed its check', async () => {
    const { pass, client, check, paths, advance } = await openTargets(7);
    await pass(1, noOutage);
    await client.query(
      'update trueup_fleet.stacks set forced = true, next_due = next_due + make_interval(days => 1)',
    );
    const taken = await takeDue(client, 100, { repositories: ['infra'] });
    expect(taken).toHaveLength(7);
    const [one, two, ...failing] = taken;
    for (const stack of failing) await check(stack, down);
    for (const stack of [one, two]) expect(stack && (await check(stack, noOutage))).toBe(false);
    await advance(minute);
    const seen = new Set<string>();
    await pass(20, noOutage, ({ path }) => seen.add(path));
    expect([...seen].sort()).toEqual(paths);
  });
});
