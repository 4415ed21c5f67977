/** A trail of twenty thousand events is read completely in pages, each event exactly once, with an index for its order. */
import { expect, it } from 'vitest';

import { Database } from '../../src/server/kernel/database.ts';
import { readTrail, trailOf } from '../support/server/audit-trails/read-trail.ts';
import { temporaryDataFile } from '../support/server/data-file.ts';
import { seedWith, serveForTest } from '../support/server/serve-for-test.ts';

const COUNT = 20_000;
const BEGIN = Date.parse('2026-03-01T00:00:00Z');

/** Three events have the same time, so that ties are at the ends of pages, too. */
const at = (index: number): string => new Date(BEGIN + Math.floor(index / 3)).toISOString();

it('a large trail is read page by page, each event once and in order', async () => {
  const events = Array.from({ length: COUNT }, (_, index) => ({
    type: 'run',
    action: 'apply',
    resource: `run-${index}`,
    at: at(index),
  }));
  const data = temporaryDataFile();
  const now = () => new Date(BEGIN + 3_600_000);
  const api = await serveForTest({ data, now, seed: seedWith({ 'audit-events': events }) });
  const read: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { data: events, pagination } = await readTrail(api, `?page[number]=${page}`);
    expect([events.length, pagination['total_count']]).toEqual([1000, COUNT]);
    read.push(...events.map(({ resource }) => resource.id));
    page = pagination['next_page'] ?? null;
  }
  expect(read).toEqual(events.map(({ resource }) => resource));
  const since = await readTrail(api, `?since=${at(COUNT - 1)}`);
  expect(since.data).toEqual([]);
  expect((await trailOf(api)).length).toBe(1000);

  const database = Database.open(data);
  const plan = database.all<{ detail: string }>(
    `EXPLAIN QUERY PLAN SELECT * FROM audit_events WHERE organization_id = 'o' AND timestamp > '2026'
     ORDER BY timestamp, position LIMIT 1000 OFFSET 19000`,
  );
  database.close();
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH audit_events USING INDEX audit_events_by_organization (organization_id=? AND timestamp>?)',
  ]);
});
