// The pages of the console over HTTP, with a real PostgreSQL whose time stands still.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printStatus } from '../../../src/commands/fleet/render.ts';
import { readStatus, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { noteQuotas } from '../../../src/commands/fleet/rates/quotas.ts';
import { noteWorker } from '../../../src/commands/fleet/workers.ts';
import { openConsole } from '../../support/fleet/console.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { changedName, drifted, reportOf } from '../../support/fleet/reports.ts';
import { seedFleet } from '../../support/fleet/seed-console.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { parse } from 'csv-parse/sync';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

async function openSeeded(stacks = 200) {
  const database = await openFleetDatabase(server);
  await seedFleet(database.client, stacks);
  return { ...database, ...(await openConsole(database.address)) };
}

/** Texts of the links to stacks, in order. */
function stacksIn(page: string): string[] {
  return [...page.matchAll(/<span class="stack-name"><a href="[^"]*">([^<]*)<\/a>/g)].map(
    ([, name = '']) => name,
  );
}

function tilesIn(page: string): string[] {
  return [...page.matchAll(/<strong>([\d,]+)<\/strong> ([a-z ]+)<\/a>/g)].map(
    ([, count, name]) => `${count} ${name}`,
  );
}

describe.skipIf(bin === undefined)('The console of a fleet', () => {
  it('counts the stacks by standing, stale ones first, as "fleet status" does', async () => {
    const { get, client } = await openSeeded();
    const page = await get('/');
    expect(page.status).toBe(200);
    expect(tilesIn(page.text)).toEqual([
      '20 stale',
      '63 needs attention',
      '22 working',
      '95 in sync',
      '10 applies wait',
    ]);
    let printed = '';
    const stdout = {
      write: (text: string) => {
        printed += text;
      },
    };
    const terminal = { format: 'text', host: { stdout } };
    printStatus(
      {
        ...(await readStatus(client)),
        ...{ problems: [], drifts: [], waits: [], pauses: [], unread: [], undelivered: [], quotas: [] },
      },
      terminal as never,
    );
    expect(printed).toContain('200 stacks: 20 stale, 63 in need of attention, 22 working, 95 in sync');
  });

  it('shows the stacks in pages, and finds them by standing, repository and text', async () => {
    const { get } = await openSeeded();
    const pages = await Promise.all(['/', '/?page=2', '/?page=3', '/?page=4'].map((path) => get(path)));
    const all = pages.flatMap(({ text }) => stacksIn(text));
    expect(all).toHaveLength(200);
    expect(new Set(all).size).toBe(200);
    expect(pages[0]?.text).toContain('1–50 of 200 stacks');
    expect(pages[0]?.text).not.toContain('rel="prev"');
    expect(pages[3]?.text).not.toContain('rel="next"');
    // A page after the last one, and a page that is not a number.
    expect(stacksIn((await get('/?page=99')).text)).toEqual(stacksIn(pages[3]?.text ?? ''));
    expect(stacksIn((await get('/?page=-1;')).text)).toEqual(stacksIn(pages[0]?.text ?? ''));
    const stale = await get('/?is=stale');
    expect(stale.text).toContain('1–20 of 20 stacks');
    const found = await get('/?is=in-sync&repository=data&text=STACK-00');
    expect(stacksIn(found.text).length).toBeGreaterThan(3);
    expect(stacksIn(found.text).every((name) => /^data\/.*stack-00/.test(name))).toBe(true);
    // Wildcards are plain text.
    expect(stacksIn((await get('/?text=%25')).text)).toEqual([]);
    expect((await get('/?text=nothing-has-this')).text).toContain('No stack matches these filters.');
    // The next page keeps the filters.
    expect((await get('/?text=stack&page=2')).text).toContain('href="/?text=stack&amp;page=3"');
  });

  it('shows what drifted in a stack, who changed it, and commands that revert or accept it', async () => {
    const { get, client } = await openSeeded(50);
    const { rows } = await client.query(
      `select repository, path from trueup_fleet.stacks where (last_summary->>'drifted')::integer > 0 order by 1, 2 limit 1`,
    );
    const { status, text } = await get(`/stack?${new URLSearchParams(rows[0])}`);
    expect(status).toBe(200);
    const folder = rows[0].path.replace('/trueup.yaml', '');
    for (const part of [
      'Workspace/main/api',
      '<del><code>as applied</code></del>',
      '<ins><code>changed by hand</code></ins>',
      'by user-1 (ann), workspace update',
      `<code>trueup plan ${folder}</code>`,
      `<code>trueup apply ${folder}</code>`,
      `<code>trueup accept ${folder}</code>`,
      `https://git.example.com/acme/${rows[0].repository}.git`,
      '1–3 of 3 checks',
    ])
      expect(text).toContain(part);
    expect((await get('/stack?repository=data&path=none')).status).toBe(404);
    expect((await get('/stack')).status).toBe(404);
  });

  it('shows at most 100 drifted resources and 100 names of a stack, and counts the others', async () => {
    const { get, client } = await openSeeded(50);
    const place = { repository: 'data', path: 'teams/team-0/stack-0000/trueup.yaml' };
    const report = reportOf({
      drifted: Array.from({ length: 150 }, (_, index) => drifted(`app-${index}`, 'by hand')),
      changedNames: Array.from({ length: 170 }, (_, index) => changedName(`web-${index}`)),
    });
    await client.query(
      'update trueup_fleet.stacks set last_report = $3 where repository = $1 and path = $2',
      [place.repository, place.path, JSON.stringify(report)],
    );
    const { text } = await get(`/stack?${new URLSearchParams(place)}`);
    expect(text).toContain('and 120 more');
  });

  it('lists drifts by person and time, and exports what the filters find', async () => {
    const { get } = await openSeeded();
    const all = JSON.parse((await get('/activity.json?event=drift')).text).events as {
      event: string;
      people: string[];
    }[];
    expect(new Set(all.map(({ event }) => event))).toEqual(new Set(['opened', 'changed', 'closed']));
    const bob = await get('/activity.json?person=Bob&event=opened');
    const events = JSON.parse(bob.text).events as { event: string; people: string[]; at: string }[];
    expect(events.length).toBeGreaterThan(0);
    expect(events.length).toBeLessThan(all.length);
    expect(events.every(({ event, people }) => event === 'opened' && people.includes('bob'))).toBe(true);
    expect(events.map(({ at }) => at)).toEqual(
      events
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    const page = await get('/activity?person=Bob&event=opened');
    expect(page.text).toContain(`of ${events.length} events`);
    expect(page.text).toContain('href="/activity.csv?event=opened&amp;person=Bob"');
    const csv = await get('/activity.csv?person=Bob&event=opened');
    expect(csv.headers['content-disposition']).toBe('attachment; filename="activity.csv"');
    const records = parse(csv.text, { columns: true, bom: true }) as { at: string; people: string }[];
    expect(records.map(({ at }) => at)).toEqual(events.map(({ at }) => at));
    expect(records[0]?.people).toBe('bob; ci-bot');
    const day = await get('/activity.json?from=2025-12-20&to=2025-12-20');
    const days = (JSON.parse(day.text).events as { at: string }[]).map(({ at }) => at.slice(0, 10));
    expect(new Set(days)).toEqual(new Set(['2025-12-20']));
    expect((await get('/activity.json?from=2025-99-99&to=x')).status).toBe(200);
  });

  it("forecasts which part of a limit the intervals need, and shows only the start of a user's hash", async () => {
    const { get, client } = await openSeeded(50);
    const { rows } = await client.query(
      `select 100 * sum(requests / seconds_between_checks) / 12.5 as percent
       from trueup_fleet.stack_requests join trueup_fleet.stacks using (repository, path) where identity = md5('two')`,
    );
    await client.query(
      `insert into trueup_fleet.target_pauses (address, since, class, reason, stacks, next_probe)
       values ('https://app.example.com', trueup_fleet.now(), 'x', 'answered 503', 5, trueup_fleet.now())`,
    );
    const { text } = await get('/capacity');
    expect(text).toContain('Targets that are paused');
    expect(text).toContain('answered 503');
    expect(text).toContain(
      `${Number(rows[0].percent)
        .toFixed(1)
        .replace(/\.\d$/, (one) => (rows[0].percent < 1 ? one : ''))}`,
    );
    const hash = (await client.query(`select md5('two') as hash`)).rows[0].hash as string;
    expect(text).toContain(`<code>${hash.slice(0, 8)}</code>`);
    expect(text).not.toContain(hash.slice(0, 9));
    expect(text).toMatch(/paused<\/span> opens/);
  });

  it('finds the stacks that have a label, with any value or with one', async () => {
    const { get, client } = await openSeeded(50);
    expect((await get('/')).text).not.toContain('name="label"');
    await client.query(
      `update trueup_fleet.stacks set labels = case when path like '%0001/%' then '{"tier": "production"}' else '{"tier": "test", "x/y": "z"}' end::jsonb
       where repository = 'data'`,
    );
    const found = async (path: string) => stacksIn((await get(path)).text);
    expect((await get('/')).text).toContain('name="label"');
    expect(await found('/?label=tier:production')).toHaveLength(1);
    expect(await found('/?label=tier')).toHaveLength(10);
    expect(await found('/?label=x/y:z&repository=data')).toHaveLength(9);
    for (const label of ['tier:prod', 'tier:', ':', 'tiers', "';--", 'tier:production:'])
      expect(await found(`/?label=${encodeURIComponent(label)}`)).toEqual([]);
    expect((await get('/?label=tier:production')).text).toContain('1 stack');
  });

  it('shows the quota of a target, and what the intervals need of it for all users together', async () => {
    const { get, client } = await openSeeded(50);
    const { rows } = await client.query(
      `select 100 * sum(requests / seconds_between_checks) / 4 as percent
       from trueup_fleet.stack_requests join trueup_fleet.stacks using (repository, path)`,
    );
    expect((await get('/capacity')).text).not.toContain('Quotas of targets');
    const { rows: workers } = await client.query(
      'select id from trueup_fleet.workers order by last_seen desc',
    );
    await noteQuotas(client, workers[0]?.id, new Map([['https://app.example.com', 4]]));
    const [, quotas = ''] = (await get('/capacity')).text.split('<h2>Quotas of targets');
    expect(quotas).toContain('4 a second');
    const percent = Number(rows[0].percent);
    expect(quotas).toContain(`${percent < 1 ? percent.toFixed(1) : percent.toFixed(0)} %`);
  });

  it('shows live and silent workers, unreadable repositories, and an invalid fleet file', async () => {
    const { get, client, advance } = await openSeeded(50);
    await advance(120_000);
    const worker = { pid: 3, fleet: 'acme', version: '1', concurrency: 4, shard: '2/8', running: 1 };
    await noteWorker(client, { ...worker, id: 'new', host: 'fresh', problem: 'line 4: no such member' });
    await client.query(
      `insert into trueup_fleet_jobs.job values ('checks', 'created', now(), '{"repository":"data","path":"x"}'), ('checks', 'active', now(), '{"repository":"data","path":"y"}')`,
    );
    const { text } = await get('/health');
    expect(text).toContain('fresh: line 4: no such member');
    expect(text.match(/>silent</g)).toHaveLength(3);
    expect(text.match(/>live</g)).toHaveLength(1);
    expect(text).toContain('2/8');
    expect(text).toContain('1 waiting, 1 running');
    expect(text).toContain('repository &quot;data&quot; has no branch &quot;main&quot;');
    expect(text).toContain('the service answered 503 for two minutes');
    expect((await get('/')).text).toContain('Repositories that cannot be read: data. ');
  });

  it('has metrics as OpenMetrics text, with as many series for many stacks as for few', async () => {
    const { get } = await openSeeded(200);
    const { headers, text } = await get('/metrics');
    expect(headers['content-type']).toContain('application/openmetrics-text');
    expect(text).toMatch(/^trueup_fleet_stacks\{standing="stale"\} 20$/m);
    expect(text).toMatch(/^trueup_fleet_workers\{state="live"\} 3$/m);
    expect(text).toMatch(/^trueup_fleet_unread_repositories 1$/m);
    expect(text.trimEnd().endsWith('# EOF')).toBe(true);
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const { get: getFew } = await openSeeded(20);
    const few = (await getFew('/metrics')).text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(series).toHaveLength(few.length);
    expect(text).not.toContain('stack-0');
  });

  it('escapes names, errors and people, on pages and in exports', async () => {
    const database = await openFleetDatabase(server);
    const { client, address } = database;
    const path = `"><script>alert(1)</script>'\u202e/trueup.yaml`;
    await scheduleStacks(client, 'data', [{ repository: 'data', path, tree: 'one', seconds: 900 }]);
    await client.query(
      `update trueup_fleet.stacks set last_complete = trueup_fleet.now(), failures = 1, last_error = '</td><img src=x onerror=alert(2)> &amp; \u001b[31m', last_commit = '<b>'`,
    );
    await client.query(
      `insert into trueup_fleet.drifts (repository, path, stack, hash, opened, changed, resources, report, actors)
       select repository, '=HYPERLINK("https://evil.example")', 'x', 'y', trueup_fleet.now(), trueup_fleet.now(), 1, '{}', array['@SUM(1)<i>'] from trueup_fleet.stacks`,
    );
    const { get } = await openConsole(address);
    const query = new URLSearchParams({ repository: 'data', path });
    for (const at of [
      '/',
      `/stack?${query}`,
      '/activity',
      '/health',
      '/?text=%22%3E%3Cscript%3Ealert(3)',
      '/activity?person=%3Ci%3E',
    ]) {
      const { status, text } = await get(at);
      expect(status, at).toBe(200);
      for (const raw of ['<script', '<img', '<i>', '<b>', '\u001b', '\u202e'])
        expect(text, at).not.toContain(raw);
    }
    expect((await get('/')).text).toContain('&lt;script&gt;');
    expect((await get(`/stack?${query}`)).text).toContain(`trueup plan $&#39;`);
    const csv = (await get('/activity.csv')).text;
    const [record] = parse(csv, { columns: true }) as { path: string; people: string }[];
    expect(record?.path).toBe(`'=HYPERLINK("https://evil.example")`);
    expect(record?.people).toBe(`'@SUM(1)<i>`);
    expect((await get('/activity.json')).headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    ['/?text=%00', 200],
    ['/?repository=%00&page=2', 200],
    ['/stack?repository=%00&path=%00', 404],
    ['/activity?person=%00&text=%00', 200],
    ['/activity.csv?from=2026-02-31&to=0000-01-01', 200],
    ['/activity.json?from=0001-01-01&to=9999-12-31', 200],
  ])('sends no query that the database refuses: %s', async (path, status) => {
    const { get, failures } = await openSeeded(10);
    expect((await get(path)).status).toBe(status);
    expect(failures).toEqual([]);
  });

  it('answers only GET and HEAD, and allows a page no scripts and no foreign content', async () => {
    const { get } = await openSeeded(10);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await get('/', {}, method)).status).toBe(405);
    const head = await get('/', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    const { headers, text } = await get('/');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(text).not.toMatch(/<script|<style|style=|onclick/);
    const sheet = /href="(\/style-[0-9a-f]+\.css)"/.exec(text)?.[1] ?? '';
    expect(await get(sheet)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/css; charset=utf-8' },
    });
    const missing = await get('/no-such-page');
    expect(missing.status).toBe(404);
    expect(missing.headers['content-security-policy']).toBeDefined();
  });
});
