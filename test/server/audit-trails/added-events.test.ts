import { describe, expect, it } from 'vitest';

import type { AddedEvent } from '../../../src/server/workspaces/audit-event-schema.ts';
import { readSeed } from '../../../src/server/seed/read-seed.ts';
import { serveWithAdmin } from '../../support/server/admin-client.ts';
import { trailOf } from '../../support/server/audit-trails/read-trail.ts';
import { temporaryDataFile } from '../../support/server/data-file.ts';
import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const NOON = '2026-03-01T12:00:00.000Z';
const now = () => new Date(NOON);

const seeded = (...events: readonly AddedEvent[]) => seedWith({ 'audit-events': events });

describe('the events of a seed', () => {
  it('are shown with their time, their actor, their request and their meta', async () => {
    const api = await serveForTest({
      now,
      seed: seeded({
        type: 'team',
        action: 'add_member',
        resource: 'team-7',
        at: '2026-02-27T09:30:00.250+01:00',
        by: 'ann',
        'request-id': '0f0e0d0c-0b0a-4908-8706-050403020100',
        meta: { user: 'bob' },
      }),
    });
    const user = (await api.get('/account/details')).resource;
    expect(await trailOf(api)).toMatchObject([
      {
        timestamp: '2026-02-27T08:30:00.250Z',
        auth: { type: 'Client', accessor_id: user.id, description: 'ann', impersonator_id: null },
        request: { id: '0f0e0d0c-0b0a-4908-8706-050403020100' },
        resource: { id: 'team-7', type: 'team', action: 'add_member', meta: { user: 'bob' } },
      },
    ]);
  });

  it('have the current time and the service as the actor by default', async () => {
    const api = await serveForTest({ now, seed: seeded({ type: 'stack', action: 'create' }) });
    expect(await trailOf(api)).toMatchObject([
      {
        timestamp: NOON,
        auth: { type: 'System', accessor_id: expect.stringMatching(/^user-/), description: 'system' },
        request: { id: null },
        resource: { id: expect.any(String) },
      },
    ]);
  });

  it('may have an impersonator', async () => {
    const api = await serveForTest({
      now,
      seed: seeded({ type: 'policy', action: 'update', by: 'ann', 'impersonated-by': 'bob' }),
    });
    const [event] = await trailOf(api);
    const bob = (await api.as('bob').get('/account/details')).resource;
    expect(event?.auth).toMatchObject({
      type: 'Impersonated',
      description: 'ann',
      impersonator_id: bob.id,
    });
  });

  it('are added once, also after the seed was edited; two equal events are both added', async () => {
    const data = temporaryDataFile();
    const one = { type: 'stack', action: 'create', resource: 'st-1', at: NOON };
    const count = async (seed: ReturnType<typeof seeded>) =>
      (await trailOf(await serveForTest({ data, now, seed }))).length;
    expect(await count(seeded(one, one))).toBe(2);
    expect(await count(seeded(one, one))).toBe(2);
    expect(await count(seeded({ ...one, resource: 'st-2' }, one, one))).toBe(3);
  });

  it('are sorted by time among the events of requests', async () => {
    const api = await serveForTest({
      now,
      seed: seeded(
        { type: 'stack', action: 'create', at: '2026-03-01T12:00:01Z' },
        { type: 'vcs_repo', action: 'create', at: '2026-03-01T11:59:59Z' },
      ),
    });
    await api.create({ name: 'a' });
    const types = (await trailOf(api)).map(({ resource }) => resource.type);
    expect(types).toEqual(['vcs_repo', 'workspace', 'stack']);
  });

  it.each([
    [{ type: 'stork', action: 'create' }, 'organizations[0].audit-events[0].type must be one of '],
    [{ type: 'run', action: 'fly' }, 'organizations[0].audit-events[0].action must be one of '],
    [{ type: 'team', action: 'add_member' }, 'organizations[0].audit-events[0].meta must be a map'],
    [{ type: 'stack', action: 'create', by: 'zoe' }, 'organizations[0] names the user "zoe"'],
    [
      { type: 'stack', action: 'create', by: 'ann', 'impersonated-by': 'zoe' },
      'organizations[0] names the user "zoe"',
    ],
  ])('are refused with the place of the error: %j', (event, why) => {
    expect(() => readSeed(seeded(event))).toThrow(why);
  });
});

describe('the events that are added with the admin API', () => {
  it('are shown like those of a seed, with the time of the moved clock', async () => {
    const { api, admin } = await serveWithAdmin({ now });
    await admin('POST', '/clock', { 'advance-seconds': 60 });
    const events = [
      { type: 'agent', action: 'destroy', resource: 'agent-1', by: 'ann' },
      { type: 'agent', action: 'destroy', resource: 'agent-2', at: '2026-03-01T11:00:00Z' },
    ];
    const answer = await admin('POST', '/audit-events', { organization: 'acme', events });
    expect(answer.status).toBe(201);
    const trail = await trailOf(api);
    expect(trail.map(({ resource, timestamp }) => [resource.id, timestamp])).toEqual([
      ['agent-2', '2026-03-01T11:00:00.000Z'],
      ['agent-1', '2026-03-01T12:01:00.000Z'],
    ]);
    expect(JSON.parse(answer.text)).toEqual({ ids: [trail[1]?.id, trail[0]?.id] });
  });

  it('are all added, or none of them', async () => {
    const { api, admin } = await serveWithAdmin({ now });
    const fine = { type: 'agent', action: 'destroy' };
    for (const wrong of [
      { ...fine, action: 'create' },
      { ...fine, by: 'zoe' },
    ]) {
      const answer = await admin('POST', '/audit-events', { organization: 'acme', events: [fine, wrong] });
      expect(answer.status).toBe(422);
    }
    expect(await trailOf(api)).toEqual([]);
  });

  it('need an existing organization, and a list of events', async () => {
    const { admin } = await serveWithAdmin({ now });
    const put = async (body: object) => (await admin('POST', '/audit-events', body)).status;
    expect(await put({ organization: 'nowhere', events: [] })).toBe(404);
    expect(await put({ organization: 'acme' })).toBe(422);
    expect(await put({ organization: 'acme', events: 'all' })).toBe(422);
  });
});
