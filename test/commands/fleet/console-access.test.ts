// Who may read the console of a fleet, over HTTP: teams, proxies, names of hosts, health.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConsoleSettings } from '../../../src/commands/fleet/console/settings.ts';
import { openConsole } from '../../support/fleet/console.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { seedFleet } from '../../support/fleet/seed-console.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { scheduleStacks } from '../../../src/commands/fleet/schedule.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const trustedHeader = { user: 'X-User', groups: 'X-Groups', proxies: ['127.0.0.0/8', '::1'] };
const settings: ConsoleSettings = {
  trustedHeader,
  teams: {
    all: { groups: ['platform-admins'], stacks: ['**'] },
    data: { groups: ['data-readers', 'data-owners'], stacks: ['data/**'] },
    one: { groups: ['team-one'], stacks: ['payments/teams/team-1/*/trueup.yaml'] },
    none: { groups: ['nobody'], stacks: ['payments/teams/team-1'] },
  },
};

async function openSeeded(setup: Parameters<typeof openConsole>[1] = { settings }) {
  const database = await openFleetDatabase(server);
  await seedFleet(database.client, 200);
  await database.client.query(
    `insert into trueup_fleet.repositories (fleet, name, named, problem) values ('acme', 'payments', trueup_fleet.now(), 'payments-is-secret')
     on conflict (fleet, name) do update set problem = excluded.problem`,
  );
  await database.client.query(
    `update trueup_fleet.stacks set last_error = 'secret of ' || repository where last_error is not null`,
  );
  for (const table of ['waiting_applies', 'applies'])
    await database.client.query(
      `update trueup_fleet.${table} set reason = 'secret of ' || repository, commit = repository || '-commit'`,
    );
  await database.client.query(
    `update trueup_fleet.applies set people = array['owner of ' || repository] where outcome is not null`,
  );
  await database.client.query(
    `update trueup_fleet.workers set problem = 'two repositories have the name "payments"'`,
  );
  await database.client.query(
    `insert into trueup_fleet.target_pauses (address, since, class, reason, stacks, next_probe)
     values ('https://app.example.com', trueup_fleet.now(), 'x', 'target of payments fails', 5, trueup_fleet.now()),
       ('https://payments.example.com', trueup_fleet.now(), 'x', 'it fails', 5, trueup_fleet.now())`,
  );
  const { get, ...console } = await openConsole(database.address, setup);
  await database.client.query(
    `insert into trueup_fleet_jobs.job values ('checks', 'created', now(), '{"repository":"payments","path":"x"}')`,
  );
  const as = (groups: string, path: string) => get(path, { 'X-User': 'ann', 'X-Groups': groups });
  return { ...database, ...console, get, as };
}

/** All pages, exports and metrics; of a stack, one that the viewer may see. */
const places = [
  ...[
    '/',
    '/?text=payments',
    '/?repository=payments',
    '/?page=3',
    '/activity',
    '/activity?text=payments',
    '/activity.csv',
  ],
  ...[
    '/?apply=waits',
    '/?apply=guard',
    '/activity?event=apply',
    '/activity?event=apply-failed&person=payments',
  ],
  ...['/access', '/access?text=payments-read', '/access?may=login'],
  ...['/activity.csv?event=apply', '/activity.json?event=apply&person=owner'],
  ...['/activity.json', '/activity.json?text=payments', '/capacity', '/health', '/metrics', '/nothing'],
  '/stack?repository=data&path=teams%2Fteam-0%2Fstack-0000%2Ftrueup.yaml',
];

/** Applies that wait, that run and that ended, by metrics. */
async function appliesIn(metrics: Promise<{ readonly text: string }>) {
  const { text } = await metrics;
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^trueup_fleet_applies_${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return { waiting: sum('waiting'), running: sum('running'), ended: sum('last_day') };
}

describe.skipIf(bin === undefined)('The console of a fleet', () => {
  it('shows a team no stack of other teams, on no page, in no export and in no metric', async () => {
    const { as } = await openSeeded();
    for (const place of places) {
      const { text } = await as('other, data-readers', place);
      // The request itself is shown in the fields of the filters.
      const shown = text.replaceAll(
        /value="payments(-read)?"( selected)?|payments-api|<code>payments<\/code>|vault\/payments|text=payments-read|>payments<\/option>|(text|repository|person)=payments/g,
        '',
      );
      expect(shown, place).not.toMatch(/payments|platform|mobile-apps|network\//);
    }
    const fleet = await as('data-readers', '/');
    expect(fleet.text).toContain('of 40 stacks');
    expect((await as('data-owners', '/metrics')).text).toMatch(
      /^trueup_fleet_stacks\{standing="in-sync"\} 19$/m,
    );
    expect((await as('data-readers', '/metrics')).text).not.toContain('trueup_fleet_workers');
    // Reasons of its own stacks are shown.
    for (const place of ['/?apply=waits', '/activity.json?event=apply', '/health'])
      expect((await as('data-readers', place)).text, place).toContain('secret of data');
    expect(await appliesIn(as('data-readers', '/metrics'))).toEqual({ waiting: 2, running: 0, ended: 15 });
    expect((await as('data-readers', '/health')).text).toContain('0 waiting, 0 running');
    const other = '/stack?repository=payments&path=teams%2Fteam-1%2Fstack-0001%2Ftrueup.yaml';
    const none = '/stack?repository=payments&path=none';
    const [hidden, missing] = [await as('data-readers', other), await as('data-readers', none)];
    expect(hidden.status).toBe(404);
    // The answer does not show that the stack exists.
    expect(hidden.text).toBe(missing.text);
    expect((await as('team-one', other)).status).toBe(200);
  });

  it('shows everything to a team with all stacks, and nothing to a user in no team', async () => {
    const { as } = await openSeeded();
    expect((await as('platform-admins', '/')).text).toContain('of 200 stacks');
    expect((await as('platform-admins', '/health')).text).toContain('payments-is-secret');
    const unread = 'Repositories that cannot be read: ';
    expect((await as('platform-admins', '/')).text).toContain(`${unread}data, payments. `);
    expect((await as('data-readers', '/')).text).toContain(`${unread}data. `);
    expect((await as('nobody', '/')).text).not.toContain(unread);
    expect((await as('platform-admins', '/health')).text).toContain('two repositories have the name');
    for (const groups of ['', 'strangers', 'Platform-Admins', 'platform-admins x', 'nobody']) {
      for (const place of places) {
        const { text } = await as(groups, place);
        expect(text, `${groups} ${place}`).not.toMatch(/stack-0|fleet-worker|app\.example\.com|secret of/);
      }
      expect((await as(groups, '/')).text, groups).toContain('There are no stacks that you may see.');
      expect((await as(groups, '/metrics')).text).toMatch(/^trueup_fleet_stacks\{standing="in-sync"\} 0$/m);
      expect(await appliesIn(as(groups, '/metrics'))).toEqual({ waiting: 0, running: 0, ended: 0 });
      expect(JSON.parse((await as(groups, '/activity.json')).text).events).toEqual([]);
    }
  });

  it('takes characters of regular expressions in patterns, and parts of names, literally', async () => {
    const database = await openFleetDatabase(server);
    const { client, address } = database;
    const paths = [
      'a.b/trueup.yaml',
      'axb/trueup.yaml',
      'a.b/c/trueup.yaml',
      'ü(1)/trueup.yaml',
      'a.b.evil/trueup.yaml',
    ];
    await scheduleStacks(
      client,
      'data',
      paths.map((path) => ({ repository: 'data', path, tree: '1', seconds: 900 })),
    );
    await scheduleStacks(client, 'data-too', [
      { repository: 'data-too', path: 'a.b/trueup.yaml', tree: '1', seconds: 900 },
    ]);
    const seen = async (...stacks: string[]) => {
      const teams = { team: { groups: ['g'], stacks } };
      const { get } = await openConsole(address, { settings: { ...settings, teams } });
      const { text } = await get('/', { 'X-User': 'ann', 'X-Groups': 'g' });
      return [...text.matchAll(/<span class="stack-name"><a href="[^"]*">([^<]*)</g)].map(
        ([, name = '']) => name,
      );
    };
    expect(await seen('data/a.b/*')).toEqual(['data/a.b']);
    expect(await seen('data/a.b/**')).toEqual(['data/a.b/c', 'data/a.b']);
    expect(await seen('*/a.b/**/trueup.yaml')).toEqual(['data/a.b/c', 'data/a.b', 'data-too/a.b']);
    expect(await seen('data/a?b/*')).toEqual(['data/a.b', 'data/axb']);
    expect(await seen('data/ü(1)/*', 'data/[a]*/*')).toEqual(['data/ü(1)']);
    expect(await seen('data')).toEqual([]);
    expect(await seen('.*', '^', '')).toEqual([]);
  });

  it('trusts only headers of listed proxies, and each header only once', async () => {
    const strangers = { ...settings, trustedHeader: { ...trustedHeader, proxies: ['10.0.0.0/8'] } };
    const { as, get } = await openSeeded({ settings: strangers });
    for (const place of places) {
      const { status, text } = await as('platform-admins', place);
      expect(status, place).toBe(403);
      expect(text).not.toMatch(/stack-0|acme/);
    }
    expect(
      (await get('/', { 'X-User': 'ann', 'X-Groups': 'platform-admins', 'X-Forwarded-For': '10.0.0.1' }))
        .status,
    ).toBe(403);
    const { get: ask } = await openSeeded();
    expect((await ask('/')).status).toBe(403);
    expect((await ask('/', { 'X-User': ' ', 'X-Groups': 'platform-admins' })).status).toBe(403);
    // The caller sent a header, and the proxy added another one.
    expect((await ask('/', { 'X-User': ['ann', 'bob'], 'X-Groups': 'platform-admins' })).status).toBe(403);
    expect(
      (await ask('/', { 'X-User': 'ann', 'X-Groups': ['platform-admins', 'data-readers'] })).status,
    ).toBe(403);
    expect((await ask('/', { 'X-User': 'ann', 'X-Groups': 'platform-admins' })).status).toBe(200);
  });

  it('refuses host names that a foreign page could use to reach this machine', async () => {
    const { get } = await openSeeded({});
    const port = '8090';
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ])
      for (const path of ['/', '/metrics', '/activity.csv', '/healthz'])
        expect((await get(path, { Host: host })).status, `${host}${path}`).not.toBe(200);
    for (const host of ['localhost', `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect((await get('/', { Host: host })).status, host).toBe(200);
    const { as, get: ask } = await openSeeded({ settings: { ...settings, hosts: ['fleet.example.com'] } });
    const headers = { 'X-User': 'ann', 'X-Groups': 'platform-admins' };
    expect((await ask('/', { ...headers, Host: 'Fleet.example.com' })).status).toBe(200);
    expect((await ask('/', { ...headers, Host: 'evil.example' })).status).toBe(403);
    expect((await as('platform-admins', '/')).status).toBe(200);
  });

  it('gives the metrics of the whole fleet only to callers with the token', async () => {
    const { get } = await openSeeded({ settings, metricsToken: 'planted-token' });
    const all = await get('/metrics', { Authorization: 'Bearer planted-token' });
    expect(all.text).toMatch(/^trueup_fleet_stacks\{standing="in-sync"\} 95$/m);
    for (const headers of [{}, { Authorization: 'Bearer planted-toke' }, { Authorization: 'planted-token' }])
      expect((await get('/metrics', headers)).status).toBe(401);
    expect((await get('/metrics', { 'X-User': 'ann', 'X-Groups': 'platform-admins' })).status).toBe(401);
    expect((await get('/', { Authorization: 'Bearer planted-token' })).status).toBe(403);
  });

  it('is healthy while the database answers and the worker reads the schedule', async () => {
    const healthProblem: { why?: string } = {};
    const database = await openFleetDatabase(server);
    const { get } = await openConsole(database.address, { settings, healthProblem: () => healthProblem.why });
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
    healthProblem.why = 'the worker has not read the schedule for a minute';
    expect(await get('/healthz')).toMatchObject({ status: 503, text: `${healthProblem.why}\n` });
  });

  it('reports that the database is gone, without its address or password', async () => {
    const own = bin === undefined ? undefined : startPostgres(bin);
    const address = own?.newDatabase() ?? '';
    const { get, failures } = await openConsole(address);
    expect((await get('/healthz')).status).toBe(200);
    own?.stop();
    expect(await get('/healthz')).toMatchObject({ status: 503, text: 'the database does not answer\n' });
    const page = await get('/');
    expect(page.status).toBe(503);
    expect(page.text).toContain('The console could not read the database.');
    expect(page.text).not.toMatch(/postgres|ECONN|socket/i);
    expect(failures).toHaveLength(1);
    expect((await get('/metrics')).status).toBe(503);
  });
});
