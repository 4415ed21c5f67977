import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const KINDS = [
  ['agent-pools', 'builders', 'apool-builders', {}],
  ['ssh-keys', 'deploy', 'sshkey-deploy', { value: 'PRIVATE' }],
] as const;

it.each(KINDS)('lists, creates, shows, renames and deletes %s', async (type, seeded, id, more) => {
  const api = await serveForTest();
  const list = `/organizations/acme/${type}`;
  const body = (attributes: object) => ({ data: { type, attributes } });
  expect((await api.get(list)).names).toEqual([seeded]);
  expect((await api.get(`/${type}/${id}`)).resource.attributes['name']).toBe(seeded);
  const made = await api.post(list, body({ name: 'second', ...more }));
  expect(made.status).toBe(201);
  expect(made.text).not.toContain('PRIVATE');
  expect((await api.get(`/${type}/${made.resource.id}`)).resource).toEqual(made.resource);
  const renamed = await api.patch(`/${type}/${made.resource.id}`, body({ name: 'third' }));
  expect([renamed.status, renamed.resource.attributes['name']]).toEqual([200, 'third']);
  expect((await api.get(`${list}?q=THI`)).names).toEqual(['third']);
  expect((await api.delete(`/${type}/${made.resource.id}`)).status).toBe(204);
  expect((await api.get(list)).names).toEqual([seeded]);
});

it.each(KINDS)('lets members see %s, and owners change them', async (type, _seeded, id, more) => {
  const api = await serveForTest();
  const list = `/organizations/acme/${type}`;
  const body = { data: { type, attributes: { name: 'x', ...more } } };
  for (const token of ['managers', 'readers']) {
    expect((await api.as(token).get(`/${type}/${id}`)).status).toBe(200);
    expect((await api.as(token).post(list, body)).status).toBe(404);
    expect((await api.as(token).patch(`/${type}/${id}`, body)).status).toBe(404);
    expect((await api.as(token).delete(`/${type}/${id}`)).status).toBe(404);
  }
  expect((await api.as('eve').get(`/${type}/${id}`)).status).toBe(404);
  expect((await api.as('eve').get(list)).status).toBe(404);
  expect((await api.get(`/${type}/nonexisting`)).status).toBe(404);
});

it.each(KINDS)('refuses %s without a name, or with one that is taken', async (type, seeded) => {
  const api = await serveForTest();
  const post = (attributes: object) =>
    api.post(`/organizations/acme/${type}`, { data: { type, attributes } });
  expect((await post({ value: 'x' })).pointers).toEqual(['/data/attributes/name']);
  expect((await post({ value: 'x', name: seeded })).pointers).toEqual(['/data/attributes/name']);
});

it('answers agent pools by pages, and all SSH keys at once', async () => {
  const more = Array.from({ length: 25 }, (_, index) => ({ name: `n${index}` }));
  const api = await serveForTest({ seed: seedWith({ 'agent-pools': more, 'ssh-keys': more }) });
  const pools = await api.get('/organizations/acme/agent-pools');
  expect(pools.resources).toHaveLength(20);
  expect(pools.document.meta?.pagination['total-count']).toBe(26);
  expect((await api.get('/organizations/acme/ssh-keys')).resources).toHaveLength(26);
});

it('stores whether an agent pool is for the whole organization', async () => {
  const api = await serveForTest();
  const SCOPED = 'organization-scoped';
  const list = '/organizations/acme/agent-pools';
  const body = (attributes: object) => ({ data: { type: 'agent-pools', attributes } });
  expect((await api.get('/agent-pools/apool-builders')).resource.attributes[SCOPED]).toBe(true);
  expect((await api.post(list, body({ name: 'all' }))).resource.attributes[SCOPED]).toBe(true);
  const few = await api.post(list, body({ name: 'few', [SCOPED]: false }));
  expect(few.resource.attributes[SCOPED]).toBe(false);
  const path = `/agent-pools/${few.resource.id}`;
  const renamed = await api.patch(path, body({ name: 'some' }));
  expect(renamed.resource.attributes).toMatchObject({ name: 'some', [SCOPED]: false });
  expect((await api.patch(path, body({ [SCOPED]: true }))).resource.attributes[SCOPED]).toBe(true);
  expect((await api.get(path)).resource.attributes).toMatchObject({ name: 'some', [SCOPED]: true });
  expect((await api.patch(path, body({ [SCOPED]: 'no' }))).pointers).toEqual([`/data/attributes/${SCOPED}`]);
});

it('refuses an SSH key without a value', async () => {
  const api = await serveForTest();
  const body = { data: { type: 'ssh-keys', attributes: { name: 'x' } } };
  expect((await api.post('/organizations/acme/ssh-keys', body)).pointers).toEqual(['/data/attributes/value']);
});

it('removes a deleted SSH key from its workspaces, and does not delete an agent pool in use', async () => {
  const api = await serveForTest();
  const id = await api.created({
    name: 'a',
    'execution-mode': 'agent',
    'agent-pool-id': 'apool-builders',
  });
  await api.patch(`/workspaces/${id}/relationships/ssh-key`, {
    data: { type: 'workspaces', attributes: { id: 'sshkey-deploy' } },
  });
  expect((await api.delete('/ssh-keys/sshkey-deploy')).status).toBe(204);
  const { relationships } = (await api.get(`/workspaces/${id}`)).resource;
  expect(relationships['ssh-key']?.data).toBeNull();
  expect((await api.delete('/agent-pools/apool-builders')).status).toBe(409);
  await api.delete(`/workspaces/${id}`);
  expect((await api.delete('/agent-pools/apool-builders')).status).toBe(204);
});
