import { expect, it } from 'vitest';

import {
  bindings,
  seedWith,
  serveForTest,
  tickingClock,
  workspaceBody,
} from '../../support/server/serve-for-test.ts';

it('changes what it names and keeps the rest', async () => {
  const api = await serveForTest();
  const before = await api.create({
    name: 'net',
    description: 'Old',
    'auto-apply': true,
    'working-directory': 'a',
  });
  const after = await api.update(before.resource.id, { description: 'New' });
  expect(after.status).toBe(200);
  const { 'updated-at': _a, 'latest-change-at': _b, ...kept } = before.resource.attributes;
  expect(after.resource.attributes).toMatchObject({ ...kept, description: 'New' });
});

it('behaves the same by id and by name', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net' });
  const byName = await api.patch('/organizations/acme/workspaces/net', workspaceBody({ 'auto-apply': true }));
  expect(byName.status).toBe(200);
  expect(byName.resource).toEqual((await api.get(`/workspaces/${id}`)).resource);
});

it('keeps the id and changes the URL when a workspace is renamed', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'old' });
  const { resource } = await api.update(id, { name: 'new' });
  expect(resource.id).toBe(id);
  expect(resource.links?.['self']).toBe('/api/v2/organizations/acme/workspaces/new');
  expect((await api.get('/organizations/acme/workspaces/old')).status).toBe(404);
  expect((await api.get('/organizations/acme/workspaces/new')).status).toBe(200);
});

it('refuses to rename to a taken name, and accepts the name it has', async () => {
  const api = await serveForTest();
  await api.created({ name: 'taken' });
  const id = await api.created({ name: 'mine' });
  expect((await api.update(id, { name: 'taken' })).errors[0]?.detail).toBe('Name has already been taken');
  expect((await api.update(id, { name: 'mine' })).status).toBe(200);
});

it('resets assessments-enabled when the update does not repeat it', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', 'assessments-enabled': true });
  expect(
    (await api.update(id, { description: 'x', 'assessments-enabled': true })).resource.attributes,
  ).toMatchObject({
    'assessments-enabled': true,
  });
  expect((await api.update(id, { description: 'y' })).resource.attributes['assessments-enabled']).toBe(false);
});

it('shows assessments as enabled if the organization enforces them', async () => {
  const api = await serveForTest({ seed: seedWith({ 'assessments-enforced': true }) });
  const id = await api.created({ name: 'net' });
  expect(
    (await api.update(id, { 'assessments-enabled': false })).resource.attributes['assessments-enabled'],
  ).toBe(true);
});

it('distinguishes an empty description from none', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', description: 'x' });
  expect((await api.update(id, { description: '' })).resource.attributes['description']).toBe('');
  expect((await api.update(id, { description: null })).resource.attributes['description']).toBeNull();
});

it('unsets the working directory with null or with empty text', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', 'working-directory': 'a/' });
  expect((await api.attributes(id))['working-directory']).toBe('a/');
  expect(
    (await api.update(id, { 'working-directory': '' })).resource.attributes['working-directory'],
  ).toBeNull();
  await api.update(id, { 'working-directory': 'b' });
  expect(
    (await api.update(id, { 'working-directory': null })).resource.attributes['working-directory'],
  ).toBeNull();
});

it('keeps source-name and source-url of the create', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', 'source-name': 'first', 'source-url': 'https://a.example' });
  const { resource } = await api.update(id, { 'source-name': 'second', 'source-url': null });
  expect(resource.attributes).toMatchObject({ 'source-name': 'first', 'source-url': 'https://a.example' });
});

it.each(['1.9.8', '1.5', '~> 1.9.0', '>= 1.2, < 2.0', '!= 1.3.0', '1.10.0-beta1', 'latest'])(
  'keeps the engine version "%s" as written',
  async (version) => {
    const api = await serveForTest();
    const id = await api.created({ name: 'net' });
    expect((await api.update(id, { 'engine-version': version })).resource.attributes['engine-version']).toBe(
      version,
    );
  },
);

it.each(['', 'newest', '~>', '1.x', '1.2.3.4', '>= 1.2,'])(
  'refuses the engine version "%s"',
  async (version) => {
    const api = await serveForTest();
    const answer = await api.update(await api.created({ name: 'net' }), { 'engine-version': version });
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/attributes/engine-version']);
  },
);

it('changes updated-at only when a setting changes', async () => {
  const api = await serveForTest({ now: tickingClock() });
  const created = await api.create({ name: 'net', 'auto-apply': true });
  const same = await api.update(created.resource.id, { 'auto-apply': true });
  expect(same.resource.attributes['updated-at']).toBe(created.resource.attributes['updated-at']);
  const changed = await api.update(created.resource.id, { 'auto-apply': false });
  expect(changed.resource.attributes['updated-at']).not.toBe(created.resource.attributes['updated-at']);
  expect(changed.resource.attributes['latest-change-at']).not.toBe(
    created.resource.attributes['latest-change-at'],
  );
  expect(changed.resource.attributes['created-at']).toBe(created.resource.attributes['created-at']);
});

it('changes nothing at all when any part of the request is refused', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', description: 'before' }, bindings({ env: 'prod' }));
  const answer = await api.update(id, { description: 'after', 'engine-version': 'nonsense' }, bindings({}));
  expect(answer.status).toBe(422);
  expect((await api.attributes(id))['description']).toBe('before');
  expect((await api.get(`/workspaces/${id}/tag-bindings`)).resources).toHaveLength(1);
});

it('answers 409 to a body with the id of another workspace, and changes neither', async () => {
  const api = await serveForTest();
  const [id, other] = [await api.created({ name: 'net' }), await api.created({ name: 'other' })];
  const body = (given: unknown) => ({
    data: { id: given, type: 'workspaces', attributes: { description: 'x' } },
  });
  for (const given of [other, '', 5, null]) {
    for (const path of [`/workspaces/${id}`, '/organizations/acme/workspaces/net']) {
      expect((await api.patch(path, body(given))).status).toBe(409);
    }
  }
  expect((await api.attributes(id))['description']).toBeNull();
  expect((await api.attributes(other))['description']).toBeNull();
  expect((await api.patch('/organizations/acme/workspaces/net', body(id))).status).toBe(200);
});

it('moves the workspace to another project, and back', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net' });
  const moved = await api.update(id, {}, { project: { data: { type: 'projects', id: 'prj-platform' } } });
  expect(moved.resource.relationships['project']?.data).toEqual({ id: 'prj-platform', type: 'projects' });
  const kept = await api.update(id, { description: 'x' });
  expect(kept.resource.relationships['project']?.data).toEqual({ id: 'prj-platform', type: 'projects' });
});

it('requires admin access to both projects for a move', async () => {
  const api = await serveForTest();
  const id = await api.created(
    { name: 'net' },
    { project: { data: { type: 'projects', id: 'prj-platform' } } },
  );
  const move = (token: string, project: string) =>
    api.as(token).update(id, {}, { project: { data: { type: 'projects', id: project } } });
  expect((await move('platform-admins', 'prj-sandbox')).status).toBe(404);
  expect((await move('platform-admins', 'prj-platform')).status).toBe(200);
  expect((await move('ann', 'prj-sandbox')).status).toBe(200);
});

it('does not let an admin of the target project move a workspace out of another project', async () => {
  const api = await serveForTest({
    seed: seedWith({
      workspaces: [{ name: 'net', id: 'ws-net' }],
      teams: [
        {
          name: 'takers',
          token: 'takers',
          'workspace-access': { net: 'admin' },
          'project-access': { platform: 'admin' },
        },
      ],
    }),
  });
  const project = { data: { type: 'projects', id: 'prj-platform' } };
  expect((await api.as('takers').update('ws-net', {}, { project })).status).toBe(404);
  expect((await api.as('takers').update('ws-net', {})).status).toBe(200);
});

it('answers 404 for a workspace that does not exist, for any form of its id', async () => {
  const api = await serveForTest();
  for (const id of ['ws-0000000000000000', 'nonexisting', 'a%2Fb']) {
    const answer = await api.update(id, {});
    expect(answer.status).toBe(404);
    expect(answer.errors[0]?.title).toBe('not found');
  }
});

it.each([
  ['read', 404],
  ['plan', 404],
  ['write', 404],
  ['admin', 200],
])('lets a team with %s access update: %i', async (access, status) => {
  const api = await serveForTest({
    seed: seedWith({
      workspaces: [{ name: 'net', id: 'ws-net' }],
      teams: [{ name: 'devs', members: ['bob'], 'workspace-access': { net: access } }],
    }),
  });
  expect((await api.as('bob').update('ws-net', { description: 'x' })).status).toBe(status);
});

it('reveals no projects to a caller who may not move a workspace', async () => {
  const seed = seedWith({
    workspaces: [
      { name: 'net', id: 'ws-net' },
      { name: 'web', id: 'ws-web', project: 'platform' },
    ],
    teams: [{ name: 'devs', token: 'devs', 'workspace-access': { net: 'admin' } }],
  });
  const api = await serveForTest({ seed });
  const move = (token: string, workspace: string, project: string) =>
    api.as(token).update(workspace, {}, { project: { data: { type: 'projects', id: project } } });
  const movers = [
    ['devs', 'ws-net'],
    ['managers', 'ws-net'],
    ['platform-admins', 'ws-web'],
  ] as const;
  for (const [token, workspace] of movers) {
    const known = await move(token, workspace, 'prj-sandbox');
    expect(known.status, token).toBe(404);
    for (const project of ['prj-unknown', 'prj-theirs']) {
      const unknown = await move(token, workspace, project);
      expect([unknown.status, unknown.text], token).toEqual([known.status, known.text]);
    }
  }
  expect((await move('ann', 'ws-net', 'prj-unknown')).pointers).toEqual([
    '/data/relationships/project/data/id',
  ]);
});
