// What an archive guarantees in every store: each event once, a cursor that only moves forward, and gaps that stay.
import { describe, expect, it } from 'vitest';
import { type Archive, eventsSince } from '../../src/audit-trail/archive.ts';
import { parseEvent } from '../../src/audit-trail/read-trail.ts';
import type { Json } from '../../src/model/json.ts';
import { servedEvent, servedEvents, type EventOptions } from '../support/audit/trail-service.ts';
import { archiveStores } from '../support/audit/stores.ts';

const parsed = (value: unknown) => parseEvent(value as Json, 'an event');
const event = (id: string, options: EventOptions = {}) => parsed(servedEvent(id, options));
const events = (count: number, from = 1) => servedEvents(count, from).map(parsed);
const noon = Date.parse('2026-11-20T12:00:00Z');
const trail = 'workspaces acme at https://app.example.com';

async function idsIn(archive: Archive, window = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const some of archive.newestFirst(trail, window)) ids.push(...some.map(({ id }) => id));
  return ids;
}

describe.each(archiveStores)('an archive in %s', (_, storeOf, isAvailable) => {
  describe.skipIf(!isAvailable)('', () => {
    const store = storeOf();
    const headAt = (id: string, at: number) => ({
      cursor: { at, id },
      organizationId: 'org-acme',
      readAt: at,
      completeFrom: 0,
    });

    it('has each event once, no matter how often it is added', async () => {
      const archive = store.open();
      expect(await archive.keep(trail, { events: events(3) })).toBe(3);
      expect(await archive.keep(trail, { events: [...events(5), ...events(2)] })).toBe(2);
      expect(await idsIn(archive)).toEqual(['e5', 'e4', 'e3', 'e2', 'e1']);
    });

    it('returns an event exactly as the service reported it', async () => {
      const archive = store.open();
      const reported = servedEvent('e1', { more: { version: 3, policy_engine: 'x', note: '‮\n"quoted"' } });
      await archive.keep(trail, { events: [parsed(reported)] });
      for await (const [kept] of archive.newestFirst(trail)) expect(kept?.raw).toEqual(reported);
    });

    it('returns thousands of events in order, also those of one millisecond', async () => {
      const archive = store.open();
      const many = Array.from({ length: 2100 }, (_, index) => event(`e${10_000 + index}`));
      await archive.keep(trail, { events: many });
      expect(await idsIn(archive)).toEqual(many.map(({ id }) => id).reverse());
    });

    it('returns the events after one time and up to another', async () => {
      const archive = store.open();
      await archive.keep(trail, { events: events(9) });
      expect(await idsIn(archive, { since: noon + 3, until: noon + 6 })).toEqual(['e6', 'e5', 'e4']);
    });

    it('keeps the trails of several organizations apart', async () => {
      const archive = store.open();
      await archive.keep(trail, { events: events(2) });
      await archive.keep('another', { events: events(1), head: headAt('e1', 1) });
      expect(await idsIn(archive)).toHaveLength(2);
      expect(await archive.head(trail)).toBeUndefined();
      expect(await archive.trails()).toEqual(['another', trail]);
    });

    it('moves its cursor forward and never back, no matter which write comes last', async () => {
      const archive = store.open();
      await archive.keep(trail, { events: [], head: { readAt: 5, completeFrom: 3 } });
      expect(await archive.head(trail)).toEqual({ readAt: 5, completeFrom: 3 });
      await archive.keep(trail, { events: [], head: headAt('late', 20) });
      await archive.keep(trail, { events: [], head: headAt('early', 10) });
      expect(await archive.head(trail)).toEqual({ ...headAt('late', 20), completeFrom: 3 });
    });

    it('keeps a gap once', async () => {
      const archive = store.open();
      const gap = { from: 1, to: 9, noticedAt: 20, why: 'it was away' };
      await archive.keep(trail, { events: [], gap });
      await archive.keep(trail, { events: [], gap });
      expect(await archive.gaps(trail)).toEqual([gap]);
    });

    it('stores a write completely or not at all', async () => {
      const archive = store.open();
      await archive.keep(trail, { events: events(1) });
      const broken = { from: 1, to: 2, noticedAt: 3, why: null as unknown as string };
      await expect(
        archive.keep(trail, { events: events(3), gap: broken, head: headAt('e3', 3) }),
      ).rejects.toThrow();
      expect(await idsIn(archive)).toEqual(['e1']);
      expect(await archive.head(trail)).toBeUndefined();
    });

    it('can be written by several processes at the same time', async () => {
      const name = store.newName();
      await Promise.all([1, 2, 3, 4].map(() => store.open(name).keep(trail, { events: events(300) })));
      expect(await idsIn(store.open(name))).toHaveLength(300);
    });

    it('is not created by a read', async () => {
      const name = store.newName();
      const archive = store.open(name);
      expect(await archive.head(trail)).toBeUndefined();
      expect(await idsIn(archive)).toEqual([]);
      await expect(store.open(name).trails()).rejects.toThrow(
        'does not exist: "trueup audit archive" creates it',
      );
    });

    it('covers no period after reading an empty trail, which may be of another organization', async () => {
      const archive = store.open();
      await archive.keep(trail, { events: [], head: { readAt: noon, completeFrom: 0 } });
      expect((await eventsSince(archive, trail, noon - 1)).until).toBeUndefined();
    });

    it('reports whether it has all events since a time', async () => {
      const archive = store.open();
      expect(await eventsSince(archive, trail, 0)).toEqual({ events: [], isComplete: false, gaps: [] });
      const head = { ...headAt('e5', noon + 5), completeFrom: noon };
      await archive.keep(trail, { events: events(5), head });
      const since = await eventsSince(archive, trail, noon + 3);
      expect(since).toMatchObject({ isComplete: true, until: noon + 5, gaps: [] });
      expect(since.events.map(({ id }) => id)).toEqual(['e4', 'e5']);
      expect((await eventsSince(archive, trail, noon - 1)).isComplete).toBe(false);
      const gap = { from: noon + 1, to: noon + 4, noticedAt: noon, why: 'it was away' };
      await archive.keep(trail, { events: [], gap });
      expect(await eventsSince(archive, trail, noon + 3)).toMatchObject({ isComplete: false, gaps: [gap] });
      expect(await eventsSince(archive, trail, noon + 4)).toMatchObject({ isComplete: true, gaps: [] });
    });
  });
});
