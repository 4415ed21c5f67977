import { createHash } from 'node:crypto';

import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/kernel/database.ts';
import { chooseDialects } from '../../../src/server/kernel/dialects.ts';
import { authenticateBearer } from '../../../src/server/kernel/caller.ts';
import { applySeed } from '../../../src/server/seed/apply-seed.ts';
import { createServices } from '../../../src/server/kernel/services.ts';
import { safeDeleteWorkspace } from '../../../src/server/workspaces/workspaces.ts';
import { bindings, identifiers, seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const BY_NAME = '/organizations/acme/workspaces/a';

it.each([
  ['by id', (id: string) => `/workspaces/${id}`],
  ['by name', () => BY_NAME],
])('safely deletes a workspace without resources %s', async (_form, path) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, bindings({ env: 'prod' }));
  const answer = await api.post(`${path(id)}/actions/safe-delete`);
  expect(answer.status).toBe(204);
  expect(answer.text).toBe('');
  expect((await api.get(BY_NAME)).status).toBe(404);
  expect((await api.post(`${path(id)}/actions/safe-delete`)).status).toBe(404);
});

it('refuses to safely delete a workspace that manages resources, and does not change it', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', 'resource-count': 3 }] }) });
  const answer = await api.post(`${BY_NAME}/actions/safe-delete`);
  expect(answer.status).toBe(409);
  expect(answer.errors[0]?.title).toBe('conflict');
  expect(answer.errors[0]?.detail).not.toMatch(/locked|being processed/);
  expect((await api.get(BY_NAME)).resource.attributes['resource-count']).toBe(3);
});

it.each([
  [1, 'still manages 1 resource and'],
  [2, 'still manages 2 resources and'],
])('names the number of resources that prevent a safe delete: %i', async (count, text) => {
  const api = await serveForTest({
    seed: seedWith({ workspaces: [{ name: 'a', 'resource-count': count }] }),
  });
  const answer = await api.post(`${BY_NAME}/actions/safe-delete`);
  expect(answer.errors[0]?.detail).toContain(text);
});

it('safely deletes a locked workspace that manages no resources', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  await api.post(`/workspaces/${id}/actions/lock`);
  expect((await api.post(`${BY_NAME}/actions/safe-delete`)).status).toBe(204);
  expect((await api.get(BY_NAME)).status).toBe(404);
});

it('refuses to safely delete a locked workspace in dialects that require an unlocked one', () => {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  const now = new Date();
  applySeed(database, seedWith({ workspaces: [{ name: 'a', 'locked-by-run': 'run-1' }] }), now);
  const { workspaces, clusterAuth } = chooseDialects([]);
  const services = createServices(database, {
    now: () => now,
    dialects: { clusterAuth, workspaces: { ...workspaces, safeDeleteNeedsUnlocked: true } },
  });
  const caller = authenticateBearer(database, 'Bearer ann', now);
  if (caller === undefined) throw new Error('ann is nobody');
  const request = {
    services,
    caller,
    params: { organization_name: 'acme', name: 'a' },
    query: {},
    body: undefined,
  };
  const said = { origin: 'http://127.0.0.1', path: '/', requestId: 'request-1' };
  expect(() => safeDeleteWorkspace({ ...request, ...said })).toThrow(/locked/);
});

it('refuses to safely delete a workspace whose newest state manages resources and never became current', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  await api.post(`/workspaces/${id}/actions/lock`);
  const state = JSON.stringify({
    resources: [{ mode: 'managed', type: 'thing', name: 't', instances: [{}, {}, {}, {}, {}] }],
  });
  await api.post(`/workspaces/${id}/state-versions`, {
    data: {
      type: 'state-versions',
      attributes: {
        serial: 1,
        md5: createHash('md5').update(state).digest('hex'),
        state: Buffer.from(state).toString('base64'),
        intermediate: true,
      },
    },
  });
  await api.post(`/workspaces/${id}/actions/force-unlock`);
  expect((await api.attributes(id))['resource-count']).toBe(0);
  const answer = await api.post(`/workspaces/${id}/actions/safe-delete`);
  expect(answer.status).toBe(409);
  expect(answer.errors[0]?.detail).toContain('still manages 5 resources');
  expect((await api.get(BY_NAME)).status).toBe(200);
});

it('refuses to safely delete a workspace whose newest state is being processed', async () => {
  const workspaces = [{ name: 'a', 'intermediate-state-version': 'pending' as const }];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const answer = await api.post(`${BY_NAME}/actions/safe-delete`);
  expect(answer.status).toBe(409);
  expect(answer.errors[0]?.detail).toContain('being processed');
});

it.each([
  ['by id', (id: string) => `/workspaces/${id}`],
  ['by name', () => BY_NAME],
])('force deletes a workspace %s, even if it manages resources', async (_form, path) => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', 'resource-count': 3 }] }) });
  const { id } = (await api.get(BY_NAME)).resource;
  await api.post(`/workspaces/${id}/actions/lock`);
  expect((await api.delete(path(id))).status).toBe(204);
  expect((await api.get(BY_NAME)).status).toBe(404);
});

it('removes the workspace from the consumers of others, and frees its name', async () => {
  const api = await serveForTest();
  const subject = await api.created({ name: 'subject' });
  const consumer = await api.created({ name: 'consumer' });
  const path = `/workspaces/${subject}/relationships/remote-state-consumers`;
  await api.post(path, identifiers([consumer]));
  await api.delete(`/workspaces/${consumer}`);
  expect((await api.get(path)).resources).toEqual([]);
  expect((await api.create({ name: 'consumer' })).status).toBe(201);
});

const WITH_ADMIN = {
  workspaces: [{ name: 'a' }],
  teams: [
    { name: 'admins', token: 'admins', 'workspace-access': { a: 'admin' } },
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
  ],
};

it.each([
  ['an owner', 'ann', false, 204],
  ['a workspace admin', 'admins', false, 403],
  ['a workspace admin if the organization allows it', 'admins', true, 204],
  ['a writer, even if the organization allows it to admins', 'writers', true, 403],
  ['a manager of all workspaces', 'managers', false, 403],
  ['a manager of all workspaces if the organization allows it', 'managers', true, 204],
  ['an organization token', 'acme-organization', false, 403],
  ['a user who cannot see the workspace', 'eve', true, 404],
])('answers a force delete by %s', async (_who, token, allowed, status) => {
  const seed = seedWith({ ...WITH_ADMIN, 'allow-force-delete-workspaces': allowed });
  const api = await serveForTest({ seed });
  const before = await api.as(token).get(BY_NAME);
  if (before.status === 200) {
    const permissions = before.resource.attributes['permissions'] as Record<string, boolean>;
    expect(permissions['can-force-delete']).toBe(status === 204);
  }
  const answer = await api.as(token).delete(BY_NAME);
  expect(answer.status).toBe(status);
  expect((await api.get(BY_NAME)).status).toBe(status === 204 ? 404 : 200);
});

it.each([
  ['admins', 204],
  ['writers', 404],
  ['managers', 204],
  ['readers', 404],
])('answers a safe delete by %s with %i', async (token, status) => {
  const api = await serveForTest({ seed: seedWith(WITH_ADMIN) });
  expect((await api.as(token).post(`${BY_NAME}/actions/safe-delete`)).status).toBe(status);
});
