// What the console shows about applies, over HTTP, with a real PostgreSQL whose time stands still.
import { parse } from 'csv-parse/sync';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWaits } from '../../../src/commands/fleet/apply/apply-records.ts';
import { scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { openConsole } from '../../support/fleet/console.ts';
import { openFleetDatabase } from '../../support/fleet/database.ts';
import { seedFleet } from '../../support/fleet/seed-console.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

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

/** The rows of a table, as texts of their cells. */
function rowsIn(page: string, caption: string): string[][] {
  const table = page.split(`<caption class="hidden">${caption}</caption>`)[1]?.split('</table>')[0] ?? '';
  return [...table.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, ' ').trim()),
  );
}

async function stackOf(client: pg.Client, condition: string): Promise<string> {
  const { rows } = await client.query(
    `select repository, path from trueup_fleet.stacks as stack where ${condition} order by 1, 2 limit 1`,
  );
  return `/stack?${new URLSearchParams(rows[0])}`;
}

const waitsFor = (because: string) =>
  `exists (select from trueup_fleet.waiting_applies as wait where wait.repository = stack.repository and wait.path = stack.path and because = '${because}')`;

interface Exported {
  readonly at: string;
  readonly event: string;
  readonly resources: number | null;
  readonly people: readonly string[];
  readonly commit?: string;
  readonly reason?: string;
}

describe.skipIf(bin === undefined)('The console of a fleet', () => {
  it('counts the stacks whose apply waits, and lists them in the order of their release', async () => {
    const { get, client } = await openSeeded();
    const fleet = (await get('/')).text;
    expect(fleet).toContain('href="/?apply=waits"><strong>10</strong> applies wait</a>');
    const { text } = await get('/?apply=waits');
    expect(text).toContain('1–10 of 10 stacks');
    const order = (await readWaits(client)).map(
      ({ repository, path }) => `${repository}/${path.replace('/trueup.yaml', '')}`,
    );
    expect(stacksIn(text)).toEqual(order);
    const rows = rowsIn(text, 'Stacks whose apply waits');
    const cellsOf = (words: string) => rows.find(([, why = '']) => why.startsWith(words))?.slice(1);
    expect(cellsOf('waits for the end of a freeze')).toEqual([
      expect.stringMatching(/freeze +the freeze &quot;weekend&quot; lasts until 2026-01-05T06:00:00.000Z/),
      '2 d ago',
      'in 4 d',
    ]);
    expect(cellsOf('waits for an approval')?.at(-1)).toBe('open');
    expect(cellsOf('waits because of a guard')).toBeDefined();
    expect(cellsOf('waits for the lock of the stack')?.at(-1)).toBe('in 40 s');
    expect(cellsOf('waits for its next try')?.at(-1)).toBe('in 12 min');
  });

  it('finds stacks by what their apply waits for, and marks them among the others', async () => {
    const { get, client } = await openSeeded();
    const guarded = await get('/?apply=guard');
    expect(guarded.text).toContain('1–2 of 2 stacks');
    const [name = ''] = stacksIn(guarded.text);
    const [repository = ''] = name.split('/');
    expect((await get(`/?apply=guard&repository=${repository}&text=${name}`)).text).toContain(
      '1–1 of 1 stack<',
    );
    expect((await get('/?apply=guard&is=working')).text).toContain('No stack matches these filters.');
    expect((await get('/?apply=nonsense')).text).toContain('of 200 stacks');
    const marked = await get(`/?text=${name}`);
    expect(rowsIn(marked.text, 'Stacks of the fleet')[0]?.[2]).toMatch(/apply waits because of a guard$/);
    // The mark is short: the reason is on the page of the stack.
    expect(marked.text).not.toContain('delete-limit');
    // Without waiting applies, there is no such count and no such filter.
    await client.query('delete from trueup_fleet.waiting_applies');
    expect((await get('/')).text).not.toMatch(/appl(y|ies) wait|name="apply"/);
    expect((await get('/?apply=waits')).text).toContain('No stack matches these filters.');
  });

  it('shows on the page of a stack why its apply waits, since when and until when', async () => {
    const { get, client } = await openSeeded();
    const frozen = await get(await stackOf(client, waitsFor('freeze')));
    expect(frozen.text).toMatch(
      /The apply waits for the end of a freeze \(for 2 d\), until <time[^>]*>2026-01-05 06:00 UTC<\/time>: the freeze &quot;weekend&quot;/,
    );
    const open = await get(await stackOf(client, waitsFor('approval')));
    expect(open.text).toContain('The apply waits for an approval (for 2 d): the plan is not approved');
    const calm = 'not exists (select from trueup_fleet.waiting_applies as wait where wait.path = stack.path)';
    expect((await get(await stackOf(client, calm))).text).not.toContain('The apply waits');
  });

  it('shows the open plan of a stack, with its guards', async () => {
    const { get, client } = await openSeeded();
    const page = await stackOf(client, waitsFor('guard'));
    expect((await get(page)).text).not.toContain('Open plan');
    const plan = {
      ...{ digest: '0123456789abcdef0123456789abcdef', count: 3 },
      changes: [{ action: 'delete', address: 'Workspace/acme/<b>pay</b>' }],
      guards: [{ id: 'deletes', effect: 'blocks', message: '2 deletes are more than "0"' }],
    };
    await client.query(`update trueup_fleet.waiting_applies set plan = $1::json where because = 'guard'`, [
      plan,
    ]);
    const { text } = await get(page);
    expect(text).toContain('0123456789abcdef0123456789abcdef');
    expect(text).toContain('<code>deletes</code> blocks: 2 deletes are more than &quot;0&quot;');
    expect(rowsIn(text, 'Changes of the open plan')).toEqual([
      ['delete', 'Workspace/acme/&lt;b&gt;pay&lt;/b&gt;'],
    ]);
    expect(text).toContain('2 more');
  });

  it('lists the last applies of a stack, newest first, with who approved them and why they failed', async () => {
    const { get, client } = await openSeeded();
    const applies = async (condition: string) =>
      rowsIn((await get(await stackOf(client, condition))).text, 'Applies of the stack');
    const having = (what: string) =>
      `exists (select from trueup_fleet.applies as made where made.repository = stack.repository and made.path = stack.path and ${what})`;
    const [first, second, third] = await applies(having(`outcome = 'interrupted'`));
    expect(first).toEqual([
      expect.stringMatching(/^2025-12-31 22:\d\d UTC/),
      ...['75 s', 'applied', '4', 'ann, carl@example.com', expect.stringMatching(/^[0-9a-f]{12}$/)],
    ]);
    expect(second?.[2]).toMatch(/^interrupted +the worker was stopped$/);
    expect(third?.[4]).toBe('bob');
    expect((await applies(having(`outcome = 'failed'`)))[0]?.[2]).toMatch(
      /^failed +the service answered 422/,
    );
    expect((await applies(having('ended is null and leased_until > trueup_fleet.now()')))[0]?.[2]).toBe(
      'running',
    );
    expect((await applies(having('ended is null and leased_until < trueup_fleet.now()')))[0]?.[2]).toMatch(
      /^silent/,
    );
    // Drift without an apply has no such list.
    const never = `not ${having('true')}`;
    expect((await get(await stackOf(client, never))).text).not.toContain('<h2>Applies</h2>');
    const { rows } = await client.query(
      `select repository, path from trueup_fleet.applies where outcome = 'failed' limit 1`,
    );
    await client.query(
      `insert into trueup_fleet.applies (repository, path, attempt, commit, started, leased_until, ended, outcome, changes)
       select $1, $2, 9, 'c' || number, trueup_fleet.now(), trueup_fleet.now(), trueup_fleet.now(), 'applied', number from generate_series(1, 70) as number`,
      [rows[0].repository, rows[0].path],
    );
    const many = rowsIn((await get(`/stack?${new URLSearchParams(rows[0])}`)).text, 'Applies of the stack');
    expect(many.map(([, , , changes]) => Number(changes))).toEqual(
      Array.from({ length: 50 }, (_, index) => 70 - index),
    );
  });

  it('lists applies and drifts by person, event and time, and exports them', async () => {
    const { get, client } = await openSeeded();
    const exported = async (query: string) =>
      JSON.parse((await get(`/activity.json?${query}`)).text).events as Exported[];
    const all = await exported('');
    const applies = await exported('event=apply');
    const drifts = await exported('event=drift');
    expect(applies).toHaveLength(108);
    expect(all).toHaveLength(applies.length + drifts.length);
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(new Set(applies.map(({ event }) => event))).toEqual(
      new Set(['applied', 'apply-failed', 'apply-partial', 'apply-interrupted', 'apply-lost']),
    );
    expect(Object.keys(drifts[0] ?? {}).slice(0, 6)).toEqual(Object.keys(applies[0] ?? {}).slice(0, 6));
    expect(drifts.some((event) => 'commit' in event || 'reason' in event)).toBe(false);
    const [failed] = await exported('event=apply-failed');
    expect(failed).toMatchObject({
      ...{ event: 'apply-failed', resources: 0, people: ['ann'] },
      commit: expect.stringMatching(/^[0-9a-f]{32}/),
      reason: expect.stringContaining('name has already been taken'),
    });
    // How far it came is unknown.
    expect((await exported('event=apply-lost'))[0]).toMatchObject({ resources: null, people: [] });
    const carl = await exported('person=CARL');
    expect(carl.length).toBeGreaterThan(0);
    expect(
      carl.every(({ event, people }) => event === 'applied' && people.includes('carl@example.com')),
    ).toBe(true);
    const csv = parse((await get('/activity.csv?event=apply')).text, { columns: true }) as Record<
      string,
      string
    >[];
    expect(Object.keys(csv[0] ?? {}).slice(0, 7)).toEqual([
      'at',
      'event',
      'repository',
      'path',
      'resources',
      'people',
      'because',
    ]);
    expect(csv.map(({ at, commit, reason = '' }) => [at, commit, reason])).toEqual(
      applies.map(({ at, commit, reason = '' }) => [at, commit, reason]),
    );
    expect(csv.find(({ event }) => event === 'apply-lost')?.['resources']).toBe('');
    const page = (await get('/activity?event=applied&person=carl')).text;
    expect(rowsIn(page, 'Activity')[0]?.slice(1)).toEqual([
      'applied',
      expect.stringContaining('stack-'),
      '4',
      'ann, carl@example.com',
    ]);
    expect(page).toContain('href="/activity.csv?event=applied&amp;person=carl"');
    // A running apply is not an event yet. Applies of a removed stack stay in the history.
    await client.query('update trueup_fleet.stacks set removed = trueup_fleet.now()');
    expect(await exported('event=apply')).toHaveLength(108);
  });

  it('shows why applies of the last day failed, and no older ones', async () => {
    const { get, advance } = await openSeeded();
    const failed = async () =>
      rowsIn((await get('/health')).text, 'Applies that failed').map((cells) => cells.slice(0, 2));
    expect(await failed()).toEqual([
      ['18', expect.stringMatching(/^failed +the service answered 422/)],
      ['18', expect.stringMatching(/^applied in part +1 of 3 changes failed/)],
      ['18', expect.stringMatching(/^lost +its worker ended/)],
    ]);
    await advance(24 * 3_600_000);
    expect((await get('/health')).text).not.toContain('applies failed');
  });

  it('has metrics of applies that wait, run, or ended within a day', async () => {
    const { get } = await openSeeded();
    const { text } = await get('/metrics');
    const values = Object.fromEntries(
      [...text.matchAll(/^trueup_fleet_applies_(\S+) (\d+)$/gm)].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
    expect(values).toEqual({
      'waiting{for="freeze"}': 2,
      'waiting{for="approval"}': 2,
      'waiting{for="guard"}': 2,
      'waiting{for="lock"}': 2,
      'waiting{for="retry"}': 2,
      'waiting{for="target"}': 0,
      // The lease of the other one is over.
      running: 1,
      'last_day{outcome="applied"}': 18,
      'last_day{outcome="partial"}': 18,
      'last_day{outcome="failed"}': 18,
      'last_day{outcome="interrupted"}': 0,
      'last_day{outcome="lost"}': 19,
    });
  });

  it('escapes reasons, outcomes and people of applies, on pages and in exports', async () => {
    const { client, address } = await openFleetDatabase(server);
    const path = 'one/trueup.yaml';
    await scheduleStacks(client, 'data', [{ repository: 'data', path, tree: 'one', seconds: 900 }]);
    const hostile = `=1+1</td><img src=x onerror=alert(2)> &amp; \u001b[31m\u202e`;
    await client.query(
      `insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit)
       values ('data', $1, trueup_fleet.now(), $2, $2, $2)`,
      [path, hostile],
    );
    for (const outcome of ['failed', hostile])
      await client.query(
        `insert into trueup_fleet.applies (repository, path, attempt, commit, started, leased_until, ended, outcome, reason, people)
         values ('data', $1, 1, $2, trueup_fleet.now(), trueup_fleet.now(), trueup_fleet.now(), $3, $2, array[$2])`,
        [path, hostile, outcome],
      );
    const { get, failures } = await openConsole(address);
    const stack = `/stack?${new URLSearchParams({ repository: 'data', path })}`;
    for (const at of [
      '/',
      '/?apply=waits',
      '/?apply=%3Cimg',
      stack,
      '/activity',
      '/activity?event=%3Cimg',
      '/health',
      '/metrics',
    ]) {
      const { status, text } = await get(at);
      expect(status, at).toBe(200);
      for (const raw of ['<img', '</td><', '\u001b', '\u202e'])
        expect(text.replaceAll(/<\/td><(td|\/tr)/g, ''), at).not.toContain(raw);
    }
    expect((await get(stack)).text).toContain('&lt;img');
    const csv = parse((await get('/activity.csv')).text, { columns: true }) as Record<string, string>[];
    for (const column of ['people', 'commit', 'reason']) expect(csv[0]?.[column]).toMatch(/^'=1\+1/);
    expect(failures).toEqual([]);
  });
});
