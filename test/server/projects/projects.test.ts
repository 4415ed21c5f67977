import { describe, expect, it } from 'vitest';

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

it('lists the projects that the caller may see, by name', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get(LIST)).names).toEqual(['Default Project', 'platform', 'sandbox']);
  expect((await api.as('lookers').get(LIST)).names).toEqual(['sandbox']);
  expect((await api.as('platform-readers').get(LIST)).names).toEqual(['platform']);
  expect((await api.get(`${LIST}?q=PLAT`)).names).toEqual(['platform']);
  expect((await api.get(`${LIST}?filter[names]=platform,sandbox`)).names).toEqual(['platform', 'sandbox']);
  expect((await api.as('eve').get(LIST)).status).toBe(404);
});

it('shows a project to users who may see a workspace in it, and no other project', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as('lookers').get('/projects/prj-sandbox')).status).toBe(200);
  expect((await api.as('lookers').get('/projects/prj-platform')).status).toBe(404);
  expect((await api.get('/projects/prj-theirs')).status).toBe(404);
  expect((await api.get('/projects/nonexisting')).status).toBe(404);
});

it('creates a project, changes it, and deletes it', async () => {
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

it('sets the execution mode of its workspaces until the project inherits it again', async () => {
  const api = await serveForTest({ seed: SEED });
  const mode = async () => (await api.attributes('ws-a'))['execution-mode'];
  await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'local' }));
  expect(await mode()).toBe('local');
  const overwrites = { 'default-execution-mode': false };
  await api.patch('/projects/prj-sandbox', body({ 'setting-overwrites': overwrites }));
  expect(await mode()).toBe('remote');
});

it('removes the default agent pool of a project when its mode needs none', async () => {
  const api = await serveForTest();
  const pool = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-builders' } } };
  const set = await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'agent' }, pool));
  expect(set.resource.relationships['default-agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
  const kept = await api.patch('/projects/prj-sandbox', body({ description: 'd' }));
  expect(kept.resource.relationships).toEqual(set.resource.relationships);
  const remote = await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'remote' }));
  expect(remote.resource.relationships['default-agent-pool']?.data).toBeNull();
});

it('refuses to delete a project with workspaces, and the default project', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.delete('/projects/prj-sandbox')).status).toBe(409);
  const [first] = (await api.get(LIST)).resources;
  expect(first?.attributes['name']).toBe('Default Project');
  expect((await api.delete(`/projects/${first?.id}`)).status).toBe(409);
  await api.delete('/workspaces/ws-a');
  expect((await api.delete('/projects/prj-sandbox')).status).toBe(204);
});

it('answers 403 to a delete by a user who may see the project, and 404 to others', async () => {
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

it('names every error in a body', async () => {
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

it('a project can keep its name in an update, and can be renamed', async () => {
  const api = await serveForTest();
  const id = await create(api, { name: 'data' });
  expect((await api.patch(`/projects/${id}`, body({ name: 'data' }))).status).toBe(200);
  expect((await api.patch(`/projects/${id}`, body({ name: 'lake' }))).resource.attributes['name']).toBe(
    'lake',
  );
});

it('filters projects by their tag bindings', async () => {
  const api = await serveForTest({ seed: SEED, dialects: ['hcp-terraform'] });
  await api.patch('/projects/prj-sandbox/tag-bindings', bindings({ env: 'test' })['tag-bindings']);
  const found = async (query: string) => (await api.get(`${LIST}?${query}`)).names;
  const tagged = (index: number, key: string, value = '') =>
    `filter[tagged][${index}][key]=${key}&filter[tagged][${index}][value]=${value}`;
  expect(await found(tagged(0, 'env'))).toEqual(['platform', 'sandbox']);
  expect(await found(tagged(0, 'env', 'test'))).toEqual(['sandbox']);
  expect(await found(`${tagged(0, 'env', 'shared')}&${tagged(1, 'tier', 'gold')}`)).toEqual(['platform']);
  expect(await found(`${tagged(0, 'env', 'test')}&${tagged(1, 'tier')}`)).toEqual([]);
  expect(await found(`${tagged(0, 'env', 'test')}&${tagged(1, 'tier')}&filter[tag-union]=true`)).toEqual([
    'platform',
    'sandbox',
  ]);
  expect(await found(tagged(0, 'nobody'))).toEqual([]);
});

describe('include=effective_tag_bindings', () => {
  const keys = (resources: readonly { id: string; attributes: object }[] = []) =>
    resources.map(({ attributes }) => Object.values(attributes).join('='));

  it.each(['/projects/prj-platform', LIST])(
    'adds the bindings to %s, with their ids in the relationship',
    async (path) => {
      const api = await serveForTest({ seed: SEED });
      const plain = await api.get(path);
      expect(plain.document.included).toBeUndefined();
      const { document } = await api.get(`${path}?include=effective_tag_bindings`);
      expect(keys(document.included)).toEqual(['tier=gold', 'env=shared']);
      const resources = [document.data].flat() as {
        id: string;
        relationships: Record<string, { data?: unknown }>;
      }[];
      const linked = Object.fromEntries(
        resources.map(({ id, relationships }) => [id, relationships['effective-tag-bindings']?.data]),
      );
      const ids = document.included?.map(({ id, type }) => ({ id, type }));
      expect(linked['prj-platform']).toEqual(ids);
      if (path === LIST) expect(linked['prj-sandbox']).toEqual([]);
    },
  );

  it('is the only known include of projects', async () => {
    const api = await serveForTest();
    const answer = await api.get(`${LIST}?include=owner`);
    expect([answer.status, answer.errors[0]?.detail]).toEqual([
      400,
      expect.stringContaining('include parameter'),
    ]);
  });
});

describe('The default agent pool of a project', () => {
  const pooled = { 'default-execution-mode': 'agent', 'default-agent-pool-id': 'apool-builders' };
  const overwritten = { 'default-execution-mode': true, 'default-agent-pool': true };

  it('comes from the attribute default-agent-pool-id, and is none when that is empty', async () => {
    const api = await serveForTest();
    const made = await api.post(LIST, body({ name: 'data', ...pooled, 'setting-overwrites': overwritten }));
    expect(made.resource.relationships['default-agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
    expect(made.resource.attributes['setting-overwrites']).toEqual(overwritten);
    const remote = { 'default-execution-mode': 'remote', 'default-agent-pool-id': '' };
    const path = `/projects/${made.resource.id}`;
    const changed = await api.patch(path, body({ ...remote, 'setting-overwrites': overwritten }));
    expect(changed.resource.relationships['default-agent-pool']?.data).toBeNull();
    expect(changed.resource.attributes['setting-overwrites']).toEqual(overwritten);
    const theirs = { ...pooled, 'default-agent-pool-id': 'apool-theirs' };
    expect((await api.patch(path, body(theirs))).pointers).toContain(
      '/data/attributes/default-agent-pool-id',
    );
  });

  it('is inherited, like the mode, if the project has none', async () => {
    const organization = { 'default-execution-mode': 'agent', 'default-agent-pool': 'builders' } as const;
    const api = await serveForTest({ seed: seedWith(organization) });
    const shown = async () => (await api.get('/projects/prj-sandbox')).resource;
    expect((await shown()).attributes).toMatchObject({
      'default-execution-mode': 'agent',
      'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
    });
    expect((await shown()).relationships['default-agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
    await api.patch('/projects/prj-sandbox', body({ 'default-execution-mode': 'local' }));
    expect((await shown()).attributes['default-execution-mode']).toBe('local');
    expect((await shown()).relationships['default-agent-pool']?.data).toBeNull();
  });
});

it.each(['! / nope', 'ü', ' data', 'data ', 'a.b'])(
  'refuses the name "%s" in the dialect hcp-terraform',
  async (name) => {
    const api = await serveForTest({ dialects: ['hcp-terraform'] });
    expect((await api.post(LIST, body({ name }))).pointers).toEqual(['/data/attributes/name']);
    expect((await api.patch('/projects/prj-sandbox', body({ name }))).status).toBe(422);
    expect((await api.post(LIST, body({ name: 'My data-lake_1' }))).status).toBe(201);
    expect((await (await serveForTest()).post(LIST, body({ name }))).status).toBe(201);
  },
);
