// Workers of a fleet as real processes, with a real PostgreSQL, a real git remote and the embedded service.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRequest } from '../../support/cli/held-request.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import {
  findPostgres,
  type PostgresServer,
  postgresIsRequired,
  startPostgres,
} from '../../support/ledger/postgres-server.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

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

it.runIf(postgresIsRequired)('PostgreSQL is installed if the environment requires it', () => {
  expect(bin).toBeDefined();
});

describe.skipIf(bin === undefined)('A fleet', { timeout: 200_000 }, () => {
  it('finds the drift of each stack, and ends with exit code 3', async () => {
    const { bench, fleet, checks, makeDue, push, stack } = await openFleet(server(), { isEmpty: true });
    expect(await fleet('migrate')).toMatchObject({ code: 0 });
    const first = await fleet('run');
    expect(first.err).toBe('');
    expect(checks(first)).toEqual({ one: 'no drift', two: 'no drift', three: 'no drift' });
    expect(first).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 checks: 0 with drift, 0 failed'),
    });
    const attributes = { description: 'by hand' };
    await bench.byHand.patch(`/workspaces/${await bench.idOf('two-app')}`, {
      data: { type: 'workspaces', attributes },
    });
    // Nothing is due before the end of the interval.
    expect(checks(await fleet('run'))).toEqual({});
    makeDue();
    const second = await fleet('run', '--shard', '1/2');
    expect(checks(second)).toEqual({ one: 'no drift', two: '1 resource drifted', three: 'no drift' });
    expect(second.code).toBe(3);
    expect((await fleet('status')).out).toMatch(
      /^3 stacks: 0 stale, 1 in need of attention, 0 working, 2 in sync\n/,
    );
    // A commit that changes the files of one stack: only that one is checked.
    push({ 'three/other.txt': 'new', ...stack('four') });
    expect(Object.keys(checks(await fleet('run'))).sort()).toEqual(['four', 'three']);
    expect(bench.written()).toEqual(bench.written().filter((request) => !request.startsWith('DELETE')));
  });

  it('ends with 1 and names the stacks that stay stale, such as those of a paused target', async () => {
    const { bench, fleet, sql } = await openFleet(server(), { stacks: ['one', 'two'] });
    expect(await fleet('run')).toMatchObject({ code: 0, out: expect.not.stringContaining('stale') });
    const address = new URL(bench.wire.url).origin;
    sql(`insert into trueup_fleet.moved_time values (interval '2 hours');
      insert into trueup_fleet.target_pauses (address, since, class, reason, stacks, next_probe)
      values ('${address}', now(), 'x', E'it answered\\n503', 5, now() + interval '1 day'),
        ('https://other.example.com', now(), 'x', 'of another fleet', 5, now() + interval '1 day')`);
    const lines = (await fleet('run', '--all')).out.split('\n');
    expect(lines.slice(-4)).toEqual([
      '0 checks: 0 with drift, 0 failed',
      '2 stacks are stale, without a complete check for two intervals: infra/one/trueup.yaml, infra/two/trueup.yaml',
      String.raw`target ${address} is paused, and its stacks are not checked: it answered\n503`,
      '',
    ]);
    expect(await fleet('run')).toMatchObject({ code: 1 });
    // Another worker checks one of them.
    sql(`update trueup_fleet.stacks set queued_until = now() + interval '1 day' where path like 'one/%'`);
    expect((await fleet('run')).out).toContain('1 stack is stale, without');
    sql(`update trueup_fleet.target_pauses set until = now();
      update trueup_fleet.stacks set queued_until = null`);
    expect(await fleet('run')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/2 checks: 0 with drift, 0 failed\n$/),
    });
  });

  it('gives a stack only the files and variables of the worker that fleet.yaml allows', async () => {
    const secret = join(temporaryFolder(), 'secret.txt');
    writeFileSync(secret, 'the-secret-of-the-worker');
    const allowed = join(temporaryFolder(), 'token.txt');
    const { bench, env, fleet, checks, push, stack } = await openFleet(server(), {
      stacks: [],
      repository: { files: [allowed] },
    });
    writeFileSync(allowed, env['API_TOKEN'] ?? '');
    push({
      ...stack('file', { target: { token: { file: secret } } }),
      ...stack('granted', { target: { token: { file: allowed } } }),
      ...stack('variable', { target: { token: { env: 'SERVICE_TOKEN' } } }),
      ...stack('database', { target: { token: { env: 'TRUEUP_FLEET_URL' } } }),
      ...stack('certificate', { target: { caCert: { file: secret } } }),
      ...stack('local', { spec: { ledger: 'local' } }),
    });
    const run = await fleet('run');
    expect(checks(run)).toEqual({
      file: expect.stringContaining(
        `the secret file "${secret}" cannot be read: fleet.yaml does not allow this file`,
      ),
      granted: 'no drift',
      variable: expect.stringContaining('the environment variable "SERVICE_TOKEN" is not set'),
      database: expect.stringContaining('the environment variable "TRUEUP_FLEET_URL" is not set'),
      certificate: expect.stringContaining('fleet.yaml does not allow this file'),
      local: expect.stringContaining('keeps its ledger in a local file, which no other machine has'),
    });
    expect(run.code).toBe(1);
    const said = run.out + run.err + (await fleet('status')).out + JSON.stringify(bench.wire.seen);
    expect(said).not.toContain('the-secret-of-the-worker');
    expect(said).not.toContain(env['TRUEUP_FLEET_URL']);
  });

  it('says why a check is not recorded when the database refuses a statement', async () => {
    const { fleet, sql } = await openFleet(server(), { stacks: ['one'] });
    sql('alter table trueup_fleet.checks add constraint none check (false)');
    const { err } = await fleet('run');
    expect(err).toContain(
      'warning: a check failed: the database of the fleet cannot be used: new row for relation "checks"',
    );
  });

  it('sends no token to an address that fleet.yaml does not allow', async () => {
    const { bench, fleet, checks } = await openFleet(server(), {
      stacks: ['one'],
      repository: { targets: ['https://app.example.com'] },
    });
    bench.wire.reset();
    const said = 'which fleet.yaml does not allow to the stacks of this repository';
    expect(checks(await fleet('run'))).toEqual({ one: expect.stringContaining(said) });
    expect(bench.wire.seen).toEqual([]);
  });

  it('says what to do if its tables are missing, or fleet.yaml is not valid', async () => {
    const { env, fleet } = await openFleet(server(), {
      stacks: [],
      repository: { variables: ['TRUEUP_FLEET_URL'] },
      isEmpty: true,
    });
    const wrong = await fleet('run');
    expect(wrong).toMatchObject({
      code: 7,
      err: expect.stringContaining('that does not begin with TRUEUP_'),
    });
    const { fleet: withPassword } = await openFleet(server(), {
      stacks: [],
      repository: { url: 'https://ann:planted-password@git.example.com/acme/infra.git' },
    });
    const password = await withPassword('run');
    expect(password).toMatchObject({ code: 7, err: expect.stringContaining('the address holds a password') });
    expect(password.err).not.toContain('planted-password');
    const { fleet: elsewhere } = await openFleet(server(), {
      stacks: [],
      env: { TRUEUP_FLEET_URL: 'http://ann:planted-password@db.example.com' },
    });
    const other = await elsewhere('status');
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not an address of PostgreSQL'),
    });
    expect(other.err).not.toContain('planted-password');
    const missing = await fleet('status');
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(/^error: the tables of the fleet are missing: run "trueup fleet migrate"/);
    expect(missing.err).not.toContain(env['TRUEUP_FLEET_URL']);
  });

  it('keeps the limit of requests per second for all workers together', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const { bench, fleet, sql, checks, makeDue } = await openFleet(server(), { stacks: names });
    await fleet('run');
    const four = { rate: 4, initial: 4, highest: 4, isAnnounced: true, since: Date.now(), durations: [] };
    sql(
      `update trueup_fleet.request_rates set per_second = 4, state = '${JSON.stringify(four)}', next_free = trueup_fleet.now()`,
    );
    const begin = sql('select next_free from trueup_fleet.request_rates');
    makeDue();
    bench.wire.reset();
    const runs = await Promise.all([fleet('run', '--shard', '1/2'), fleet('run', '--shard', '2/2')]);
    const all = runs.flatMap((run) => Object.entries(checks(run)));
    expect(all.map(([name]) => name).sort()).toEqual([...names].sort());
    expect(new Set(all.map(([, said]) => said))).toEqual(new Set(['no drift']));
    // There is one limit for the one user, and a start time for each request.
    expect(sql('select count(*) from trueup_fleet.request_rates')).toBe('1');
    const given = sql(
      `select round(4 * extract(epoch from next_free - '${begin}')) from trueup_fleet.request_rates`,
    );
    expect(Number(given)).toBeGreaterThanOrEqual(bench.wire.seen.length);
  });

  it('follows the limit that a service announces, and its refusals, for all tokens of a user', async () => {
    const { bench, fleet, sql, checks, makeDue, push, stack, apply } = await openFleet(server(), {
      stacks: ['one'],
      people: { bob: 'planted-token-of-bob-5c0e' },
      repository: { variables: ['API_TOKEN', 'OTHER_TOKEN'] },
    });
    push(stack('two', { target: { token: { env: 'OTHER_TOKEN' } } }));
    await apply('two');
    const sameUser = { path: /account\/details/, fault: { rewrite: () => ({ data: { id: 'user-same' } }) } };
    bench.wire.add({ ...sameUser, times: 2 });
    expect(checks(await fleet('run'))).toEqual({ one: 'no drift', two: 'no drift' });
    const rates = () => sql('select per_second from trueup_fleet.request_rates');
    expect(rates()).toBe('30');
    makeDue();
    bench.wire.reset();
    const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '19', 'x-ratelimit-reset': '1' };
    const refusal = { answer: 429, headers: { ...headers, 'retry-after': '1' } };
    bench.wire.add({ path: /\/workspaces/, fault: refusal });
    expect(checks(await fleet('run'))).toEqual({ one: 'no drift', two: 'no drift' });
    // Announced, and halved by the refusal within the same answer.
    expect(Number(rates())).toBeLessThanOrEqual(20);
    // The users of the tokens are not read again for a day.
    expect(bench.wire.seen.filter(({ path }) => path.includes('account/details'))).toEqual([]);
  });

  it('fails a check at once if the service asks for a long wait, and checks other stacks', async () => {
    const { bench, fleet, checks } = await openFleet(server(), { stacks: ['one', 'two'] });
    const refusal = { answer: 429, headers: { 'retry-after': '2900' } };
    bench.wire.add({ path: /\/workspaces/, fault: refusal, times: 1 });
    const run = checks(await fleet('run', '--concurrency', '1'));
    expect(Object.values(run).toSorted()).toEqual(['no drift', expect.stringContaining('the check failed')]);
  });

  it('gives the check of a killed worker to another worker', { timeout: 300_000 }, async () => {
    const { bench, fleet, work } = await openFleet(server(), { stacks: ['one'] });
    const held = holdRequest({ method: 'GET', path: /workspaces/ });
    bench.wire.add(held.rule);
    const first = work();
    await held.reached;
    first.kill('SIGKILL');
    await first.ended;
    held.release();
    const second = work();
    await second.waitForText(/infra\/one\/trueup\.yaml: no drift/);
    second.kill('SIGTERM');
    const { code, out } = await second.ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/^1 check: 0 with drift, 0 failed$/m)]);
    expect((await fleet('status')).out).toMatch(/1 in sync/);
  });
});
