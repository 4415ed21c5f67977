import { describe, expect, it } from 'vitest';

import { bindings, seedWith, serveForTest, workspaceBody } from '../../support/server/serve-for-test.ts';

it('answers 201 with the defaults of the spec for every attribute that was left out', async () => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'network-prod' });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('content-type')).toContain('application/vnd.api+json');
  expect(answer.resource.id).toMatch(/^ws-[A-Za-z0-9]{16}$/);
  expect(answer.resource.attributes).toMatchObject({
    name: 'network-prod',
    description: null,
    'allow-destroy-plan': true,
    'assessments-enabled': false,
    'auto-apply': false,
    'auto-apply-run-trigger': false,
    'auto-destroy-at': null,
    'auto-destroy-activity-duration': null,
    'execution-mode': 'remote',
    operations: true,
    'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    'file-triggers-enabled': true,
    'global-remote-state': false,
    'queue-all-runs': false,
    'source-name': null,
    'source-url': null,
    'speculative-enabled': true,
    'structured-run-output-enabled': true,
    'engine-version': '1.11.4',
    'trigger-patterns': [],
    'trigger-prefixes': [],
    'vcs-repo': null,
    'working-directory': null,
    'tag-names': [],
  });
});

it('stores every attribute that a create may carry', async () => {
  const api = await serveForTest();
  const attributes = {
    name: 'full',
    description: 'All of it',
    'allow-destroy-plan': false,
    'assessments-enabled': true,
    'auto-apply': true,
    'auto-apply-run-trigger': true,
    'execution-mode': 'remote',
    'file-triggers-enabled': false,
    'global-remote-state': true,
    'queue-all-runs': true,
    'source-name': 'trueup/payments',
    'source-url': 'https://example.com/repo',
    'speculative-enabled': false,
    'structured-run-output-enabled': false,
    'engine-version': '~> 1.9.0',
    'trigger-prefixes': ['/modules'],
    'working-directory': 'envs/prod/',
  };
  const answer = await api.create(attributes);
  expect(answer.resource.attributes).toMatchObject(attributes);
  expect(await api.attributes(answer.resource.id)).toMatchObject(attributes);
});

it('creates the workspace and its tags together, in one request', async () => {
  const api = await serveForTest();
  const id = await api.created(
    { name: 'tagged' },
    {
      ...bindings({ 'trueup-stack': 'payments', env: 'prod' }),
      tags: { data: [{ type: 'tags', attributes: { name: 'Network' } }] },
    },
  );
  const { resources } = await api.get(`/workspaces/${id}/tag-bindings`);
  expect(resources.map(({ attributes }) => [attributes['key'], attributes['value']])).toEqual([
    ['trueup-stack', 'payments'],
    ['env', 'prod'],
  ]);
  expect((await api.attributes(id))['tag-names']).toEqual(['network']);
});

it('creates nothing when one of the tags is refused', async () => {
  const api = await serveForTest();
  expect((await api.create({ name: 'tagged' }, bindings({ 'hc:internal': 'x' }))).status).toBe(422);
  expect((await api.get('/organizations/acme/workspaces/tagged')).status).toBe(404);
});

it('creates nothing when the service fails during the request', async () => {
  let remainingReads = Number.POSITIVE_INFINITY;
  const now = () => {
    remainingReads -= 1;
    if (remainingReads === 0) throw new Error('the clock stopped');
    return new Date();
  };
  const api = await serveForTest({ now });
  const statuses: number[] = [];
  for (let failing = 1; statuses.at(-1) !== 201; failing += 1) {
    remainingReads = failing;
    statuses.push((await api.create({ name: 'a' }, bindings({ env: 'prod' }))).status);
    remainingReads = Number.POSITIVE_INFINITY;
    if (statuses.at(-1) === 500) {
      expect((await api.get('/organizations/acme/workspaces')).resources).toEqual([]);
    }
  }
  expect(statuses.filter((status) => status === 500).length).toBeGreaterThan(2);
});

it('refuses a name that is taken in the organization, and allows it in another', async () => {
  const api = await serveForTest();
  await api.created({ name: 'twin' });
  const second = await api.create({ name: 'twin' });
  expect(second.status).toBe(422);
  expect(second.errors).toEqual([
    {
      status: '422',
      title: 'invalid attribute',
      detail: 'Name has already been taken',
      source: { pointer: '/data/attributes/name' },
    },
  ]);
  const elsewhere = await api
    .as('eve')
    .post('/organizations/rival/workspaces', workspaceBody({ name: 'twin' }));
  expect(elsewhere.status).toBe(201);
});

it.each(['two words', 'a/b', 'dotted.name', '', 'ümlaut'])('refuses the name "%s"', async (name) => {
  const api = await serveForTest();
  const answer = await api.create({ name });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/attributes/name']);
});

it('accepts a name of 90 characters, finds it by its own link, and refuses a longer one', async () => {
  const api = await serveForTest();
  const made = await api.create({ name: 'n'.repeat(90) });
  expect(made.status).toBe(201);
  const self = made.resource.links?.['self'] ?? '';
  expect((await api.get(self.replace('/api/v2', ''))).resource.id).toBe(made.resource.id);
  for (const refused of [
    await api.create({ name: 'n'.repeat(91) }),
    await api.update(made.resource.id, { name: 'n'.repeat(3000) }),
  ]) {
    expect([refused.status, refused.pointers]).toEqual([422, ['/data/attributes/name']]);
  }
});

it('requires a name', async () => {
  const api = await serveForTest();
  expect((await api.create({})).pointers).toEqual(['/data/attributes/name']);
});

it('requires the type workspaces', async () => {
  const api = await serveForTest();
  const answer = await api.post('/organizations/acme/workspaces', { data: { attributes: { name: 'x' } } });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/type']);
});

it.each([null, [], 'text', { data: null }, { data: [] }])('refuses the body %j', async (body) => {
  const api = await serveForTest();
  const answer = await api.post('/organizations/acme/workspaces', JSON.stringify(body));
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data']);
});

const PROJECT_TYPE = '/data/relationships/project/data/type';

it.each([
  ['a project of another type', { relationships: project('prj-a', { type: 'foo' }) }, PROJECT_TYPE],
  ['a project without a type', { relationships: project('prj-a', {}) }, PROJECT_TYPE],
  ['a list of attributes', { attributes: [] }, '/data/attributes'],
  ['a list of relationships', { relationships: [] }, '/data/relationships'],
])('refuses a body with %s, on create and on update', async (_what, members, pointer) => {
  const api = await serveForTest({ seed: seedWith({ projects: [{ name: 'a', id: 'prj-a' }] }) });
  const id = await api.created({ name: 'net' });
  const before = (await api.get(`/workspaces/${id}`)).text;
  const body = { data: { type: 'workspaces', attributes: { name: 'x' }, ...members } };
  for (const answer of [
    await api.post('/organizations/acme/workspaces', body),
    await api.patch(`/workspaces/${id}`, body),
  ]) {
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual([pointer]);
  }
  expect((await api.get(`/workspaces/${id}`)).text).toBe(before);
  expect((await api.get('/organizations/acme/workspaces')).names).toEqual(['net']);
});

function project(id: string, type: { readonly type?: string }): unknown {
  return { project: { data: { id, ...type } } };
}

it('reports every attribute of the wrong type in one answer', async () => {
  const api = await serveForTest();
  const answer = await api.create({
    name: 7,
    description: 7,
    'auto-apply': 'yes',
    'trigger-prefixes': 'modules',
    'trigger-patterns': [1],
    'vcs-repo': 'acme/network',
    'setting-overwrites': { 'execution-mode': 'yes' },
    'execution-mode': 'cloud',
  });
  expect(answer.status).toBe(422);
  expect(answer.pointers.toSorted()).toEqual([
    '/data/attributes/auto-apply',
    '/data/attributes/description',
    '/data/attributes/execution-mode',
    '/data/attributes/name',
    '/data/attributes/name',
    '/data/attributes/setting-overwrites/execution-mode',
    '/data/attributes/trigger-patterns',
    '/data/attributes/trigger-prefixes',
    '/data/attributes/vcs-repo',
  ]);
});

it('ignores members that the spec does not know', async () => {
  const api = await serveForTest();
  expect((await api.create({ name: 'odd', colour: 'blue' }, { moon: { data: null } })).status).toBe(201);
});

it('puts a workspace without a project into the default project, and others into the requested one', async () => {
  const api = await serveForTest();
  const plain = await api.get(`/workspaces/${await api.created({ name: 'plain' })}?include=project`);
  expect(plain.document.included?.[0]?.attributes['name']).toBe('Default Project');
  const placed = await api.create(
    { name: 'placed' },
    { project: { data: { type: 'projects', id: 'prj-platform' } } },
  );
  expect(placed.resource.relationships['project']?.data).toEqual({ id: 'prj-platform', type: 'projects' });
});

it.each(['prj-unknown', 'prj-theirs'])('refuses the project %s', async (id) => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'x' }, { project: { data: { type: 'projects', id } } });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/relationships/project/data/id']);
});

it('takes the default of global-remote-state from the organization', async () => {
  const api = await serveForTest({ seed: seedWith({ 'global-remote-state-default': true }) });
  expect((await api.create({ name: 'open' })).resource.attributes['global-remote-state']).toBe(true);
  const closed = await api.create({ name: 'closed', 'global-remote-state': false });
  expect(closed.resource.attributes['global-remote-state']).toBe(false);
});

it.each([
  ['an owner', 'ann', 201],
  ['a team that manages all workspaces', 'managers', 201],
  ['the organization token', 'acme-organization', 201],
  ['a team that only reads', 'readers', 404],
  ['a member of another organization', 'eve', 404],
])('lets %s create: %s gets %i', async (_who, token, status) => {
  const api = await serveForTest();
  expect((await api.as(token).create({ name: 'x' })).status).toBe(status);
});

it('lets the admins of a project create only in that project', async () => {
  const api = (await serveForTest()).as('platform-admins');
  const inside = await api.create(
    { name: 'inside' },
    { project: { data: { type: 'projects', id: 'prj-platform' } } },
  );
  expect(inside.status).toBe(201);
  expect((await api.create({ name: 'outside' })).status).toBe(404);
});

it('lets only one of several concurrent creations with the same name succeed', async () => {
  const api = await serveForTest();
  const answers = await Promise.all(Array.from({ length: 8 }, () => api.create({ name: 'race' })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422, 422, 422, 422, 422]);
});

describe('a caller without permission to create', () => {
  const asking = (project: string, type = 'workspaces') => ({
    data: {
      type,
      attributes: { name: 'x' },
      relationships: { project: { data: { type: 'projects', id: project } } },
    },
  });

  it('gets the same 404 for all projects and bodies', async () => {
    const api = await serveForTest();
    for (const token of ['readers', 'platform-admins']) {
      const answers = [
        await api
          .as(token)
          .post('/organizations/acme/workspaces', { data: { type: 'workspaces', attributes: {} } }),
        await api.as(token).post('/organizations/acme/workspaces', asking('prj-sandbox')),
        await api.as(token).post('/organizations/acme/workspaces', asking('prj-unknown')),
        await api.as(token).post('/organizations/acme/workspaces', asking('prj-theirs')),
        await api.as(token).post('/organizations/acme/workspaces', asking('prj-unknown', 'runs')),
        await api.as(token).post('/organizations/acme/workspaces', 'null'),
      ];
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, token).toBe(1);
      expect(answers[0]?.status).toBe(404);
    }
  });

  it('gets errors of the body only for a project in which it may create', async () => {
    const api = await serveForTest();
    const answer = await api
      .as('platform-admins')
      .post('/organizations/acme/workspaces', asking('prj-platform', 'runs'));
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/type']);
  });
});

it('shows the created workspace to a team that manages all projects', async () => {
  const teams = [{ name: 'planners', token: 'planners', 'manage-projects': true }];
  const planners = (await serveForTest({ seed: seedWith({ teams }) })).as('planners');
  for (const project of ['prj-platform', 'prj-sandbox']) {
    const made = await planners.create(
      { name: `in-${project}` },
      { project: { data: { type: 'projects', id: project } } },
    );
    expect(made.status).toBe(201);
    expect(made.resource.attributes['permissions']).toMatchObject({
      'can-update': true,
      'can-destroy': true,
    });
    expect((await planners.get(`/workspaces/${made.resource.id}`)).status).toBe(200);
    expect((await planners.update(made.resource.id, { description: 'x' })).status).toBe(200);
  }
  expect((await planners.get('/organizations/acme/workspaces')).names.toSorted()).toEqual([
    'in-prj-platform',
    'in-prj-sandbox',
  ]);
});
