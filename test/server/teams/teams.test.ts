import { expect, it } from 'vitest';

import { identifiers, seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/teams';
const body = (attributes: object) => ({ data: { type: 'teams', attributes } });
const SEED = seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }], members: ['bob'] });

async function teamId(api: TestClient, name: string): Promise<string> {
  return (await api.get(`${LIST}?filter[names]=${name}`)).resources[0]?.id ?? '';
}

it('lists the teams of an organization to its members', async () => {
  const api = await serveForTest({ seed: SEED });
  const names = ['managers', 'owners', 'platform-admins', 'readers'];
  expect((await api.get(LIST)).names).toEqual(names);
  expect((await api.as('bob').get(LIST)).names).toEqual(names);
  expect((await api.get(`${LIST}?q=READ`)).names).toEqual(['readers']);
  expect((await api.as('eve').get(LIST)).status).toBe(404);
  const owners = (await api.get(`/teams/${await teamId(api, 'owners')}`)).resource;
  expect(owners.attributes).toMatchObject({
    'users-count': 1,
    'organization-access': { 'manage-workspaces': true, 'manage-projects': true },
  });
});

it('creates a team whose rights apply immediately, and end when it is deleted', async () => {
  const api = await serveForTest({ seed: SEED });
  const bob = api.as('bob');
  const seen = async () => (await bob.get('/workspaces/ws-a')).status;
  expect(await seen()).toBe(404);
  const made = await api.post(
    LIST,
    body({ name: 'devs', 'organization-access': { 'read-workspaces': true } }),
  );
  expect(made.status).toBe(201);
  const path = `/teams/${made.resource.id}`;
  expect((await api.post(`${path}/relationships/users`, identifiers(['bob'], 'users'))).status).toBe(204);
  expect(await seen()).toBe(200);
  const changed = await api.patch(path, body({ 'organization-access': { 'read-workspaces': false } }));
  expect(changed.resource.attributes).toMatchObject({ name: 'devs', 'users-count': 1 });
  expect(await seen()).toBe(404);
  await api.patch(path, body({ 'organization-access': { 'manage-workspaces': true } }));
  expect(await seen()).toBe(200);
  expect((await api.delete(`${path}/relationships/users`, identifiers(['bob'], 'users'))).status).toBe(204);
  expect(await seen()).toBe(404);
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
});

it('keeps the visibility of a team, which has no effect', async () => {
  const api = await serveForTest();
  const body = (attributes: object) => ({ data: { type: 'teams', attributes } });
  const list = '/organizations/acme/teams';
  expect((await api.post(list, body({ name: 'open' }))).resource.attributes['visibility']).toBe(
    'organization',
  );
  const made = await api.post(list, body({ name: 'hidden', visibility: 'secret' }));
  expect(made.resource.attributes['visibility']).toBe('secret');
  const path = `/teams/${made.resource.id}`;
  expect((await api.patch(path, body({ name: 'quiet' }))).resource.attributes['visibility']).toBe('secret');
  expect((await api.as('readers').get(path)).resource).toEqual((await api.get(path)).resource);
  const opened = await api.patch(path, body({ visibility: 'organization' }));
  expect(opened.resource.attributes).toMatchObject({ name: 'quiet', visibility: 'organization' });
  expect((await api.patch(path, body({ visibility: 'all' }))).pointers).toEqual([
    '/data/attributes/visibility',
  ]);
});

it('refuses to rename or delete the team "owners", and to remove its last member', async () => {
  const api = await serveForTest({ seed: SEED });
  const path = `/teams/${await teamId(api, 'owners')}`;
  expect((await api.patch(path, body({ name: 'bosses' }))).pointers).toEqual(['/data/attributes/name']);
  expect((await api.delete(path)).status).toBe(409);
  expect((await api.delete(`${path}/relationships/users`, identifiers(['ann'], 'users'))).status).toBe(409);
  expect((await api.get('/organizations/acme')).resource.attributes['permissions']).toMatchObject({
    'can-destroy': true,
  });
});

it('lets only owners and the organization`s token change teams', async () => {
  const api = await serveForTest({ seed: SEED });
  const path = `/teams/${await teamId(api, 'readers')}`;
  for (const token of ['managers', 'bob', 'eve']) {
    expect((await api.as(token).post(LIST, body({ name: 'mine' }))).status).toBe(404);
    expect((await api.as(token).patch(path, body({ name: 'mine' }))).status).toBe(404);
    expect((await api.as(token).delete(path)).status).toBe(404);
  }
  expect((await api.as('acme-organization').post(LIST, body({ name: 'mine' }))).status).toBe(201);
});

it('lets only an owner add or remove owners', async () => {
  const api = await serveForTest({ seed: SEED });
  const path = `/teams/${await teamId(api, 'owners')}`;
  const organization = api.as('acme-organization');
  const bob = identifiers(['bob'], 'users');
  expect((await organization.post(`${path}/relationships/users`, bob)).status).toBe(404);
  expect((await organization.delete(`${path}/relationships/users`, bob)).status).toBe(404);
  expect((await organization.get(path)).resource.attributes['users-count']).toBe(1);
  expect((await api.post(`${path}/relationships/users`, bob)).status).toBe(204);
  expect((await api.get(path)).resource.attributes['users-count']).toBe(2);
});

it('treats users of other organizations like unknown ones', async () => {
  const api = await serveForTest({ seed: SEED });
  const eve = (await api.as('eve').get('/account/details')).resource.id;
  const path = `/teams/${await teamId(api, 'readers')}/relationships/users`;
  for (const method of ['POST', 'DELETE']) {
    const refusalOf = async (user: string) => {
      const answer = await api.send(method, path, identifiers([user], 'users'));
      return [answer.status, answer.text.replaceAll(user, 'user')];
    };
    const unknown = await refusalOf('nobody');
    expect(unknown[0]).toBe(422);
    expect(await refusalOf('eve')).toEqual(unknown);
    expect(await refusalOf(eve)).toEqual(unknown);
  }
  expect((await api.get(`/users/${eve}`)).status).toBe(404);
});

it('refuses a name that is taken, empty or too long, and users who do not exist', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.post(LIST, body({ name: 'readers' }))).pointers).toEqual(['/data/attributes/name']);
  expect((await api.post(LIST, body({}))).pointers).toEqual(['/data/attributes/name']);
  const long = await api.post(LIST, body({ name: 'n'.repeat(91) }));
  expect([long.status, long.pointers]).toEqual([422, ['/data/attributes/name']]);
  const path = `/teams/${await teamId(api, 'readers')}/relationships/users`;
  expect((await api.post(path, identifiers(['bob', 'nobody'], 'users'))).pointers).toEqual(['/data/1/id']);
});

it('shows users to members of the same organization', async () => {
  const api = await serveForTest({ seed: SEED });
  const id = (await api.as('bob').get('/account/details')).resource.id;
  expect((await api.get(`/users/${id}`)).resource.attributes['username']).toBe('bob');
  expect((await api.as('eve').get(`/users/${id}`)).status).toBe(404);
  expect((await api.as('bob').get(`/users/${id}`)).status).toBe(200);
  expect((await api.get('/users/nonexisting')).status).toBe(404);
});

it('stores every permission for the organization, and settings that have no effect here', async () => {
  const api = await serveForTest();
  const rights = {
    'manage-policies': true,
    'manage-policy-overrides': false,
    'manage-workspaces': true,
    'manage-vcs-settings': true,
    'manage-providers': false,
    'manage-modules': true,
    'manage-run-tasks': true,
    'manage-projects': false,
    'read-workspaces': false,
    'read-projects': true,
    'manage-membership': true,
    'manage-teams': false,
    'manage-organization-access': true,
    'access-secret-teams': true,
    'manage-agent-pools': true,
  };
  const settings = { 'sso-team-id': 'sso-1', 'allow-member-token-management': false };
  const made = await api.post(LIST, body({ name: 'devs', 'organization-access': rights, ...settings }));
  expect(made.resource.attributes).toMatchObject({ ...settings, 'organization-access': rights });
  const path = `/teams/${made.resource.id}`;
  expect((await api.get(path)).resource).toEqual(made.resource);
  const changed = await api.patch(
    path,
    body({ 'organization-access': { 'manage-modules': false }, 'sso-team-id': null }),
  );
  expect(changed.resource.attributes).toMatchObject({
    'sso-team-id': null,
    'allow-member-token-management': false,
    'organization-access': { ...rights, 'manage-modules': false },
  });
  const plain = (await api.post(LIST, body({ name: 'plain' }))).resource.attributes;
  expect(plain).toMatchObject({ 'sso-team-id': null, 'allow-member-token-management': true });
  expect(Object.values(plain['organization-access'] as object)).not.toContain(true);
  const owners = (await api.get(`/teams/${await teamId(api, 'owners')}`)).resource.attributes;
  expect(Object.values(owners['organization-access'] as object)).not.toContain(false);
  const wrong = body({ 'organization-access': { 'manage-modules': 'yes' } });
  expect((await api.patch(path, wrong)).pointers).toEqual([
    '/data/attributes/organization-access/manage-modules',
  ]);
});

it('includes the users of teams if a request has include=users', async () => {
  const api = await serveForTest({ seed: SEED });
  const path = `/teams/${await teamId(api, 'owners')}`;
  for (const asked of [path, LIST]) {
    expect((await api.get(asked)).document.included).toBeUndefined();
    const { document } = await api.get(`${asked}?include=users`);
    expect(document.included?.map(({ type, attributes }) => [type, attributes['username']])).toEqual([
      ['users', 'ann'],
    ]);
  }
  expect((await api.get(`${path}?include=workspaces`)).status).toBe(400);
});
