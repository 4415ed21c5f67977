// What "trueup fleet status" shows about waiting applies, as a real process with a real PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetStatusSchema } from '../../../src/commands/fleet/schema.ts';
import { compileSchema } from '../../../src/manifest/schema/compile-schema.ts';
import { jsonSchema } from '../../../src/model/define-kind.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let started: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) started = startPostgres(bin);
});
afterAll(() => started?.stop());

function server(): PostgresServer {
  if (started === undefined) throw new Error('PostgreSQL is not installed');
  return started;
}

const waits = [
  { because: 'freeze', phrase: 'waits for the end of a freeze' },
  { because: 'approval', phrase: 'waits for an approval' },
  { because: 'guard', phrase: 'waits because of a guard' },
  { because: 'lock', phrase: 'waits for the lock of the stack' },
  { because: 'retry', phrase: 'waits for its next try' },
];

/** A fleet with these stacks, each checked ten minutes ago, whose applies have waited for three hours. */
async function openWaiting(some: readonly { readonly because: string; readonly reason?: string }[]) {
  const scene = await openFleet(server(), { stacks: [] });
  const paths = [...some.map(({ because }) => `${because}/trueup.yaml`), 'calm/trueup.yaml'];
  for (const path of paths)
    scene.sql(
      `insert into trueup_fleet.stacks (repository, path, seconds_between_checks, phase, tree, next_due, first_seen, last_complete, last_summary)
       values ('infra', '${path}', 900, 0, 'one', now() + interval '5 min', now() - interval '1 day', now() - interval '10 min', '{"stack":"one","drifted":0,"pending":1}')`,
    );
  for (const { because, reason = `because of ${because}` } of some) {
    const until = because === 'freeze' ? `timestamptz '2031-01-01T06:00:00Z'` : 'null';
    const nextTry = because === 'retry' ? `timestamptz '2031-01-02T06:00:00Z'` : 'null';
    scene.sql(
      `insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit, until, next_try)
       values ('infra', '${because}/trueup.yaml', now() - interval '3 hours', '${because}', E'${reason}', 'c1', ${until}, ${nextTry})`,
    );
  }
  return scene;
}

describe.skipIf(bin === undefined)('fleet status', () => {
  it('shows what the apply of each stack waits for, since when and why, and how many wait', async () => {
    const { fleet, sql } = await openWaiting(waits);
    const { out } = await fleet('status');
    expect(out).toMatch(/^6 stacks: 0 stale, 3 in need of attention, 2 working, 1 in sync; 5 applies wait$/m);
    for (const { because, phrase } of waits)
      expect(out).toContain(
        `infra/${because}/trueup.yaml${' '.repeat('approval'.length - because.length)}  no drift, 1 pending, checked 10 min ago; apply ${phrase} (for 3 h): because of ${because}\n`,
      );
    expect(out).toMatch(/infra\/calm\/trueup\.yaml +no drift, 1 pending, checked 10 min ago\n/);
    // A removed stack is not applied.
    sql(
      `update trueup_fleet.stacks set removed = now() where path not like 'guard/%' and path not like 'calm/%'`,
    );
    expect((await fleet('status')).out).toMatch(
      /^2 stacks: .* 1 in need of attention, 0 working, 1 in sync; 1 apply waits$/m,
    );
    sql(`delete from trueup_fleet.waiting_applies`);
    expect((await fleet('status')).out).toMatch(/^2 stacks: .* 2 in sync$/m);
  });

  it('shows that an apply waits for a free worker, and does not show its stack as in sync', async () => {
    const { fleet, sql } = await openWaiting([]);
    sql('update trueup_fleet.stacks set apply_queued = now()');
    const { out } = await fleet('status');
    expect(out).toMatch(/^1 stack: 0 stale, 0 in need of attention, 1 working, 0 in sync$/m);
    expect(out).toContain('no drift, 1 pending, checked 10 min ago; apply waits for a free worker\n');
    const status = JSON.parse((await fleet('status', '--format', 'json')).out);
    expect(compileSchema(fleetStatusSchema, () => jsonSchema(fleetStatusSchema))(status)).toEqual([]);
    expect(status.stacks).toMatchObject([{ is: 'working', applyQueued: true }]);
  });

  it('prints the same as JSON by its schema, with the end of a freeze and the time of the next try', async () => {
    const { fleet } = await openWaiting(waits);
    const status = JSON.parse((await fleet('status', '--format', 'json')).out);
    expect(compileSchema(fleetStatusSchema, () => jsonSchema(fleetStatusSchema))(status)).toEqual([]);
    expect(status.summary).toMatchObject({ attention: 3, working: 2, inSync: 1, waitingApplies: 5 });
    const applies = Object.fromEntries(
      (status.stacks as { path: string; apply?: object }[]).map(({ path, apply }) => [
        path.split('/')[0],
        apply,
      ]),
    );
    const since = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(applies).toEqual({
      calm: undefined,
      approval: { waitsFor: 'approval', since, reason: 'because of approval' },
      freeze: { waitsFor: 'freeze', since, reason: 'because of freeze', until: '2031-01-01T06:00:00.000Z' },
      guard: { waitsFor: 'guard', since, reason: 'because of guard' },
      lock: { waitsFor: 'lock', since, reason: 'because of lock' },
      retry: { waitsFor: 'retry', since, reason: 'because of retry', until: '2031-01-02T06:00:00.000Z' },
    });
  });

  it('shows which repositories cannot be read, why, and when they were last read', async () => {
    const { fleet, sql } = await openWaiting([]);
    sql(`insert into trueup_fleet.repositories (fleet, name, named, problem)
      values ('acme', 'infra', now(), E'it has no\\nbranch'), ('acme', 'new', now(), 'no answer'), ('acme', 'well', now(), null);
      insert into trueup_fleet.repository_reads (repository, began) values ('infra', now() - interval '3 hours'), ('well', now())`);
    const { out } = await fleet('status');
    expect(out.split('\n').slice(1, 3)).toEqual([
      String.raw`  repository infra cannot be read (last read 3 h ago): it has no\nbranch`,
      '  repository new cannot be read (never read): no answer',
    ]);
    const status = JSON.parse((await fleet('status', '--format', 'json')).out);
    expect(compileSchema(fleetStatusSchema, () => jsonSchema(fleetStatusSchema))(status)).toEqual([]);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(status.unreadRepositories).toEqual([
      { repository: 'infra', reason: 'it has no\nbranch', lastTry: time, lastRead: time },
      { repository: 'new', reason: 'no answer', lastTry: time },
    ]);
    sql('update trueup_fleet.repositories set problem = null');
    expect((await fleet('status')).out).not.toContain('cannot be read');
    expect(JSON.parse((await fleet('status', '--format', 'json')).out)).not.toHaveProperty(
      'unreadRepositories',
    );
  });

  it('prints a reason on one line, without characters that could move the cursor', async () => {
    const { fleet } = await openWaiting([{ because: 'retry', reason: 'one\\ntwo \\u001b[2Jthree\\u202e' }]);
    const { out } = await fleet('status');
    expect(out).toContain(String.raw`(for 3 h): one\ntwo \u001b[2Jthree\u202e`);
    for (const raw of ['\u001b', '\u202e']) expect(out).not.toContain(raw);
  });
});
