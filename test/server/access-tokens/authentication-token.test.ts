import { describe, expect, it } from 'vitest';

import { API_ENDPOINTS } from '../../../src/server/workspaces-endpoints.ts';
import { SEED, seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const ORGANIZATION = '/organizations/acme/authentication-token';

it('creates a token for the organization, shows it once, and revokes it', async () => {
  const api = await serveForTest();
  expect((await api.get(ORGANIZATION)).status).toBe(404);
  const made = await api.post(ORGANIZATION);
  expect(made.status).toBe(201);
  const token = made.resource.attributes['token'] as string;
  expect((await api.as(token).get('/organizations')).names).toEqual(['acme']);
  const shown = await api.get(ORGANIZATION);
  expect(shown.resource).toMatchObject({ id: made.resource.id, attributes: { token: null } });
  expect(shown.text).not.toContain(token);
  expect((await api.delete(ORGANIZATION)).status).toBe(204);
  expect((await api.as(token).get('/organizations')).status).toBe(401);
  expect((await api.as('acme-organization').get('/organizations')).status).toBe(200);
});

it('revokes the previous token when it creates another one', async () => {
  const api = await serveForTest();
  const first = (await api.post(ORGANIZATION)).resource.attributes['token'] as string;
  const second = (await api.post(ORGANIZATION)).resource.attributes['token'] as string;
  expect((await api.as(first).get('/organizations')).status).toBe(401);
  expect((await api.as(second).get('/organizations')).status).toBe(200);
});

it('creates a token that expires', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const api = await serveForTest({ now: () => now });
  const body = (time: string) => ({
    data: { type: 'authentication-tokens', attributes: { 'expired-at': time } },
  });
  expect((await api.post(ORGANIZATION, body('soon'))).pointers).toEqual(['/data/attributes/expired-at']);
  const made = await api.post(ORGANIZATION, body('2026-01-02T00:00:00Z'));
  const token = made.resource.attributes['token'] as string;
  expect((await api.as(token).get('/organizations')).status).toBe(200);
  now = new Date('2026-01-02T00:00:00Z');
  expect((await api.as(token).get('/organizations')).status).toBe(401);
});

it('names the user who created a token', async () => {
  const api = await serveForTest();
  const { id } = (await api.get('/account/details')).resource;
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  for (const path of [ORGANIZATION, `/teams/${team?.id}/authentication-token`]) {
    const made = await api.post(path);
    expect(made.resource.relationships['created-by']?.data).toEqual({ id, type: 'users' });
    expect((await api.get(path)).resource.relationships).toEqual(made.resource.relationships);
  }
});

describe('in the dialect hcp-terraform', () => {
  const expiring = (time: string | null) => ({
    data: { type: 'authentication-token', attributes: { 'expired-at': time } },
  });

  it('a token expires after 24 months unless a request says otherwise', async () => {
    let now = new Date('2026-01-31T08:00:00Z');
    const api = await serveForTest({ now: () => now, dialects: ['hcp-terraform'] });
    const [team] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
    const path = `/teams/${team?.id}/authentication-token`;
    const ends = [await api.post(path), await api.post(ORGANIZATION), await api.get(ORGANIZATION)];
    for (const { resource } of ends)
      expect(resource.attributes['expired-at']).toBe('2028-01-31T08:00:00.000Z');
    const token = ends[0]?.resource.attributes['token'] as string;
    now = new Date('2028-01-31T08:00:00Z');
    expect((await api.as(token).get('/organizations')).status).toBe(401);
  });

  it.each(['2027-01-02T03:04:05.000Z', '2020-01-02T03:04:05.000Z'])(
    'a token keeps the expiry %s, also one in the past',
    async (time) => {
      const api = await serveForTest({
        dialects: ['hcp-terraform'],
        now: () => new Date('2026-01-01T00:00:00Z'),
      });
      const made = await api.post(ORGANIZATION, expiring(time));
      expect([made.status, made.resource.attributes['expired-at']]).toEqual([201, time]);
      expect((await api.get(ORGANIZATION)).resource.attributes['expired-at']).toBe(time);
    },
  );
});

it('creates a token of a team, whose locks belong to the team', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  const path = `/teams/${team?.id}/authentication-token`;
  const made = (await api.post(path)).resource;
  const token = made.attributes['token'] as string;
  const locked = await api.as(token).post(`/workspaces/${id}/actions/lock`);
  expect(locked.resource.relationships['locked-by']?.data).toEqual({ id: team?.id, type: 'teams' });
  expect((await api.as('managers').post(path)).status).toBe(404);
  const shown = (await api.get(path)).resource;
  expect(shown).toMatchObject({ id: made.id, type: 'authentication-tokens', attributes: { token: null } });
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
  expect((await api.as(token).get(`/workspaces/${id}`)).status).toBe(401);
});

it('creates the token of an organization only for owners', async () => {
  const api = await serveForTest();
  for (const token of ['managers', 'acme-organization', 'eve']) {
    expect((await api.as(token).post(ORGANIZATION)).status).toBe(404);
  }
});

it('creates, shows and revokes the token of the team "owners" only for owners', async () => {
  const api = await serveForTest();
  const [owners] = (await api.get('/organizations/acme/teams?filter[names]=owners')).resources;
  const path = `/teams/${owners?.id}/authentication-token`;
  const organization = api.as('acme-organization');
  expect((await organization.post(path)).status).toBe(404);
  expect((await api.post(path)).status).toBe(201);
  expect((await organization.post(path)).status).toBe(404);
  expect((await organization.get(path)).status).toBe(404);
  expect((await organization.delete(path)).status).toBe(404);
  expect((await api.get(path)).status).toBe(200);
});

it('refuses an expiry in the past, and keeps the existing token', async () => {
  const api = await serveForTest({ now: () => new Date('2026-01-02T00:00:00Z') });
  const token = (await api.post(ORGANIZATION)).resource.attributes['token'] as string;
  for (const end of ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']) {
    const attributes = { 'expired-at': end };
    const refused = await api.post(ORGANIZATION, { data: { type: 'authentication-tokens', attributes } });
    expect(refused.status).toBe(422);
    expect(refused.pointers).toEqual(['/data/attributes/expired-at']);
  }
  expect((await api.as(token).get('/organizations')).status).toBe(200);
});

it('gives each team its own account, also if organization and team names join to the same text', async () => {
  const holders = [
    { organization: 'a-b', team: 'c' },
    { organization: 'a', team: 'b-c' },
  ];
  const api = await serveForTest({
    seed: {
      ...SEED,
      organizations: holders.map(({ organization, team }) => ({
        name: organization,
        teams: [
          { name: 'owners', members: ['ann'] },
          { name: team, token: `seeded-${organization}`, 'manage-workspaces': true },
        ],
      })),
    },
  });
  const users = [];
  for (const { organization, team } of holders) {
    const path = `/organizations/${organization}`;
    const [found] = (await api.get(`${path}/teams?filter[names]=${team}`)).resources;
    const made = await api.post(`/teams/${found?.id}/authentication-token`);
    const tokens = [`seeded-${organization}`, made.resource.attributes['token'] as string];
    const makers = [];
    for (const [index, token] of tokens.entries()) {
      const body = { data: { type: 'workspaces', attributes: { name: `by-${index}` } } };
      const workspace = (await api.as(token).post(`${path}/workspaces`, body)).resource.id;
      const relationships = { workspace: { data: { type: 'workspaces', id: workspace } } };
      const run = await api.as(token).post('/runs', { data: { type: 'runs', relationships } });
      makers.push((run.resource.relationships['created-by'] as { data: { id: string } }).data.id);
    }
    expect(new Set(makers).size).toBe(1);
    users.push(makers[0]);
  }
  expect(new Set(users).size).toBe(2);
});

it('creates a token that may only read the audit trail, beside the organization`s own', async () => {
  const api = await serveForTest();
  const FOR_TRAIL = `${ORGANIZATION}?token=audit-trails`;
  const own = String((await api.post(ORGANIZATION)).resource.attributes['token']);
  expect((await api.get(FOR_TRAIL)).status).toBe(404);
  const made = await api.post(FOR_TRAIL);
  expect(made.status).toBe(201);
  const reader = api.as(String(made.resource.attributes['token']));
  const open = ['/organization/audit-trail', '/ping'];
  expect((await reader.get('/organization/audit-trail')).status).toBe(200);
  expect((await reader.get('/ping')).status).toBe(204);
  for (const { method, path, needsOfDialect } of API_ENDPOINTS) {
    if (needsOfDialect !== undefined || open.includes(path)) continue;
    const asked = path.replaceAll(/:organization_name/g, 'acme').replaceAll(/:\w+/g, 'some');
    const answer = await reader.send(method, asked);
    expect([method, path, answer.status]).toEqual([method, path, 403]);
    expect(answer.errors[0]?.detail).toContain('audit trail');
  }
  expect((await api.get(FOR_TRAIL)).resource).toMatchObject({ id: made.resource.id });
  expect((await api.get(ORGANIZATION)).resource.id).not.toBe(made.resource.id);
  expect((await api.delete(FOR_TRAIL)).status).toBe(204);
  expect((await reader.get('/organization/audit-trail')).status).toBe(401);
  expect((await api.as(own).get('/organization/audit-trail')).status).toBe(200);
});

it('refuses to create a token of an unknown kind, and revokes none', async () => {
  const api = await serveForTest();
  const own = String((await api.post(ORGANIZATION)).resource.attributes['token']);
  const answer = await api.post(`${ORGANIZATION}?token=audit-trial`);
  expect([answer.status, answer.errors[0]?.source]).toEqual([400, { parameter: 'token' }]);
  expect((await api.as(own).get('/organizations')).status).toBe(200);
  const self = await serveForTest({ edition: 'self-hosted' });
  expect((await self.post(`${ORGANIZATION}?token=audit-trails`)).status).toBe(400);
});

it('accepts a token for the audit trail from a seed', async () => {
  const api = await serveForTest({ seed: seedWith({ 'audit-trails-token': 'trail-of-acme' }) });
  const reader = api.as('trail-of-acme');
  expect((await reader.get('/organization/audit-trail')).status).toBe(200);
  expect((await reader.get('/organizations/acme')).status).toBe(403);
  const twice = seedWith({ 'audit-trails-token': 'managers' });
  await expect(serveForTest({ seed: twice })).rejects.toThrow('audit-trails-token repeats the token of');
});

it('creates several tokens of a team, each with a unique description', async () => {
  const api = await serveForTest();
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  const path = `/teams/${team?.id}/authentication-tokens`;
  const described = (description: string | null) => ({
    data: { type: 'authentication-tokens', attributes: { description } },
  });
  const single = await api.post(`/teams/${team?.id}/authentication-token`);
  const [one, two] = [await api.post(path, described('ci')), await api.post(path, described('cd'))];
  expect([one.status, two.status]).toEqual([201, 201]);
  for (const { resource } of [single, one, two]) {
    const token = String(resource.attributes['token']);
    expect((await api.as(token).get('/organizations')).names).toEqual(['acme']);
  }
  const shown = await api.get(`/authentication-tokens/${one.resource.id}`);
  expect(shown.resource).toMatchObject({
    id: one.resource.id,
    attributes: { description: 'ci', token: null },
    relationships: { team: { data: { id: team?.id, type: 'teams' } } },
  });
  expect((await api.post(path, described('ci'))).pointers).toEqual(['/data/attributes/description']);
  expect((await api.post(path, described(null))).pointers).toEqual(['/data/attributes/description']);
  expect((await api.as('managers').get(`/authentication-tokens/${one.resource.id}`)).status).toBe(404);
  expect((await api.delete(`/authentication-tokens/${one.resource.id}`)).status).toBe(204);
  expect((await api.as(String(one.resource.attributes['token'])).get('/organizations')).status).toBe(401);
  expect((await api.as(String(two.resource.attributes['token'])).get('/organizations')).status).toBe(200);
  expect((await api.get(`/authentication-tokens/${one.resource.id}`)).status).toBe(404);
});

it('shows and revokes a token by its id only for those who may manage its holder`s tokens', async () => {
  const api = await serveForTest();
  const own = (await api.post(ORGANIZATION)).resource;
  const path = `/authentication-tokens/${own.id}`;
  expect((await api.get(path)).resource.id).toBe(own.id);
  for (const token of ['managers', 'acme-organization', 'eve']) {
    expect((await api.as(token).get(path)).status).toBe(404);
    expect((await api.as(token).delete(path)).status).toBe(404);
  }
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(ORGANIZATION)).status).toBe(404);
});
