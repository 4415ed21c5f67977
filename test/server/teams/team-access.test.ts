import { expect, it } from 'vitest';

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

async function give(api: TestClient, workspace: string, attributes: object): Promise<TestAnswer> {
  const devs = await team(api.as('ann'), 'devs');
  return api.post('/team-workspaces', body('team-workspaces', attributes, { workspace, team: devs }));
}

it('gives a team access to a workspace, changes it, and takes it back', async () => {
  const api = await serveForTest({ seed: SEED });
  const may = async () =>
    (await api.as('devs').get('/workspaces/ws-b')).document.data as { attributes?: object };
  expect((await api.as('devs').get('/workspaces/ws-b')).status).toBe(404);
  const given = await give(api, 'ws-b', { access: 'read' });
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

it('gives single rights with custom access', async () => {
  const api = await serveForTest({ seed: SEED });
  const given = await give(api, 'ws-b', {
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

it('lists the accesses to a workspace for who may see it', async () => {
  const api = await serveForTest({ seed: SEED });
  const list = '/team-workspaces?filter[workspace][id]=ws-a';
  const { resources } = await api.get(list);
  expect(resources.map(({ attributes }) => attributes['access'])).toEqual(['plan']);
  expect((await api.as('planners').get(list)).resources).toEqual(resources);
  expect((await api.as('devs').get(list)).status).toBe(404);
  expect((await api.get('/team-workspaces')).errors[0]?.source?.parameter).toBe('filter[workspace][id]');
});

it('is given by admins of the workspace alone, once a team', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await give(api.as('planners'), 'ws-a', { access: 'read' })).status).toBe(404);
  expect((await give(api.as('admins'), 'ws-b', { access: 'read' })).status).toBe(201);
  expect((await give(api, 'ws-b', { access: 'read' })).status).toBe(409);
  expect((await give(api, 'ws-a', { access: 'moon' })).pointers).toEqual(['/data/attributes/access']);
  expect((await give(api, 'ws-a', {})).pointers).toEqual(['/data/attributes/access']);
  const theirs = await api.post(
    '/team-workspaces',
    body('team-workspaces', { access: 'read' }, { workspace: 'ws-a', team: 'team-none' }),
  );
  expect(theirs.pointers).toEqual(['/data/relationships/team/data/id']);
});

it('gives access to a project and so to its workspaces', async () => {
  const api = await serveForTest({ seed: SEED });
  const devs = await team(api, 'devs');
  const related = { project: 'prj-platform', team: devs };
  const given = await api.post('/team-projects', body('team-projects', { access: 'write' }, related));
  expect(given.status).toBe(201);
  expect((await api.as('devs').get('/workspaces/ws-a')).status).toBe(200);
  const list = await api.get('/team-projects?filter[project][id]=prj-platform');
  expect(list.resources.map(({ attributes }) => attributes['access']).toSorted()).toEqual(['admin', 'write']);
  expect((await api.as('devs').delete(`/team-projects/${given.resource.id}`)).status).toBe(404);
  expect((await api.as('platform-admins').delete(`/team-projects/${given.resource.id}`)).status).toBe(204);
  expect((await api.as('devs').get('/workspaces/ws-a')).status).toBe(404);
});
