import { DatabaseSync } from 'node:sqlite';

import { expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';
import { readTrail, trailOf } from '../../support/server/audit-trails/read-trail.ts';
import { temporaryDataFile } from '../../support/server/data-file.ts';
import { seedWith } from '../../support/server/serve-for-test.ts';

const now = () => new Date('2026-03-15T12:00:00.000Z');
const FORTNIGHT_AGO = '2026-03-01T12:00:00';

const seed = seedWith({
  'audit-events': [
    { type: 'stack', action: 'create', resource: 'at', at: `${FORTNIGHT_AGO}.000Z` },
    { type: 'stack', action: 'create', resource: 'after', at: `${FORTNIGHT_AGO}.001Z` },
  ],
});

it('answers and counts only the events of the last 14 days, to the millisecond', async () => {
  const { api } = await serveWithAdmin({ now, seed });
  for (const query of ['', '?since=2020-01-01T00:00:00Z']) {
    const { data, pagination } = await readTrail(api, query);
    expect([data.map(({ resource }) => resource.id), pagination['total_count']]).toEqual([['after'], 1]);
  }
});

it('hides expired events by the movable clock, and shows them again when it is moved back', async () => {
  const { api, admin } = await serveWithAdmin({ now, seed });
  const ids = async () => (await trailOf(api)).map(({ resource }) => resource.id);
  await admin('POST', '/clock', { 'advance-seconds': 1 });
  expect(await ids()).toEqual([]);
  await admin('POST', '/clock', { 'advance-seconds': -2 });
  expect(await ids()).toEqual(['at', 'after']);
});

it('deletes expired events from the data file at the next start, and adds no seeded event again', async () => {
  const data = temporaryDataFile();
  let time = now().getTime();
  await serveWithAdmin({ data, seed, now });
  const kept = () => {
    const database = new DatabaseSync(data, { readOnly: true });
    const rows = database.prepare('SELECT resource_id FROM audit_events').all();
    database.close();
    return rows.map((row) => row['resource_id']);
  };
  expect(kept()).toEqual(['at', 'after']);
  await serveWithAdmin({ data, seed, now: () => new Date(time) });
  expect(kept()).toEqual(['after']);
  time += 1;
  await serveWithAdmin({ data, seed, now: () => new Date(time) });
  expect(kept()).toEqual([]);
});

it('keeps the trail of a deleted organization, with the user who deleted it', async () => {
  const data = temporaryDataFile();
  const { api } = await serveWithAdmin({ data, now, seed });
  expect((await api.delete('/organizations/acme')).status).toBe(204);
  const database = new DatabaseSync(data, { readOnly: true });
  const rows = database
    .prepare('SELECT actor_name, resource_type, resource_action FROM audit_events ORDER BY position DESC')
    .all();
  database.close();
  expect(rows[0]).toMatchObject({
    actor_name: 'ann',
    resource_type: 'organization',
    resource_action: 'destroy',
  });
});

it('lets the audit trail token of a deleted organization read the trail for 14 more days', async () => {
  const tokens = seedWith({ 'audit-trails-token': 'trail-of-acme' });
  const { api, admin } = await serveWithAdmin({ now, seed: tokens });
  expect((await api.delete('/organizations/acme')).status).toBe(204);
  const trail = api.as('trail-of-acme');
  expect((await trailOf(api, 'trail-of-acme')).at(-1)).toMatchObject({
    auth: { description: 'ann' },
    resource: { type: 'organization', action: 'destroy' },
  });
  expect((await trail.get('/organizations')).status).toBe(403);
  expect((await api.as('acme-organization').get('/organization/audit-trail')).status).toBe(401);
  await admin('POST', '/clock', { 'advance-seconds': 14 * 86_400 - 1 });
  expect((await trailOf(api, 'trail-of-acme')).map(({ resource }) => resource.action)).toEqual(['destroy']);
  await admin('POST', '/clock', { 'advance-seconds': 1 });
  expect((await trail.get('/organization/audit-trail')).status).toBe(401);
});
