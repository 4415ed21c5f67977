// archiveTrail copies a trail into an archive: an interrupted read neither loses nor repeats events, and lost events are a gap.
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

/** Archives the trail once, at `now` in milliseconds after noon. @param organizationId of the target, if it is known */
function archiveOnce(service: TrailService, archive: Archive, now = 10_000, organizationId?: string) {
  const channel = channelTo(service);
  return archiveTrail({
    channel,
    archive,
    trail: 'acme',
    now: noon + now,
    organization: async () => organizationId,
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
  it('receives new events, read from a minute before its last event', async () => {
    const service = await serveTrail(servedEvents(3));
    const archive = open();
    expect(await archiveOnce(service, archive)).toMatchObject({ added: 3 });
    service.events.push(servedEvent('late', { at: 3 }), ...servedEvents(2, 4));
    expect(await archiveOnce(service, archive)).toMatchObject({ added: 3, head: { cursor: { id: 'e5' } } });
    expect(await idsIn(archive)).toEqual(['e1', 'e2', 'e3', 'late', 'e4', 'e5']);
    expect(service.queries()[1]).toContain('since=2026-11-20T11:59:00.002Z');
    expect(await archiveOnce(service, archive)).toMatchObject({ added: 0 });
  });

  it.each([
    ['oldest', false],
    ['newest', true],
  ])(
    'has every event once after reads that ended at any page of a trail with the %s first',
    async (_, newestFirst) => {
      const service = await serveTrail(servedEvents(4500), { newestFirst });
      const archive = open();
      for (const answered of [0, 1, 3]) {
        let left = answered;
        service.override = () => {
          left -= 1;
          return left < 0 ? 'drop' : undefined;
        };
        await expect(archiveOnce(service, archive)).rejects.toThrow('failed');
        expect(await archive.head('acme')).toBeUndefined();
      }
      service.override = () => undefined;
      await archiveOnce(service, archive);
      expect((await idsIn(archive)).sort()).toEqual(ids(4500).sort());
      expect(await archive.head('acme')).toMatchObject({
        cursor: { id: 'e4500' },
        organizationId: 'org-acme',
      });
    },
  );

  it('receives an event that appears in the trail after one with a later time', async () => {
    const service = await serveTrail(servedEvents(3));
    const archive = open();
    await archiveOnce(service, archive);
    service.events.splice(0, 0, servedEvent('late', { at: -30_000 }));
    expect(await archiveOnce(service, archive)).toMatchObject({ added: 1, head: { cursor: { id: 'e3' } } });
    expect(await idsIn(archive)).toEqual(['late', 'e1', 'e2', 'e3']);
  });

  it('receives new events after one with a time in the next year', async () => {
    const service = await serveTrail([
      servedEvent('e1', { at: 1 }),
      servedEvent('future', { at: 365 * day }),
    ]);
    const archive = open();
    await archiveOnce(service, archive);
    service.events.splice(1, 0, servedEvent('e2', { at: 20_000 }));
    expect(await archiveOnce(service, archive, 30_000)).toMatchObject({ added: 1 });
    service.events.splice(2, 0, servedEvent('e3', { at: 40_000 }));
    expect(await archiveOnce(service, archive, 50_000)).toMatchObject({ added: 1 });
    expect(await idsIn(archive)).toEqual(['e1', 'e2', 'e3', 'future']);
    expect(await archive.gaps('acme')).toEqual([]);
  });

  it('has every event once when two processes write it at the same time', async () => {
    const service = await serveTrail(servedEvents(2500));
    const name = newName();
    await Promise.all([archiveOnce(service, open(name)), archiveOnce(service, open(name))]);
    expect(await idsIn(open(name))).toHaveLength(2500);
  });

  it('does not move its cursor if the trail kept changing while it was read', async () => {
    const service = await serveTrail(servedEvents(2500));
    service.override = () => {
      service.events.shift();
      service.events.push(...servedEvents(1, 5000 + service.requests.length));
      return undefined;
    };
    const archive = open();
    await expect(archiveOnce(service, archive)).rejects.toThrow('kept changing');
    expect(await archive.head('acme')).toBeUndefined();
    expect((await idsIn(archive)).length).toBeGreaterThan(2400);
  });

  it('reports that it was filled with the token of another organization', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    await archiveOnce(service, archive);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    const wrong = 'the archive has the trail of organization "org-acme" under this target';
    service.events = [];
    await expect(archiveOnce(service, archive, 10_000, 'org-other')).rejects.toThrow(wrong);
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    await expect(archiveOnce(service, archive, 10_000, 'org-other')).rejects.toThrow(wrong);
    expect(await archive.gaps('acme')).toEqual([]);
  });

  it('records the time of a read by the clock of the service', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    service.dateHeader = () => new Date(Date.now() + 40 * day);
    const { head } = await archiveOnce(service, archive);
    expect(Math.round((head.readAt - noon) / day)).toBe(40);
    expect(head.readAt).toBe(Math.floor(head.readAt));
  });

  it('does not mix two organizations after a first read that was interrupted', async () => {
    const service = await serveTrail(servedEvents(2500));
    const archive = open();
    service.override = (_, count) => (count > 2 ? 'drop' : undefined);
    await expect(archiveOnce(service, archive)).rejects.toThrow('failed');
    expect(await idsIn(archive)).toHaveLength(1000);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    service.override = () => undefined;
    await expect(archiveOnce(service, archive)).rejects.toThrow('another organization');
    expect(await idsIn(archive)).toHaveLength(1000);
  });

  it('does not mix two organizations under one name', async () => {
    const service = await serveTrail(servedEvents(1));
    const archive = open();
    await archiveOnce(service, archive);
    const auth = { accessor_id: 'u', description: 'u', type: 'Client', organization_id: 'org-other' };
    service.events = [servedEvent('x', { at: 9, more: { auth } })];
    await expect(archiveOnce(service, archive)).rejects.toThrow(
      'another organization: the target has the organization id "org-acme", an event has "org-other"',
    );
    expect(await idsIn(archive)).toEqual(['e1']);
  });
});

describe('a gap', () => {
  it('is reported when the last read is longer ago than the service keeps events', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    await archiveOnce(service, archive, 100);
    const back = 20 * day;
    service.events = [servedEvent('new', { at: back - 1000 })];
    const { gap } = await archiveOnce(service, archive, back);
    expect(gap).toMatchObject({ from: noon + 100, to: noon + back - 1000 });
    expect(gap?.why).toContain('longer ago than the service keeps events');
    expect(await archive.gaps('acme')).toEqual([gap]);
    expect((await archiveOnce(service, archive, back + 1)).gap).toBeUndefined();
  });

  it('is reported when only the clock of the service has moved forward', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    await archiveOnce(service, archive, 100);
    service.events = [servedEvent('new', { at: trailRetention + day })];
    expect((await archiveOnce(service, archive, 200)).gap).toMatchObject({ from: noon + 100 });
  });

  it('is reported when the last event left the trail before its retention ended', async () => {
    const service = await serveTrail(servedEvents(5));
    const archive = open();
    await archiveOnce(service, archive, 100);
    service.events = [servedEvent('new', { at: 5000 })];
    const { gap } = await archiveOnce(service, archive, 10_000);
    expect(gap).toMatchObject({ from: noon + 5, to: noon + 5000 });
    expect(gap?.why).toContain('gone from the trail before its time');
  });

  it('is reported although an event with a time in the next year is still in the trail', async () => {
    const service = await serveTrail([
      servedEvent('e1', { at: 1 }),
      servedEvent('future', { at: 365 * day }),
    ]);
    const archive = open();
    await archiveOnce(service, archive, 100);
    service.events = [servedEvent('e9', { at: 20 * day }), ...service.events.slice(1)];
    const { gap } = await archiveOnce(service, archive, 20 * day + 100);
    expect(gap).toMatchObject({ from: noon + 100, to: noon + 20 * day });
  });

  it('is not reported while the trail is read regularly and has no new events', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    for (const now of [0, 10 * day, 20 * day, 30 * day]) {
      if (now > trailRetention) service.events = [];
      expect((await archiveOnce(service, archive, now + 100)).gap).toBeUndefined();
    }
    service.events = [servedEvent('new', { at: 31 * day })];
    expect((await archiveOnce(service, archive, 31 * day + 100)).gap).toBeUndefined();
  });

  it('is not reported by the first read, which is complete for the retention period', async () => {
    const service = await serveTrail(servedEvents(2));
    const archive = open();
    expect((await archiveOnce(service, archive, day)).gap).toBeUndefined();
    expect((await archive.head('acme'))?.completeFrom).toBe(noon + day - trailRetention);
  });

  it('is also reported if the trail was empty at the first read', async () => {
    const service = await serveTrail();
    const archive = open();
    await archiveOnce(service, archive, 0);
    service.events = [servedEvent('new', { at: 20 * day })];
    expect((await archiveOnce(service, archive, 20 * day)).gap).toMatchObject({ from: noon });
  });
});
