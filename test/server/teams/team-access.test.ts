import { describe, expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestAnswer,
  type TestClient,
} from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    { name: 'a', id: 'ws-a', project: 'platform' },
    { name: 'b', id: 'ws-b' },
  ],
  teams: [
    { name: 'devs', token: 'devs' },
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'admins', token: 'admins', 'workspace-access': { b: 'admin' } },
  ],
});

const body = (type: string, attributes: object, related: Record<string, string> = {}) => ({
  data: {
    type,
    attributes,
    relationships: Object.fromEntries(
      Object.entries(related).map(([name, id]) => [name, { data: { type: `${name}s`, id } }]),
    ),
  },
});

async function team(api: TestClient, name: string): Promise<string> {
  return (await api.get(`/organizations/acme/teams?filter[names]=${name}`)).resources[0]?.id ?? '';
}

async function grantAccess(api: TestClient, workspace: string, attributes: object): Promise<TestAnswer> {
  const devs = await team(api.as('ann'), 'devs');
  return api.post('/team-workspaces', body('team-workspaces', attributes, { workspace, team: devs }));
}

it('grants a team access to a workspace, changes it, and revokes it', async () => {
  const api = await serveForTest({ seed: SEED });
  const may = async () =>
    (await api.as('devs').get('/workspaces/ws-b')).document.data as { attributes?: object };
  expect((await api.as('devs').get('/workspaces/ws-b')).status).toBe(404);
  const given = await grantAccess(api, 'ws-b', { access: 'read' });
  expect(given.status).toBe(201);
  expect(given.resource.attributes).toMatchObject({ access: 'read', runs: 'read', variables: 'read' });
  const path = `/team-workspaces/${given.resource.id}`;
  expect((await api.get(path)).resource).toEqual(given.resource);
  expect(await may()).toMatchObject({ attributes: { permissions: { 'can-lock': false } } });
  const changed = await api.patch(path, body('team-workspaces', { access: 'write' }));
  expect(changed.resource.attributes).toMatchObject({
    access: 'write',
    runs: 'apply',
    'workspace-locking': true,
  });
  expect(await may()).toMatchObject({
    attributes: { permissions: { 'can-lock': true, 'can-update': false } },
  });
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.as('devs').get('/workspaces/ws-b')).status).toBe(404);
});

it('grants single permissions with custom access', async () => {
  const api = await serveForTest({ seed: SEED });
  const given = await grantAccess(api, 'ws-b', {
    access: 'custom',
    variables: 'write',
    'state-versions': 'read-outputs',
    'workspace-locking': true,
  });
  expect(given.resource.attributes).toEqual({
    access: 'custom',
    runs: 'read',
    variables: 'write',
    'state-versions': 'read-outputs',
    'workspace-locking': true,
    'run-tasks': false,
    'policy-mocks': 'none',
    'policy-overrides': false,
  });
  const { permissions } = (await api.as('devs').get('/workspaces/ws-b')).resource.attributes;
  expect(permissions).toMatchObject({
    'can-update-variable': true,
    'can-read-state-outputs': true,
    'can-read-state-versions': false,
    'can-lock': true,
    'can-queue-run': false,
  });
  const path = `/team-workspaces/${given.resource.id}`;
  const changed = await api.patch(path, body('team-workspaces', { variables: 'none', runs: 'plan' }));
  expect(changed.resource.attributes).toMatchObject({
    variables: 'none',
    runs: 'plan',
    'workspace-locking': true,
  });
});

it('lists the access of teams to a workspace for users who may see the workspace', async () => {
  const api = await serveForTest({ seed: SEED });
  const list = '/team-workspaces?filter[workspace][id]=ws-a';
  const { resources } = await api.get(list);
  expect(resources.map(({ attributes }) => attributes['access'])).toEqual(['plan']);
  expect((await api.as('planners').get(list)).resources).toEqual(resources);
  expect((await api.as('devs').get(list)).status).toBe(404);
  expect((await api.get('/team-workspaces')).errors[0]?.source?.parameter).toBe('filter[workspace][id]');
});

it('lets only admins of the workspace grant access, once for each team', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await grantAccess(api.as('planners'), 'ws-a', { access: 'read' })).status).toBe(404);
  expect((await grantAccess(api.as('admins'), 'ws-b', { access: 'read' })).status).toBe(201);
  expect((await grantAccess(api, 'ws-b', { access: 'read' })).status).toBe(409);
  expect((await grantAccess(api, 'ws-a', { access: 'moon' })).pointers).toEqual(['/data/attributes/access']);
  expect((await grantAccess(api, 'ws-a', {})).pointers).toEqual(['/data/attributes/access']);
  const theirs = await api.post(
    '/team-workspaces',
    body('team-workspaces', { access: 'read' }, { workspace: 'ws-a', team: 'team-none' }),
  );
  expect(theirs.pointers).toEqual(['/data/relationships/team/data/id']);
});

it('grants access to a project and to its workspaces', async () => {
  const api = await serveForTest({ seed: SEED });
  const devs = await team(api, 'devs');
  const related = { project: 'prj-platform', team: devs };
  const given = await api.post('/team-projects', body('team-projects', { access: 'write' }, related));
  expect(given.status).toBe(201);
  expect((await api.as('devs').get('/workspaces/ws-a')).status).toBe(200);
  const list = await api.get('/team-projects?filter[project][id]=prj-platform');
  expect(list.resources.map(({ attributes }) => attributes['access']).toSorted()).toEqual(['admin', 'write']);
  const path = `/team-projects/${given.resource.id}`;
  expect((await api.get(path)).resource).toEqual(given.resource);
  const changed = await api.patch(path, body('team-projects', { access: 'read' }, {}));
  expect([changed.status, changed.resource.attributes['access']]).toEqual([200, 'read']);
  expect((await api.get(path)).resource).toEqual(changed.resource);
  const update = { data: { type: 'workspaces', attributes: { description: 'x' } } };
  expect((await api.as('devs').patch('/workspaces/ws-a', update)).status).toBe(404);
  expect((await api.as('devs').delete(path)).status).toBe(404);
  expect((await api.as('platform-admins').delete(path)).status).toBe(204);
  expect((await api.as('devs').get('/workspaces/ws-a')).status).toBe(404);
});

it('stores permissions for policies, which have no effect here, by the names of the dialect', async () => {
  const api = await serveForTest({ seed: SEED, dialects: ['hcp-terraform'] });
  const asked = { access: 'custom', 'sentinel-mocks': 'read', 'policy-overrides': true };
  const given = await grantAccess(api, 'ws-b', asked);
  expect(given.resource.attributes).toMatchObject(asked);
  const path = `/team-workspaces/${given.resource.id}`;
  const changed = await api.patch(path, body('team-workspaces', { 'sentinel-mocks': 'none' }));
  expect(changed.resource.attributes).toMatchObject({ 'sentinel-mocks': 'none', 'policy-overrides': true });
  const wrong = await api.patch(path, body('team-workspaces', { 'sentinel-mocks': 'write' }));
  expect(wrong.pointers).toEqual(['/data/attributes/sentinel-mocks']);
  const admin = await api.patch(path, body('team-workspaces', { access: 'admin' }));
  expect(admin.resource.attributes).toMatchObject({ 'sentinel-mocks': 'read' });
});

describe('Custom access to a project', () => {
  const CUSTOM = {
    access: 'custom',
    'project-access': { settings: 'read', teams: 'none', 'variable-sets': 'none' },
    'workspace-access': {
      runs: 'read',
      variables: 'none',
      'state-versions': 'none',
      'sentinel-mocks': 'none',
      create: false,
      locking: false,
      move: false,
      delete: false,
      'run-tasks': false,
      'policy-overrides': false,
    },
  };

  async function granted(attributes: object) {
    const api = await serveForTest({ seed: SEED, dialects: ['hcp-terraform'] });
    const related = { project: 'prj-platform', team: await team(api, 'devs') };
    const given = await api.post('/team-projects', body('team-projects', attributes, related));
    expect(given.status).toBe(201);
    return { api, given, devs: api.as('devs'), path: `/team-projects/${given.resource.id}` };
  }

  it('grants only reading runs by default, and stores its permissions', async () => {
    const { api, given, path } = await granted({ access: 'custom' });
    expect(given.resource.attributes).toEqual(CUSTOM);
    const more = {
      'project-access': { settings: 'update', teams: 'manage' },
      'workspace-access': { runs: 'apply', create: true, 'sentinel-mocks': 'read' },
    };
    const changed = await api.patch(path, body('team-projects', more));
    expect(changed.resource.attributes).toEqual({
      ...CUSTOM,
      'project-access': { ...CUSTOM['project-access'], ...more['project-access'] },
      'workspace-access': { ...CUSTOM['workspace-access'], ...more['workspace-access'] },
    });
    expect((await api.get(path)).resource).toEqual(changed.resource);
    const wrong = { 'workspace-access': { runs: 'all' }, 'project-access': { settings: 'none' } };
    expect((await api.patch(path, body('team-projects', wrong))).pointers.toSorted()).toEqual([
      '/data/attributes/project-access/settings',
      '/data/attributes/workspace-access/runs',
    ]);
  });

  it('grants exactly its permissions in the workspaces of the project', async () => {
    const { devs } = await granted({
      access: 'custom',
      'workspace-access': { locking: true, variables: 'write' },
    });
    const { permissions } = (await devs.get('/workspaces/ws-a')).resource.attributes;
    expect(permissions).toMatchObject({
      'can-read-run': true,
      'can-lock': true,
      'can-update-variable': true,
      'can-queue-run': false,
      'can-update': false,
      'can-destroy': false,
    });
    expect((await devs.get('/workspaces/ws-b')).status).toBe(404);
  });

  it.each([
    [{}, [404, 404, 403]],
    [{ 'workspace-access': { create: true } }, [201, 404, 403]],
    [{ 'project-access': { settings: 'update' } }, [404, 200, 403]],
    [{ 'project-access': { settings: 'delete' } }, [404, 200, 409]],
    [{ 'project-access': { teams: 'manage' } }, [404, 404, 403]],
  ])('with %j lets a team create, change and delete: %j', async (asked, expected) => {
    const { devs, path } = await granted({ access: 'custom', ...asked });
    const project = { project: { data: { type: 'projects', id: 'prj-platform' } } };
    const created = await devs.create({ name: 'new' }, project);
    const changed = await devs.patch('/projects/prj-platform', {
      data: { type: 'projects', attributes: { description: 'd' } },
    });
    const deleted = await devs.delete('/projects/prj-platform');
    expect([created.status, changed.status, deleted.status]).toEqual(expected);
    expect((await devs.patch(path, body('team-projects', { access: 'admin' }))).status).toBe(404);
  });

  it('lets a team move workspaces only between projects where it may move them', async () => {
    const { api, devs } = await granted({ access: 'custom', 'workspace-access': { move: true } });
    const to = (id: string) => ({ project: { data: { type: 'projects', id } } });
    const admins = body(
      'team-workspaces',
      { access: 'admin' },
      { workspace: 'ws-a', team: await team(api, 'devs') },
    );
    expect((await api.post('/team-workspaces', admins)).status).toBe(201);
    expect((await devs.update('ws-a', {}, to('prj-sandbox'))).status).toBe(404);
    const related = { project: 'prj-sandbox', team: await team(api, 'devs') };
    const move = { access: 'custom', 'workspace-access': { move: true } };
    expect((await api.post('/team-projects', body('team-projects', move, related))).status).toBe(201);
    expect((await devs.update('ws-a', {}, to('prj-sandbox'))).status).toBe(200);
  });

  it('is shown for each access level with the same members', async () => {
    const { given } = await granted({ access: 'write' });
    expect(given.resource.attributes).toMatchObject({
      access: 'write',
      'project-access': { settings: 'read', teams: 'none' },
      'workspace-access': { runs: 'apply', variables: 'write', locking: true, create: false, delete: false },
    });
    const { given: admin } = await granted({ access: 'admin' });
    expect(admin.resource.attributes).toMatchObject({
      'project-access': { settings: 'delete', teams: 'manage' },
      'workspace-access': { create: true, move: true, delete: true, 'run-tasks': true },
    });
  });
});
