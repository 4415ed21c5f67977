// A trail is taken into an archive: killed or refused at any page, it goes on where it was; what the service forgot is told.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Archive } from '../../src/audit-trail/archive.ts';
import { archiveTrail } from '../../src/commands/audit/archive.ts';
import { findDialect } from '../../src/api/dialects.ts';
import { openAuditTrail } from '../../src/api/open-target.ts';
import { type TrailChannel, trailRetention } from '../../src/model/audit-trail.ts';
import { archiveStores } from '../support/audit/stores.ts';
import { servedEvent, servedEvents, serveTrail, type TrailService } from '../support/audit/trail-service.ts';
import { workspacesTarget } from '../support/http/open-for-test.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');
const day = 24 * 3_600_000;
const [[, file]] = archiveStores as [(typeof archiveStores)[number]];
const { open, newName } = file();

function channelTo(service: TrailService): TrailChannel {
  const channel = openAuditTrail({
    target: workspacesTarget,
    url: service.url,
    dialect: findDialect('workspaces', 'neutral') ?? expect.unreachable(),
    userAgent: 'trueup/test',
    token: async () => 'audit-token',
    retryPolicy: { attempts: 1, attemptsUnanswered: 1, base: 1 },
  });
  onTestFinished(() => channel.close());
  return channel;
}

/** One look at `now`, in milliseconds after noon. @param told the id of the target's organization, where it can be told */
function look(service: TrailService, archive: Archive, now = 10_000, told?: string) {
  const channel = channelTo(service);
  return archiveTrail({
    channel,
    archive,
    trail: 'acme',
    now: noon + now,
    organization: async () => told,
    clean: (event) => event,
  });
}

async function idsIn(archive: Archive): Promise<string[]> {
  const ids: string[] = [];
  for await (const some of archive.newestFirst('acme')) ids.push(...some.map(({ id }) => id));
  return ids.reverse();
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `e${index + 1}`);

describe('an archive', () => {
  it('is given what is new, from a minute before the last event', async () => {
    const service = await serveTrail(servedEvents(3));
    const archive = open();
    expect(await look(service, archive)).toMatchObject({ added: 3 });
    service.events.push(servedEvent('late', { at: 3 }), ...servedEvents(2, 4));
    expect(await look(service, archive)).toMatchObject({ added: 3, head: { cursor: { id: 'e5' } } });
    expect(await idsIn(archive)).toEqual(['e1', 'e2', 'e3', 'late', 'e4', 'e5']);
    expect(service.queries()[1]).toContain('since=2026-11-20T11:59:00.002Z');
    expect(await look(service, archive)).toMatchObject({ added: 0 });
  });

  it.each([
    ['oldest', false],
    ['newest', true],
  ])('has every event once when reads a trail with the %s first end at any page', async (_, newestFirst) => {
    const service = await serveTrail(servedEvents(4500), { newestFirst });
    const archive = open();
    for (const answered of [0, 1, 3]) {
      let left = answered;
      service.instead = () => {
        left -= 1;
        return left < 0 ? 'drop' : undefined;
      };
      await expect(look(service, archive)).rejects.toThrow('failed');
      expect(await archive.head('acme')).toBeUndefined();
    }
    service.instead = () => undefined;
    await look(service, archive);
    expect((await idsIn(archive)).sort()).toEqual(ids(4500).sort());
    expect(await archive.head('acme')).toMatchObject({
      cursor: { id: 'e4500' },
      organizationId: 'org-acme',
    });
  });

  it('has an event that appears after one with a later time', async () => {
    const service = await serveTrail(servedEvents(3));
    const archive = open();
    await look(service, archive);
    service.events.splice(0, 0, servedEvent('late', { at: -30_000 }));
    expect(await look(service, archive)).toMatchObject({ added: 1, head: { cursor: { id: 'e3' } } });
    expect(await idsIn(archive)).toEqual(['late', 'e1', 'e2', 'e3']);
  });

  it('goes on past an event with a time of next year', async () => {
    const service = await serveTrail([
      servedEvent('e1', { at: 1 }),
      servedEvent('future', { at: 365 * day }),
    ]);
    const archive = open();
    await look(service, archive);
    service.events.splice(1, 0, servedEvent('e2', { at: 20_000 }));
    expect(await look(service, archive, 30_000)).toMatchObject({ added: 1 });
    service.events.splice(2, 0, servedEvent('e3', { at: 40_000 }));
    expect(await look(service, archive, 50_000)).toMatchObject({ added: 1 });
    expect(await idsIn(archive)).toEqual(['e1', 'e2', 'e3', 'future']);
    expect(await archive.gaps('acme')).toEqual([]);
  });

  it('is written by two at once without harm', async () => {
    const service = await serveTrail(servedEvents(2500));
    const name = newName();
    await Promise.all([look(service, open(name)), look(service, open(name))]);
    expect(await idsIn(open(name))).toHaveLength(2500);
  });

  it('does not move its cursor over a trail that kept changing', async () => {
    const service = await serveTrail(servedEvents(2500));
    service.instead = () => {
      service.events.shift();
      service.events.push(...servedEvents(1, 5000 + service.requests.length));
      return undefined;
    };
    const archive = open();
    await expect(look(service, archive)).rejects.toThrow('kept changing');
    expect(await archive.head('acme')).toBeUndefined();
    expect((await idsIn(archive)).length).toBeGreaterThan(2400);
  });

  it('that was filled with the token of another organization is reported', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    await look(service, archive);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    const wrong = 'the archive has the trail of organization "org-acme" under this target';
    service.events = [];
    await expect(look(service, archive, 10_000, 'org-other')).rejects.toThrow(wrong);
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    await expect(look(service, archive, 10_000, 'org-other')).rejects.toThrow(wrong);
    expect(await archive.gaps('acme')).toEqual([]);
  });

  it('keeps its reads by the clock of the service', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    service.dated = () => new Date(Date.now() + 40 * day);
    const { head } = await look(service, archive);
    expect(Math.round((head.readAt - noon) / day)).toBe(40);
    expect(head.readAt).toBe(Math.floor(head.readAt));
  });

  it('does not mix them either where the first read did not come to its end', async () => {
    const service = await serveTrail(servedEvents(2500));
    const archive = open();
    service.instead = (_, count) => (count > 2 ? 'drop' : undefined);
    await expect(look(service, archive)).rejects.toThrow('failed');
    expect(await idsIn(archive)).toHaveLength(1000);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    service.instead = () => undefined;
    await expect(look(service, archive)).rejects.toThrow('another organization');
    expect(await idsIn(archive)).toHaveLength(1000);
  });

  it('does not mix two organizations under one name', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    await look(service, archive);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    await expect(look(service, archive)).rejects.toThrow(
      'another organization: the target has the organization id "org-acme", an event has "org-other"',
    );
    expect(await idsIn(archive)).toEqual(['e1']);
  });
});

describe('a gap', () => {
  it('is reported when the last read is longer ago than the service keeps events', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    await look(service, archive, 100);
    const back = 20 * day;
    service.events = [servedEvent('new', { at: back - 1000 })];
    const { gap } = await look(service, archive, back);
    expect(gap).toMatchObject({ from: noon + 100, to: noon + back - 1000 });
    expect(gap?.why).toContain('longer ago than the service keeps events');
    expect(await archive.gaps('acme')).toEqual([gap]);
    expect((await look(service, archive, back + 1)).gap).toBeUndefined();
  });

  it('is reported when the clock of the service alone has moved on', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    await look(service, archive, 100);
    service.events = [servedEvent('new', { at: trailRetention + day })];
    expect((await look(service, archive, 200)).gap).toMatchObject({ from: noon + 100 });
  });

  it('is reported when the last event has gone before its time', async () => {
    const service = await serveTrail(servedEvents(5));
    const archive = open();
    await look(service, archive, 100);
    service.events = [servedEvent('new', { at: 5000 })];
    const { gap } = await look(service, archive, 10_000);
    expect(gap).toMatchObject({ from: noon + 5, to: noon + 5000 });
    expect(gap?.why).toContain('gone from the trail before its time');
  });

  it('is reported although an event with a time of next year is still there', async () => {
    const service = await serveTrail([
      servedEvent('e1', { at: 1 }),
      servedEvent('future', { at: 365 * day }),
    ]);
    const archive = open();
    await look(service, archive, 100);
    service.events = [servedEvent('e9', { at: 20 * day }), ...service.events.slice(1)];
    const { gap } = await look(service, archive, 20 * day + 100);
    expect(gap).toMatchObject({ from: noon + 100, to: noon + 20 * day });
  });

  it('is none while nothing happens and somebody reads', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    for (const now of [0, 10 * day, 20 * day, 30 * day]) {
      if (now > trailRetention) service.events = [];
      expect((await look(service, archive, now + 100)).gap).toBeUndefined();
    }
    service.events = [servedEvent('new', { at: 31 * day })];
    expect((await look(service, archive, 31 * day + 100)).gap).toBeUndefined();
  });

  it('is none before the first read, which is complete from the oldest event that the service keeps', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    expect((await look(service, archive, day)).gap).toBeUndefined();
    expect((await archive.head('acme'))?.completeFrom).toBe(noon + day - trailRetention);
  });

  it('is found again where the trail was empty at first', async () => {
    const service = await serveTrail();
    const archive = open();
    await look(service, archive, 0);
    service.events = [servedEvent('new', { at: 20 * day })];
    expect((await look(service, archive, 20 * day)).gap).toMatchObject({ from: noon });
  });
});
