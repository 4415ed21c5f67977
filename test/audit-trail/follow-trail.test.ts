// A follower of a trail gets each event once, in order, also events that share a millisecond.
import { expect, it, onTestFinished } from 'vitest';
import { cursorFromNow, followTrail, type TrailCursor } from '../../src/commands/audit/follow.ts';
import { findDialect } from '../../src/api/dialects.ts';
import { openAuditTrail } from '../../src/api/open-target.ts';
import { servedEvent, servedEvents, serveTrail, type TrailService } from '../support/audit/trail-service.ts';
import { workspacesTarget } from '../support/http/open-for-test.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');

function channelTo(service: TrailService) {
  const channel = openAuditTrail({
    target: workspacesTarget,
    url: service.url,
    dialect: findDialect('workspaces', 'neutral') ?? expect.unreachable(),
    userAgent: 'trueup/test',
    token: async () => 'audit-token',
  });
  onTestFinished(() => channel.close());
  return channel;
}

function follower(service: TrailService) {
  const channel = channelTo(service);
  let cursor: TrailCursor = { from: noon, at: noon, ids: [] };
  /** @param now milliseconds after noon */
  return async (now = 3_600_000) => {
    const followed = await followTrail(channel, cursor, noon + now);
    // As it would be stored in a file.
    cursor = JSON.parse(JSON.stringify(followed.cursor));
    return followed.events.map(({ id }) => id);
  };
}

it.each([
  ['oldest', false],
  ['newest', true],
])('a follower gets each event once from a trail with the %s first', async (_, newestFirst) => {
  const service = await serveTrail(servedEvents(3), { newestFirst });
  const next = follower(service);
  expect(await next()).toEqual(['e1', 'e2', 'e3']);
  expect(await next()).toEqual([]);
  service.events.push(...servedEvents(1500, 4));
  expect(await next()).toHaveLength(1500);
  expect(await next()).toEqual([]);
});

it('a follower gets events of the same millisecond once each, also late ones', async () => {
  const service = await serveTrail([servedEvent('a', { at: 7 })]);
  const next = follower(service);
  const received = [await next()];
  for (const id of ['c', 'b', 'd']) {
    service.events.push(servedEvent(id, { at: 7 }));
    received.push(await next());
  }
  service.events.push(servedEvent('f', { at: 8 }), servedEvent('e', { at: 8 }));
  received.push(await next(), await next());
  expect(received).toEqual([['a'], ['c'], ['b'], ['d'], ['e', 'f'], []]);
});

it('a follower gets a late event once, and no event from before its start', async () => {
  const service = await serveTrail([servedEvent('a', { at: 70_000 })]);
  const next = follower(service);
  const received = [await next()];
  for (const [id, at] of [
    ['b', 69_998],
    ['c', 10_001],
    ['before', -1],
  ] as const) {
    service.events.splice(0, 0, servedEvent(id, { at }));
    received.push(await next());
  }
  expect([...received, await next()]).toEqual([['a'], ['b'], ['c'], [], []]);
});

it('a follower gets new events after one with a time in the future', async () => {
  const service = await serveTrail([servedEvent('future', { at: 3_600_000 })]);
  const next = follower(service);
  const received = [await next(1000)];
  for (const at of [1500, 200_000, 300_000]) {
    service.events.splice(0, 0, servedEvent(`e${at}`, { at }));
    received.push(await next(at + 10));
  }
  expect([...received, await next(400_000)]).toEqual([['future'], ['e1500'], ['e200000'], ['e300000'], []]);
});

it('a follower skips older events of a service that rounds the requested time', async () => {
  const service = await serveTrail(servedEvents(3));
  const next = follower(service);
  await next();
  service.override = ({ path }) => {
    if (!path.includes('since')) return undefined;
    const pagination = { current_page: 1, next_page: null, total_pages: 1, total_count: 4 };
    return { body: { data: [...service.events, servedEvent('e4', { at: 4 })], pagination } };
  };
  expect(await next()).toEqual(['e4']);
});

it.each([
  ['ahead', 7_200_000],
  ['behind', -7_200_000],
])('a follower that starts now uses the clock of a service that is %s', async (_, ahead) => {
  const serviceNow = Date.now() + ahead;
  const service = await serveTrail([
    servedEvent('before', { at: serviceNow - 60_000 - noon }),
    servedEvent('after', { at: serviceNow + 60_000 - noon }),
  ]);
  service.dateHeader = () => new Date(serviceNow);
  const channel = channelTo(service);
  const cursor = await cursorFromNow(channel, Date.now());
  const { events } = await followTrail(channel, cursor, Date.now());
  expect(events.map(({ id }) => id)).toEqual(['after']);
});
