// Notifications whose stacks change with fleet.yaml, while workers with the old file still run.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordEnd } from '../../../src/commands/fleet/check-records.ts';
import { noteStart, scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { nameRepositories } from '../../../src/commands/fleet/workers.ts';
import { channelsOf } from '../../../src/commands/fleet/notify/settings.ts';
import { minute, openReceiver, openNotifications } from '../../support/fleet/notifications.ts';
import { drifted, resultWith } from '../../support/fleet/reports.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

const bin = findPostgres();
let server: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) server = startPostgres(bin);
});
afterAll(() => server?.stop());

const other = { name: 'other', url: 'https://git.example.com/acme/other.git' };

async function openHook(stacks?: string[]) {
  const receiver = await openReceiver();
  const hook = { url: receiver.url, secret: { env: 'HOOK_SECRET' } };
  const opened = await openNotifications(server, { name: 'chat', webhook: hook }, stacks);
  const [channel] = channelsOf('acme', [{ name: 'chat', webhook: hook }], [other], () => 600);
  if (channel === undefined) throw new Error('no channel');
  return { ...opened, receiver, channel };
}

describe.skipIf(bin === undefined)('A repository that was removed from a notification', () => {
  it('is not reported as free of drift before it is, and nothing is sent twice', async () => {
    const { check, advance, pass, worker, receiver, channel, client } = await openHook();
    await check('one', { drifted: [drifted('app', 'by hand')] });
    await advance(11 * minute);
    await pass();
    const changed = await worker(undefined, [channel]);
    for (const round of [() => changed.pass(), pass, () => changed.pass(), pass]) await round();
    expect(receiver.events()).toEqual(['drift.opened']);
    // Its stacks end when it has left the fleet, too.
    await nameRepositories(client, { fleet: 'acme', names: ['infra'], unread: new Map() });
    await advance(11 * minute);
    await nameRepositories(client, { fleet: 'acme', names: ['other'], unread: new Map() });
    await changed.pass();
    expect(receiver.events()).toEqual(['drift.opened', 'drift.closed']);
    expect(receiver.posted[1]?.body).toMatchObject({ because: 'removed' });
  });

  it('does not end the report of a pause of a target that still lasts', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { check, pass, worker, receiver, channel } = await openHook(names);
    for (const name of names) await check(name, { unread: 'GET / answered 503: down' });
    await pass();
    await (await worker(undefined, [{ ...channel, reportsPauses: false }])).pass();
    expect(receiver.events()).toEqual(['target.paused']);
  });
});

describe.skipIf(bin === undefined)('Two fleets with one database and a notification of the same name', () => {
  const byHand = { drifted: [drifted('app', 'by hand')] };

  /** The hook of another fleet, which has the repository "other". */
  async function openFleets() {
    const first = await openHook();
    const receiver = await openReceiver();
    const hook = { url: receiver.url, secret: { env: 'HOOK_SECRET' } };
    const channels = channelsOf('globex', [{ name: 'chat', webhook: hook }], [other], () => 600);
    await nameRepositories(first.client, { fleet: 'globex', names: ['other'], unread: new Map() });
    const open = () => first.worker(undefined, channels, { fleet: 'globex' });
    const secondCheck = async (parts: Parameters<typeof first.check>[1]) => {
      const stack = { repository: 'other', path: 'uno/trueup.yaml' };
      const attempt = (await noteStart(first.client, stack))?.attempt ?? '';
      await recordEnd(first.client, stack, attempt, resultWith({ stack: 'uno', ...parts }));
    };
    await scheduleStacks(first.client, 'other', [
      { repository: 'other', path: 'uno/trueup.yaml', seconds: 900, tree: 'first' },
    ]);
    return { ...first, second: { receiver, open, check: secondCheck } };
  }

  it('get messages about their own stacks only, and about the end of what was reported to them', async () => {
    const { check, advance, pass, receiver, second } = await openFleets();
    const other = await second.open();
    await check('one', byHand);
    await advance(11 * minute);
    await pass();
    await check('one');
    await other.pass();
    expect(second.receiver.events()).toEqual([]);
    await pass();
    expect(receiver.events()).toEqual(['drift.opened', 'drift.closed']);
    await second.check(byHand);
    await advance(11 * minute);
    await pass();
    await other.pass();
    expect(second.receiver.events()).toEqual(['drift.opened']);
    expect(receiver.events()).toHaveLength(2);
  });

  it('get no message again after an upgrade from a version whose records had no fleet', async () => {
    const { check, advance, pass, worker, receiver, second, client } = await openFleets();
    await check('one', byHand);
    await second.check(byHand);
    await advance(11 * minute);
    await pass();
    await (await second.open()).pass();
    // The records of the old version: one row for both.
    await client.query(`update trueup_fleet.sent_messages set channel = 'chat'`);
    await client.query(`delete from trueup_fleet.channels where name like 'globex/%'`);
    await client.query(`update trueup_fleet.channels set name = 'chat', last_error = 'no'`);
    const [upgraded, other] = [await worker(), await second.open()];
    for (const round of [upgraded, other, upgraded, other]) await round.pass();
    expect([receiver.events(), second.receiver.events()]).toEqual([['drift.opened'], ['drift.opened']]);
    await check('one');
    await second.check({});
    for (const round of [other, upgraded]) await round.pass();
    const all = ['drift.opened', 'drift.closed'];
    expect([receiver.events(), second.receiver.events()]).toEqual([all, all]);
    const { rows } = await client.query(
      'select name from trueup_fleet.channels union select channel from trueup_fleet.sent_messages order by name',
    );
    expect(rows).toEqual([{ name: 'acme/chat' }, { name: 'globex/chat' }]);
  });
});

it.skipIf(bin === undefined)(
  'A worker that was paused while it sent a message repeats it with the same id',
  async () => {
    const { check, advance, pass, worker, receiver, connect } = await openHook();
    const slow = await connect();
    const query = slow.query.bind(slow) as (...given: unknown[]) => Promise<unknown>;
    let isStopped = false;
    // Pauses after the message was sent, before that is recorded. Another worker continues meanwhile.
    const stopping = async (...given: unknown[]) => {
      if (!isStopped && String(given[0]).includes('digest = null, posting = null')) {
        isStopped = true;
        await advance(3 * minute);
        await pass();
        await check('one');
        await pass();
      }
      return query(...given);
    };
    Object.assign(slow, { query: stopping });
    await check('one', { drifted: [drifted('app', 'by hand')] });
    await advance(11 * minute);
    await (await worker(undefined, undefined, { client: slow })).pass();
    await advance(3 * minute);
    await pass();
    expect(receiver.events()).toEqual(['drift.opened', 'drift.opened', 'drift.closed']);
    // A receiver knows the second one by its id.
    expect(receiver.posted[1]?.body.id).toBe(receiver.posted[0]?.body.id);
  },
);
