import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const ACME = '/organizations/acme';

it('shows an organization to its members, with its settings', async () => {
  const api = await serveForTest({ seed: seedWith({ 'assessments-enforced': true }) });
  const answer = await api.get(ACME);
  expect(answer.status).toBe(200);
  expect(answer.resource).toMatchObject({
    id: 'acme',
    type: 'organizations',
    attributes: { name: 'acme', 'assessments-enforced': true, 'default-execution-mode': 'remote' },
  });
  const { permissions, ...shared } = answer.resource.attributes;
  const other = (await api.as('managers').get(ACME)).resource;
  expect(other).toEqual({ ...answer.resource, attributes: { ...shared, permissions: expect.anything() } });
  expect(permissions).toMatchObject({ 'can-update': true, 'can-destroy': true });
  expect(other.attributes['permissions']).toMatchObject({
    'can-update': false,
    'can-create-workspace': true,
  });
});

it('answers 404 for an organization that the caller does not belong to', async () => {
  const api = await serveForTest({ seed: seedWith({}) });
  expect((await api.get('/organizations/elsewhere')).status).toBe(404);
});

const body = (attributes: object, relationships: object = {}) => ({
  data: { type: 'organizations', attributes, relationships },
});

it('lists the organizations that the caller belongs to', async () => {
  const api = await serveForTest();
  expect((await api.get('/organizations')).names).toEqual(['acme']);
  expect((await api.as('eve').get('/organizations')).names).toEqual(['rival']);
  expect((await api.as('acme-organization').get('/organizations')).names).toEqual(['acme']);
  expect((await api.get('/organizations?q=CM')).names).toEqual(['acme']);
  expect((await api.get('/organizations?q=none')).names).toEqual([]);
});

it('creates an organization that its creator owns and can use immediately', async () => {
  const api = await serveForTest();
  const bob = api.as('bob');
  const made = await bob.post('/organizations', body({ name: 'new-co', email: 'b@example.com' }));
  expect(made.status).toBe(201);
  expect((await bob.get('/organizations/new-co')).resource).toEqual(made.resource);
  const project = made.resource.relationships['default-project']?.links?.related.replace('/api/v2', '') ?? '';
  expect((await bob.get(project)).resource.attributes['name']).toBe('Default Project');
  const created = await bob.post('/organizations/new-co/workspaces', {
    data: { type: 'workspaces', attributes: { name: 'first' } },
  });
  expect(created.status).toBe(201);
  expect((await api.get('/organizations/new-co')).status).toBe(404);
});

it('refuses a name that is taken or invalid, and tokens that are not of a user', async () => {
  const api = await serveForTest();
  for (const name of ['acme', 'two words', '', 'n'.repeat(91)]) {
    expect((await api.post('/organizations', body({ name }))).pointers).toEqual(['/data/attributes/name']);
  }
  for (const token of ['managers', 'acme-organization']) {
    expect((await api.as(token).post('/organizations', body({ name: 'x' }))).status).toBe(404);
  }
});

it('changes settings that workspaces inherit', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const pool = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-builders' } } };
  const answer = await api.patch(
    ACME,
    body({ 'default-execution-mode': 'agent', 'assessments-enforced': true }, pool),
  );
  expect(answer.status).toBe(200);
  expect(answer.resource.attributes).toMatchObject({
    name: 'acme',
    'default-execution-mode': 'agent',
    'assessments-enforced': true,
  });
  const workspace = (await api.get(`/workspaces/${id}`)).resource;
  expect(workspace.attributes).toMatchObject({ 'execution-mode': 'agent', 'assessments-enabled': true });
  expect(workspace.relationships['agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
});

it.each(['remote', 'local'])(
  'drops the default agent pool when the default mode becomes %s',
  async (mode) => {
    const api = await serveForTest();
    const pool = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-builders' } } };
    await api.patch(ACME, body({ 'default-execution-mode': 'agent' }, pool));
    const kept = await api.patch(ACME, body({ email: 'a@example.com' }));
    expect(kept.resource.relationships['default-agent-pool']?.data).toMatchObject({ id: 'apool-builders' });
    const answer = await api.patch(ACME, body({ 'default-execution-mode': mode }));
    expect(answer.resource.relationships['default-agent-pool']?.data).toBeNull();
  },
);

it('names every error in new settings', async () => {
  const api = await serveForTest();
  const theirs = { 'default-agent-pool': { data: { type: 'agent-pools', id: 'apool-theirs' } } };
  const answer = await api.patch(ACME, body({ name: 'rival', 'assessments-enforced': 'yes' }, theirs));
  expect(answer.pointers.toSorted()).toEqual([
    '/data/attributes/assessments-enforced',
    '/data/attributes/name',
    '/data/relationships/default-agent-pool/data/id',
  ]);
  const without = await api.patch(ACME, body({ 'default-execution-mode': 'agent' }));
  expect(without.pointers).toEqual(['/data/attributes/default-execution-mode']);
});

it('lets owners and the organization`s token change settings, and only owners delete it', async () => {
  const api = await serveForTest();
  for (const token of ['managers', 'readers', 'eve']) {
    expect((await api.as(token).patch(ACME, body({ email: 'x@example.com' }))).status).toBe(404);
  }
  expect((await api.as('acme-organization').patch(ACME, body({ email: 'x@example.com' }))).status).toBe(200);
  expect((await api.as('acme-organization').delete(ACME)).status).toBe(404);
  await api.created({ name: 'a', 'execution-mode': 'agent', 'agent-pool-id': 'apool-builders' });
  expect((await api.delete(ACME)).status).toBe(204);
  expect((await api.get(ACME)).status).toBe(404);
  expect((await api.as('eve').get('/organizations')).names).toEqual(['rival']);
});

it('an organization is entitled to everything', async () => {
  const api = await serveForTest();
  const { resource } = await api.get(`${ACME}/entitlement-set`);
  expect(resource).toMatchObject({
    type: 'entitlement-sets',
    attributes: { operations: true, 'state-storage': true },
  });
});

it('an organization has no stacks', async () => {
  const api = await serveForTest();
  const answer = await api.get(`${ACME}/stacks`);
  expect([answer.resources, answer.document.meta?.pagination['total-count']]).toEqual([[], 0]);
});
