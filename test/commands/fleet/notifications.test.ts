// Messages about drift: issues of GitHub and GitLab, and webhooks, with real HTTP servers. Tests move the time of the database.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeDue } from '../../../src/commands/fleet/schedule.ts';
import { issuesToken, type KeptIssue, openIssues } from '../../support/code-host/issues.ts';
import {
  issuesSecret,
  minute,
  openReceiver,
  openNotifications,
  webhookSecret,
} from '../../support/fleet/notifications.ts';
import { changedName, drifted } from '../../support/fleet/reports.ts';
import { activeIn } from '../../support/report/rendered-markdown.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

type Service = 'github' | 'gitlab';

async function openScene(service: Service, { stacks = ['one'], others = 0, ...more } = {}) {
  const host = await openIssues(service, others);
  const place =
    service === 'github'
      ? { github: { url: host.url, repository: 'acme/infra', token: issuesSecret } }
      : { gitlab: { url: `${host.url}/api/v4`, project: 'acme/infra', token: issuesSecret } };
  const opened = await openNotifications(server, { name: 'issues', ...place, ...more }, stacks);
  return { ...opened, host, ours: () => host.issues.slice(others) };
}

async function openHook(more: object = {}, stacks = ['one']) {
  const receiver = await openReceiver();
  const hook = { url: `${receiver.url}/hooks/secret-path`, secret: { env: 'HOOK_SECRET' } };
  return { ...(await openNotifications(server, { name: 'chat', webhook: hook, ...more }, stacks)), receiver };
}

const byHand = { drifted: [drifted('app', 'by hand')] };
const texts = ({ comments }: KeptIssue) => comments.map(({ body }) => body.replace(/<!--.*-->\s*/, ''));
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

describe.skipIf(bin === undefined).each(['github', 'gitlab'] as const)('Issues of %s', (service) => {
  it('are opened once per stack, and then edited, closed and reopened as the drift changes', async () => {
    const { check, advance, pass, ours } = await openScene(service, { others: 120 });
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    expect(ours()).toMatchObject([{ title: 'Drift of stack one (infra/one/trueup.yaml)', state: 'open' }]);
    expect(ours()[0]?.body).toContain('by hand');
    await check('one', { drifted: [drifted('app', 'by another hand')] });
    await pass();
    expect(ours()[0]?.body).toContain('by another hand');
    await check('one');
    await pass();
    expect(ours()).toMatchObject([{ state: 'closed' }]);
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    await pass();
    expect(ours()).toMatchObject([{ state: 'open', body: expect.stringContaining('by hand') }]);
    expect(ours().flatMap(texts)).toEqual([
      expect.stringMatching(/^The drift changed: 1 resource drifted now/),
      expect.stringMatching(/^The drift is gone: the check of `2026-/),
      expect.stringMatching(/^Drift is back since `2026-/),
    ]);
  });

  it('are never opened twice for one stack, even if the answer to the first request was lost', async () => {
    const { check, advance, pass, ours, host } = await openScene(service, { others: 120 });
    host.once(({ method }) => (method === 'POST' ? { status: 500, cut: true } : undefined));
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    expect(ours()).toHaveLength(1);
    await advance(minute);
    await pass();
    await advance(minute);
    await pass();
    expect(ours()).toHaveLength(1);
    await check('one');
    await pass();
    expect(ours()).toMatchObject([{ state: 'closed' }]);
  });

  it('get no comment twice, even if the answer to the first request was lost', async () => {
    const { check, advance, pass, ours, host } = await openScene(service);
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    host.once(({ method, path }) =>
      method === 'POST' && /\d$/.test(path) === false ? { status: 500, cut: true } : undefined,
    );
    await check('one');
    await pass();
    expect(ours()).toMatchObject([{ state: 'open' }]);
    await advance(minute);
    await pass();
    expect(ours()).toMatchObject([{ state: 'closed', comments: [{}] }]);
  });

  it('get no comment twice, even if an older comment was edited meanwhile', async () => {
    const { check, advance, pass, ours, host } = await openScene(service);
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    ours()[0]?.comments.push({ body: 'a question', at: 0, edited: Number.POSITIVE_INFINITY });
    host.once(({ method, path }) =>
      method === 'POST' && /\d$/.test(path) === false ? { status: 500, cut: true } : undefined,
    );
    await check('one');
    await pass();
    await advance(minute);
    await pass();
    expect(ours()).toMatchObject([{ state: 'closed', comments: [{}, {}] }]);
  });

  it('are found again by a hidden marker when the database was lost', async () => {
    const { check, advance, pass, ours, client } = await openScene(service, { others: 120 });
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    await client.query('delete from trueup_fleet.sent_messages');
    await pass();
    expect(ours()).toHaveLength(1);
  });

  it('are opened again after somebody deleted them', async () => {
    const { check, advance, pass, ours, host } = await openScene(service);
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    host.issues.splice(0, 1, { ...(host.issues[0] as KeptIssue), number: 900, body: '' });
    await check('one', { drifted: [drifted('app', 'other')] });
    await pass();
    expect(ours().filter(({ body }) => body.includes('other'))).toHaveLength(1);
  });
});

describe.skipIf(bin === undefined)('The text of an issue', () => {
  it('shows who changed what and when, old and new values, and how to revert or accept them', async () => {
    const { check, advance, pass, ours } = await openScene('github', { stacks: ['teams/a b'] });
    const touched = {
      touches: [
        {
          ...{ at: '2026-01-01T08:00:00Z', event: 'ae-1', resource: { type: 'workspace', action: 'update' } },
          actor: { id: 'user-1', name: '@ann', kind: 'Client' },
        },
      ],
    };
    const fields = [
      { path: '/description', before: 'as applied', after: 'by hand', shape: 'scalar' as const },
      { path: '/token', after: { characters: 12 }, shape: 'secret' as const },
    ];
    await check('teams/a b', { drifted: [drifted('app', '', { fields, touched })] });
    await advance(11 * minute);
    await pass();
    const body = ours()[0]?.body ?? '';
    expect(body).toContain('`2026-01-01T08:00:00Z` by ');
    expect(body).not.toContain('@ann');
    expect(body).toContain('as applied');
    expect(body).toContain('by hand');
    for (const command of ['plan', 'apply', 'accept'])
      expect(body).toContain(`\`trueup ${command} 'teams/a b'\``);
  });

  it('escapes names as Markdown, and stays below the size limit of the service', async () => {
    const { check, advance, pass, ours } = await openScene('github');
    const evil = '</summary><img src=x> @team #1 `x` | y';
    const many = Array.from({ length: 2000 }, (_, index) =>
      drifted(`${evil}-${index}`, `${evil}${'x'.repeat(500)}`, {
        address: `Workspace/main/${evil}-${index}`,
      }),
    );
    await check('one', { drifted: many });
    await advance(11 * minute);
    await pass();
    const body = ours()[0]?.body ?? '';
    expect(Buffer.byteLength(body)).toBeLessThan(62_000);
    expect(Buffer.byteLength(body)).toBeGreaterThan(20_000);
    expect(body).toMatch(/\*\*and 1\d\d\d more that drifted\*\*/);
    expect(activeIn(body.slice(body.indexOf('\n')))).toEqual([]);
  });

  it('counts all names that refer to other objects and do not fit', async () => {
    const { check, advance, pass, ours } = await openScene('github');
    await check('one', {
      changedNames: Array.from({ length: 2000 }, (_, index) => changedName(`app-${index}`)),
    });
    await advance(11 * minute);
    await pass();
    const body = ours()[0]?.body ?? '';
    const shown = body.split('\n').filter((line) => line.startsWith('- `Workspace/main/app-')).length;
    expect(shown).toBeGreaterThan(10);
    expect(body).toContain(`**and ${2000 - shown} more**`);
  });

  it('never contains a token of the worker, even if a check found it', async () => {
    const { check, advance, pass, ours } = await openScene('github');
    await check('one', { drifted: [drifted('app', `the ${issuesToken} there`)] });
    await advance(11 * minute);
    await pass();
    expect(ours()[0]?.body).toContain('app');
    expect(JSON.stringify(ours())).not.toContain(issuesToken);
  });
});

describe.skipIf(bin === undefined)('A message about drift', () => {
  it('waits for the hold time, and is not sent if the drift ends within it', async () => {
    const { check, advance, pass, receiver } = await openHook();
    await check('one', byHand);
    await advance(9 * minute);
    await pass();
    await check('one');
    await advance(9 * minute);
    await pass();
    await check('one', byHand);
    await advance(9 * minute);
    await pass();
    expect(receiver.events()).toEqual([]);
    await advance(minute);
    await pass();
    expect(receiver.events()).toEqual(['drift.opened']);
  });

  it('is sent once, after restarts and with any number of workers', async () => {
    const stacks = names(5);
    const { check, advance, worker, receiver } = await openHook({}, stacks);
    for (const name of stacks) await check(name, byHand);
    await advance(11 * minute);
    const workers = await Promise.all([worker(), worker(), worker()]);
    await Promise.all(workers.map((one) => one.pass()));
    await (await worker()).pass();
    for (const name of stacks) await check(name, byHand);
    await (await worker()).pass();
    expect(receiver.events()).toEqual(stacks.map(() => 'drift.opened'));
  });

  it('is sent once for many stacks that begin to drift at the same time', async () => {
    const stacks = names(21);
    const { check, advance, pass, receiver } = await openHook({}, stacks);
    for (const name of stacks.slice(0, 15)) await check(name, byHand);
    await advance(8 * minute);
    for (const name of stacks.slice(15)) await check(name, byHand);
    await advance(3 * minute);
    await pass();
    expect(receiver.events()).toEqual([]);
    await advance(8 * minute);
    await pass();
    await pass();
    expect(receiver.events()).toEqual(['drift.digest']);
    expect(receiver.posted[0]?.body['stacks']).toHaveLength(21);
    await check('s0', { drifted: [drifted('app', 'something else')] });
    for (const name of stacks.slice(1)) await check(name);
    await advance(11 * minute);
    await pass();
    await pass();
    expect(receiver.events()).toEqual(['drift.digest', 'drift.opened', 'drift.digest-closed']);
  });

  it('is sent for each stack of up to twenty', async () => {
    const stacks = names(20);
    const { check, advance, pass, receiver } = await openHook({}, stacks);
    for (const name of stacks) await check(name, byHand);
    await advance(11 * minute);
    await pass();
    expect(receiver.events()).toEqual(stacks.map(() => 'drift.opened'));
  });

  it('to a webhook is signed, and has the same id when it is sent again', async () => {
    const { check, advance, pass, receiver } = await openHook();
    receiver.answers.push(503, 503);
    await check('one', byHand);
    await advance(11 * minute);
    for (const minutes of [1, 2]) {
      await pass();
      await pass();
      await advance(minutes * minute);
    }
    await pass();
    expect(receiver.events()).toEqual(['drift.opened', 'drift.opened', 'drift.opened']);
    expect(new Set(receiver.posted.map(({ body }) => body.id)).size).toBe(1);
    const [{ headers, text }] = receiver.posted as [(typeof receiver.posted)[number]];
    const signature = createHmac('sha256', webhookSecret).update(text).digest('hex');
    expect(headers['x-trueup-signature']).toBe(`sha256=${signature}`);
  });

  it('that cannot be sent is retried after growing delays, and the error is recorded', async () => {
    const { check, advance, pass, receiver, client } = await openHook();
    receiver.answers.push(...Array.from({ length: 100 }, () => 500));
    await check('one', byHand);
    for (let passed = 0; passed < 60; passed += 1) {
      await advance(minute);
      await pass();
    }
    expect(receiver.posted.length).toBeGreaterThanOrEqual(4);
    expect(receiver.posted.length).toBeLessThanOrEqual(8);
    const { rows } = await client.query('select last_error from trueup_fleet.channels');
    expect(rows).toEqual([{ last_error: expect.stringMatching(/^POST http:\/\/[^/]+ answered 500$/) }]);
    receiver.answers.length = 0;
    await advance(31 * minute);
    await pass();
    expect((await client.query('select last_error from trueup_fleet.channels')).rows).toEqual([
      { last_error: null },
    ]);
  });

  it('is sent by another worker when the worker that began it has ended', async () => {
    const { check, advance, pass, receiver, client } = await openHook();
    await check('one', byHand);
    await advance(11 * minute);
    await client.query(
      `insert into trueup_fleet.channels (name, claim, claimed_until)
       values ('acme/chat', 7, trueup_fleet.now() + interval '2 minutes')`,
    );
    await pass();
    expect(receiver.events()).toEqual([]);
    await advance(3 * minute);
    await pass();
    expect(receiver.events()).toEqual(['drift.opened']);
  });

  it('is sent once when a target is paused, and once when it is back', async () => {
    const stacks = names(8);
    const { check, advance, pass, receiver, client } = await openHook({}, stacks);
    for (const name of stacks.slice(0, 5)) await check(name, { unread: 'answered 503' });
    for (let passed = 0; passed < 60; passed += 10) {
      await advance(10 * minute);
      await pass();
    }
    expect(receiver.events()).toEqual(['target.paused']);
    const [probe] = await takeDue(client, 10, { repositories: ['infra'] });
    await check((probe?.path ?? '').replace('/trueup.yaml', ''));
    await pass();
    await pass();
    expect(receiver.events()).toEqual(['target.paused', 'target.back']);
  });

  it('lists many stacks that began to drift at once in one issue, which is closed after all drift', async () => {
    const stacks = names(30);
    const { check, advance, pass, ours, host } = await openScene('github', { stacks });
    for (const name of stacks) await check(name, byHand);
    await advance(11 * minute);
    host.once(({ method }) => (method === 'POST' ? { status: 500, cut: true } : undefined));
    await pass();
    await advance(minute);
    await pass();
    expect(ours()).toMatchObject([{ title: 'Drift of 30 stacks at once', state: 'open' }]);
    expect(ours()[0]?.body).toContain('`trueup plan s29`');
    for (const name of stacks) await check(name);
    await pass();
    expect(ours()).toMatchObject([{ state: 'closed' }]);
  });
});
