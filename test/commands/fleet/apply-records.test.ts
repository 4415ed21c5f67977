// What a fleet records of its applies, in a real PostgreSQL whose time the tests move.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  beginApply,
  endApply,
  endWait,
  isBackingOff,
  noteBegun,
  noteWait,
  readWaits,
  type Wait,
  wasCutShort,
  wasJustApplied,
} from '../../../src/commands/fleet/apply/apply-records.ts';
import { applyPause } from '../../../src/commands/fleet/apply/paused-targets.ts';
import { endTurn, noteQueued, takeTurn } from '../../../src/commands/fleet/apply-turns.ts';
import {
  databaseTime,
  makeStackDue,
  noteEnd,
  noteStart,
  readStatus,
  scheduleStacks,
  takeDue,
} from '../../../src/commands/fleet/schedule.ts';
import { fleetTables } from '../../../src/commands/fleet/tables.ts';
import { takeOverOldKey } from '../../../src/commands/fleet/notify/channel-keys.ts';
import { nameRepositories } from '../../../src/commands/fleet/workers.ts';
import { migrate } from '../../../src/ledger/postgres-connection.ts';
import { openFleetDatabase, waitUntilBlocked } from '../../support/fleet/database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const minute = 60_000;
const one = { repository: 'infra', path: 'one/trueup.yaml' };
const approval: Wait = { for: 'approval', reason: 'nobody approved it', commit: 'c1' };

async function openApplies() {
  const database = await openFleetDatabase(server);
  const { client } = database;
  const schedule = (paths: readonly string[] = [one.path], tree = 'first') =>
    scheduleStacks(
      client,
      'infra',
      paths.map((path) => ({ repository: 'infra', path, seconds: 900, tree })),
    );
  await schedule();
  /** a check without an error. @returns its attempt */
  const check = async () => {
    const attempt = (await noteStart(client, one))?.attempt ?? '';
    await noteEnd(client, one, attempt, { commit: 'c1', summary: { drifted: 1, pending: 0 } });
    return attempt;
  };
  const begin = async (commit = 'c1') => {
    const begun = await beginApply(client, one, { attempt: await check(), commit });
    if (begun.is !== 'begun') throw new Error(begun.is);
    return begun.id;
  };
  const outcomes = async () => {
    const { rows } = await client.query('select outcome from trueup_fleet.applies order by id');
    return rows.map(({ outcome }) => outcome);
  };
  return { ...database, schedule, check, begin, outcomes };
}

it.skipIf(bin === undefined)(
  'An upgrade keeps the records of sent messages, so that none is sent again, and waiting applies',
  async () => {
    const client = new pg.Client({ connectionString: server?.newDatabase() });
    await client.connect();
    onTestFinished(() => client.end());
    const { migrations } = fleetTables;
    const before = migrations.findIndex((one) => one.includes('column applying'));
    await migrate(client, { ...fleetTables, migrations: migrations.slice(0, before) });
    await client.query(
      `insert into trueup_fleet.told (channel, topic, hash, issue) values ('issues', 'stack ["infra","one"]', 'h1', 7);
       insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit)
       values ('infra', 'one', now(), 'guard', 'a guard', 'c1')`,
    );
    await migrate(client, fleetTables);
    await takeOverOldKey(client, 'acme', 'acme/issues');
    const { rows } = await client.query('select channel, hash, issue::int from trueup_fleet.sent_messages');
    expect(rows).toEqual([{ channel: 'acme/issues', hash: 'h1', issue: 7 }]);
    const waits = await client.query('select because, tree from trueup_fleet.waiting_applies');
    expect(waits.rows).toEqual([{ because: 'guard', tree: null }]);
  },
);

describe.skipIf(bin === undefined)('A target that refuses writes', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const target = 'https://app.example.com';

  /** Every stack except the last one has an apply that failed for this reason. */
  async function failedApplies(reason: string) {
    const { client, schedule, advance } = await openApplies();
    await schedule(names);
    await client.query('update trueup_fleet.stacks set targets = $1', [[target]]);
    const apply = async (path: string, outcome: 'failed' | 'applied') => {
      const stack = { repository: 'infra', path };
      const attempt = (await noteStart(client, stack))?.attempt ?? '';
      const begun = await beginApply(client, stack, { attempt, commit: 'c1' });
      if (begun.is !== 'begun') throw new Error(begun.is);
      await endApply(client, begun.id, { outcome, reason, people: [] });
      if (outcome === 'applied') await endWait(client, stack);
      else await noteWait(client, stack, { for: 'retry', reason, commit: 'c1' });
      await advance(minute);
    };
    for (const path of names.slice(0, 5)) await apply(path, 'failed');
    const pauseOf = (path: string) => applyPause(client, { repository: 'infra', path });
    return { apply, client, pauseOf };
  }

  it('pauses all applies to it except those of one stack, whose success ends the pause', async () => {
    const { apply, client, pauseOf } = await failedApplies('PATCH /x answered 503 Service Unavailable');
    const paused =
      'applies to "https://app.example.com" are paused: those of 5 stacks failed with status 503, and one of them at a time tries again';
    expect(await pauseOf('a')).toBeUndefined();
    expect(await pauseOf('b')).toBe(paused);
    // A stack whose apply never failed waits as well, and what waits for the target still counts.
    expect(await pauseOf('f')).toBe(paused);
    for (const path of ['b', 'c'])
      await noteWait(client, { repository: 'infra', path }, { for: 'target', reason: paused, commit: 'c1' });
    expect(await pauseOf('d')).toBe(paused);
    await apply('a', 'applied');
    for (const path of names) expect(await pauseOf(path)).toBeUndefined();
  });

  it('is tried by its stacks in turn, so that one failing stack does not block the others', async () => {
    const { apply, client, pauseOf } = await failedApplies('PATCH /x answered 500 Internal Server Error');
    await apply('a', 'failed');
    const free = async () => {
      const all = await Promise.all(names.map(async (path) => ((await pauseOf(path)) ? [] : [path])));
      return all.flat();
    };
    expect(await free()).toEqual(['b']);
    // A stack does not get its turn if its checks fail, or if no worker checks it any more.
    await client.query("update trueup_fleet.stacks set last_error = 'no' where path = 'b'");
    expect(await free()).toEqual(['c']);
    await client.query(
      "update trueup_fleet.stacks set first_seen = first_seen - interval '1 h' where path = 'c'",
    );
    expect(await free()).toEqual(['d']);
    await noteWait(client, { repository: 'infra', path: 'e' }, { for: 'target', reason: 'no', commit: 'c1' });
    expect(await free()).toEqual(['e']);
    await apply('e', 'applied');
    expect(await free()).toEqual(names);
  });

  it('is found at once in the history of a year, even if applies succeeded before the failures', async () => {
    const { client, advance } = await openApplies();
    await client.query(
      `insert into trueup_fleet.stacks (repository, path, seconds_between_checks, phase, tree, next_due, first_seen, targets)
         select 'infra', 's' || i, 900, 0.5, 't', trueup_fleet.now(), trueup_fleet.now(), '{${target}}' from generate_series(1, 2000) as i;
       with ages as (select i, trueup_fleet.now() - make_interval(mins => i * 5) as at from generate_series(1, 100000) as i)
         insert into trueup_fleet.applies (repository, path, attempt, commit, started, leased_until, ended, outcome, reason)
         select 'infra', 's' || (i % 2000 + 1), i, 'c', at, at, at, 'applied', null from ages
         union all select 'infra', 's' || i, 100001, 'c', now, now, now, 'failed', 'PATCH /x answered 503 no'
         from generate_series(1, 200) as i, trueup_fleet.now() as now;
       insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit)
         select 'infra', 's' || i, trueup_fleet.now(), 'retry', 'no', 'c' from generate_series(1, 200) as i;
       analyze; set statement_timeout = '3s'`,
    );
    const pauseOf = () => applyPause(client, { repository: 'infra', path: 's1999' });
    expect(await pauseOf()).toContain('those of 200 stacks failed with status 503');
    await advance(25 * 60 * minute);
    expect(await pauseOf()).toBeUndefined();
  });

  it('is not paused by requests that it refuses as invalid', async () => {
    const { pauseOf } = await failedApplies('PATCH /x answered 422 Unprocessable Entity');
    expect(await pauseOf('f')).toBeUndefined();
  });

  it('does not pause stacks of other targets', async () => {
    const { client, pauseOf } = await failedApplies('PATCH /x answered 503 Service Unavailable');
    await client.query(
      "update trueup_fleet.stacks set targets = '{https://other.example.com}' where path = 'f'",
    );
    expect(await pauseOf('f')).toBeUndefined();
  });
});

describe.skipIf(bin === undefined)('The applies of a fleet', () => {
  it('of a removed stack stop waiting, and end if their worker was killed', async () => {
    const { client, schedule, begin, outcomes, advance } = await openApplies();
    await begin();
    await noteWait(client, one, approval);
    await advance(minute);
    await schedule([]);
    expect(await outcomes()).toEqual(['lost']);
    await schedule();
    expect(await readWaits(client)).toEqual([]);
  });

  it('can end while a later attempt begins, and neither waits for the other', async () => {
    const { client, connect, check, begin, outcomes } = await openApplies();
    const id = await begin();
    const attempt = await check();
    const [ending, beginning] = [await connect(), await connect()];
    await ending.query('begin');
    await endApply(ending, id, { outcome: 'applied', people: [] });
    await beginning.query('begin');
    const begun = beginApply(beginning, one, { attempt, commit: 'c1' });
    await waitUntilBlocked(client, 1);
    const ended = makeStackDue(ending, one).then(() => ending.query('commit'));
    const [{ is }] = await Promise.all([begun, ended]);
    expect(is).toBe('begun');
    await beginning.query('commit');
    expect(await outcomes()).toEqual(['applied', null]);
  });

  it('of a removed stack continue while their attempt may write', async () => {
    const { schedule, begin, outcomes } = await openApplies();
    await begin();
    await schedule([]);
    expect(await outcomes()).toEqual([null]);
  });

  it('stop waiting when the repository has left the fleet', async () => {
    const { client, schedule, advance } = await openApplies();
    const name = (names: readonly string[]) =>
      nameRepositories(client, { fleet: 'acme', names, unread: new Map() });
    await name(['infra']);
    await noteWait(client, one, approval);
    await advance(11 * minute);
    await name([]);
    await schedule();
    expect(await readWaits(client)).toEqual([]);
  });

  it('do not revert drift that comes back right after an apply of the same files', async () => {
    const { client, schedule, begin, check, advance } = await openApplies();
    expect(await wasJustApplied(client, one)).toBe(false);
    await endApply(client, await begin(), { outcome: 'applied', changes: 1, people: [] });
    await advance(5000);
    await check();
    expect(await wasJustApplied(client, one)).toBe(true);
    await advance(7 * minute);
    expect(await wasJustApplied(client, one)).toBe(false);
    await endApply(client, await begin(), { outcome: 'applied', changes: 1, people: [] });
    await schedule([one.path], 'second');
    await check();
    expect(await wasJustApplied(client, one)).toBe(false);
  });

  it('are tried again after a growing delay when they fail, until a commit changes the stack', async () => {
    const { client, schedule, check, advance } = await openApplies();
    const fail = (commit: string) => noteWait(client, one, { for: 'retry', reason: 'no', commit });
    await check();
    await fail('c1');
    expect(await isBackingOff(client, one)).toBe(true);
    await advance(8 * minute);
    expect(await isBackingOff(client, one)).toBe(false);
    // Unrelated commits arrive all the time.
    await check();
    await fail('c2');
    await advance(16 * minute);
    await check();
    expect(await isBackingOff(client, one)).toBe(true);
    await schedule([one.path], 'second');
    await check();
    expect(await isBackingOff(client, one)).toBe(false);
    await fail('c3');
    await advance(8 * minute);
    expect(await isBackingOff(client, one)).toBe(false);
  });

  it('finish in a freeze only if they began before it, and were interrupted just before or in it', async () => {
    const { client, begin, check, advance } = await openApplies();
    const now = async () => (await databaseTime(client)).getTime();
    const isRest = async (since: number) => wasCutShort(client, one, { attempt: await check(), since });
    const run = async (outcome: 'failed' | 'interrupted' | 'partial' | undefined) => {
      const id = await begin();
      await noteBegun(client, id);
      await advance(minute);
      if (outcome !== undefined) await endApply(client, id, { outcome, people: [] });
    };
    await run('interrupted');
    const freeze = await now();
    expect(await isRest(freeze)).toBe(true);
    expect(await isRest(freeze - 2 * minute)).toBe(false);
    expect(await isRest(freeze + 50 * minute)).toBe(true);
    expect(await isRest(freeze + 70 * minute)).toBe(false);
    // The second apply is interrupted, too, and then ends with a change that the service refuses.
    await advance(5 * minute);
    await run(undefined);
    expect(await isRest(freeze)).toBe(true);
    await run('interrupted');
    expect(await isRest(freeze)).toBe(true);
    await run('partial');
    expect(await isRest(freeze)).toBe(false);
    expect(await isRest((await now()) + minute)).toBe(false);
    await run('interrupted');
    expect(await isRest(freeze)).toBe(false);
  });

  it('begin only while no check has the stack, and block checks until they end', async () => {
    const { client, check } = await openApplies();
    const due = () => takeDue(client, 10, { repositories: ['infra'] });
    expect(await takeTurn(client, one)).toBeUndefined();
    expect(await due()).toHaveLength(1);
    // The check that has the stack sends the apply again.
    expect(await takeTurn(client, one)).toBeUndefined();
    const attempt = await check();
    const turn = await takeTurn(client, one);
    expect(turn).toMatchObject({ commit: 'c1', summary: { drifted: 1, pending: 0 } });
    expect(Number(turn?.attempt)).toBe(Number(attempt) + 1);
    await makeStackDue(client, one);
    expect(await due()).toEqual([]);
    if (turn !== undefined) await endTurn(client, one, turn);
    expect(await due()).toHaveLength(1);
  });

  it('count as queued until their turn, or until a check ends', async () => {
    const { client, check } = await openApplies();
    const isQueued = async () => (await readStatus(client)).stacks.map((stack) => stack.isApplyQueued);
    await check();
    await noteQueued(client, one);
    expect(await isQueued()).toEqual([true]);
    const turn = await takeTurn(client, one);
    expect(await isQueued()).toEqual([false]);
    if (turn !== undefined) await endTurn(client, one, turn);
    await noteQueued(client, one);
    await check();
    expect(await isQueued()).toEqual([false]);
  });

  it('are taken over from a worker that lost the job, which then cannot release the stack', async () => {
    const { client, check } = await openApplies();
    await check();
    const lost = await takeTurn(client, one);
    const next = await takeTurn(client, one);
    expect(lost).toMatchObject({ isTakenOver: false });
    expect(next).toMatchObject({ isTakenOver: true, attempt: `${Number(lost?.attempt) + 1}` });
    if (lost !== undefined) await endTurn(client, one, lost);
    await makeStackDue(client, one);
    expect(await takeDue(client, 10, { repositories: ['infra'] })).toEqual([]);
  });

  it('do not begin with the result of an earlier check when the last check failed', async () => {
    const { client, check } = await openApplies();
    await check();
    const attempt = (await noteStart(client, one))?.attempt ?? '';
    await noteEnd(client, one, attempt, { error: 'the service does not answer' });
    expect(await takeTurn(client, one)).toBeUndefined();
  });
});
