import { expect, it } from 'vitest';

import { bindings, seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/projects';
const body = (attributes: object, relationships: object = {}) => ({
  data: { type: 'projects', attributes, relationships },
});
const SEED = seedWith({
  workspaces: [{ name: 'a', id: 'ws-a', project: 'sandbox' }],
  teams: [
    { name: 'lookers', token: 'lookers', 'workspace-access': { a: 'read' } },
    { name: 'platform-readers', token: 'platform-readers', 'project-access': { platform: 'read' } },
    { name: 'makers', token: 'makers', 'manage-projects': true },
  ],
});

async function create(api: TestClient, attributes: object): Promise<string> {
  return (await api.post(LIST, body(attributes))).resource.id;
}

it('lists what the caller may see, by name', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get(LIST)).names).toEqual(['Default Project', 'platform', 'sandbox']);
  expect((await api.as('lookers').get(LIST)).names).toEqual(['sandbox']);
  expect((await api.as('platform-readers').get(LIST)).names).toEqual(['platform']);
  expect((await api.get(`${LIST}?q=PLAT`)).names).toEqual(['platform']);
  expect((await api.get(`${LIST}?filter[names]=platform,sandbox`)).names).toEqual(['platform', 'sandbox']);
  expect((await api.as('eve').get(LIST)).status).toBe(404);
});

it('shows a project to who may see a workspace in it, and no other', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as('lookers').get('/projects/prj-sandbox')).status).toBe(200);
  expect((await api.as('lookers').get('/projects/prj-platform')).status).toBe(404);
  expect((await api.get('/projects/prj-theirs')).status).toBe(404);
  expect((await api.get('/projects/nonexisting')).status).toBe(404);
});

it('creates one, changes it, and deletes it', async () => {
  const api = await serveForTest();
  const made = await api.post(
    LIST,
    body(
      { name: 'data', description: 'd', 'auto-destroy-activity-duration': '3d' },
      bindings({ team: 'data' }),
    ),
  );
  expect(made.status).toBe(201);
  expect(made.resource.attributes).toMatchObject({
    name: 'data',
    description: 'd',
    'auto-destroy-activity-duration': '3d',
    'workspace-count': 0,
    'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
  });
  const path = `/projects/${made.resource.id}`;
  expect((await api.get(path)).resource).toEqual(made.resource);
  const changed = await api.patch(path, body({ description: null, 'default-execution-mode': 'local' }));
  expect(changed.resource.attributes).toMatchObject({
    name: 'data',
    description: null,
    'auto-destroy-activity-duration': '3d',
    'setting-overwrites': { 'default-execution-mode': true },
  });
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
});

it('hands its mode on to its workspaces, and takes it back', async () => {
  const api = await serveForTest({ seed: SEED });
  const mode = async () => (await api.attributes('ws-a'))['execution-mode'];
  await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'local' }));
  expect(await mode()).toBe('local');
  const overwrites = { 'default-execution-mode': false };
  await api.patch('/projects/prj-sandbox', body({ 'setting-overwrites': overwrites }));
  expect(await mode()).toBe('remote');
});

it('drops its default agent pool when its mode needs none', async () => {
  const api = await serveForTest();
  const pool = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-builders' } } };
  const set = await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'agent' }, pool));
  expect(set.resource.relationships['default-agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
  const kept = await api.patch('/projects/prj-sandbox', body({ description: 'd' }));
  expect(kept.resource.relationships).toEqual(set.resource.relationships);
  const remote = await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'remote' }));
  expect(remote.resource.relationships['default-agent-pool']?.data).toBeNull();
});

it('refuses to delete one with workspaces, and the default one', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.delete('/projects/prj-sandbox')).status).toBe(409);
  const [first] = (await api.get(LIST)).resources;
  expect(first?.attributes['name']).toBe('Default Project');
  expect((await api.delete(`/projects/${first?.id}`)).status).toBe(409);
  await api.delete('/workspaces/ws-a');
  expect((await api.delete('/projects/prj-sandbox')).status).toBe(204);
});

it('answers 403 to a delete by someone who sees it, and 404 to who does not', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as('platform-readers').delete('/projects/prj-platform')).status).toBe(403);
  expect((await api.as('lookers').delete('/projects/prj-platform')).status).toBe(404);
  expect((await api.as('platform-admins').delete('/projects/prj-platform')).status).toBe(204);
});

it.each([
  ['managers', 404, 404],
  ['platform-admins', 404, 200],
  ['platform-readers', 404, 404],
  ['makers', 201, 200],
  ['acme-organization', 201, 200],
])('lets %s create projects (%i) and change one (%i)', async (token, created, changed) => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as(token).post(LIST, body({ name: 'new' }))).status).toBe(created);
  expect((await api.as(token).patch('/projects/prj-platform', body({ name: 'p' }))).status).toBe(changed);
});

it('names everything that is wrong with a body', async () => {
  const api = await serveForTest();
  expect((await api.post(LIST, body({}))).pointers).toEqual(['/data/attributes/name']);
  const pool = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-theirs' } } };
  const answer = await api.post(
    LIST,
    body(
      { name: 'platform', 'auto-destroy-activity-duration': '0d' },
      { ...pool, ...bindings({ 'hc:x': '1' }) },
    ),
  );
  expect(answer.pointers.toSorted()).toEqual([
    '/data/attributes/auto-destroy-activity-duration',
    '/data/attributes/name',
    '/data/relationships/default-agent-pool/data/id',
    '/data/relationships/tag-bindings/data/0/attributes/key',
  ]);
});

it('refuses a name over 90 characters and a description over 65,536', async () => {
  const api = await serveForTest();
  expect((await api.post(LIST, body({ name: 'n'.repeat(90), description: 'd'.repeat(65_536) }))).status).toBe(
    201,
  );
  const long = await api.post(LIST, body({ name: 'n'.repeat(91), description: 'd'.repeat(65_537) }));
  expect(long.pointers.toSorted()).toEqual(['/data/attributes/description', '/data/attributes/name']);
});

it('keeps its name when nothing is said of it, and may be renamed', async () => {
  const api = await serveForTest();
  const id = await create(api, { name: 'data' });
  expect((await api.patch(`/projects/${id}`, body({ name: 'data' }))).status).toBe(200);
  expect((await api.patch(`/projects/${id}`, body({ name: 'lake' }))).resource.attributes['name']).toBe(
    'lake',
  );
});
