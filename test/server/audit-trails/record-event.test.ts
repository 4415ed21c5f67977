import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/data-file/database.ts';
import {
  identifiers,
  SEED,
  seedWith,
  serveForTest,
  type TestClient,
} from '../../support/server/serve-for-test.ts';

interface EventRow {
  actor_name: string;
  request_id: string;
  resource_id: string;
  resource_type: string;
  resource_action: string;
  extra_fields: string | null;
}

/** A service over a file, and a look at the trail from outside: no endpoint reads it yet. */
async function serve(seed = SEED): Promise<{ api: TestClient; events: () => EventRow[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-audit-'));
  const data = join(directory, 'embedded.db');
  const api = await serveForTest({ data, seed });
  const database = Database.open(data);
  onTestFinished(() => {
    database.close();
    rmSync(directory, { recursive: true });
  });
  return { api, events: () => database.all<EventRow>('SELECT * FROM audit_events ORDER BY position') };
}

it('records each change of a workspace with who made it and in which request', async () => {
  const { api, events } = await serve();
  const [managers] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  const created = await api.as('managers').create({ name: 'a' });
  const path = `/workspaces/${created.resource.id}`;
  await api.update(created.resource.id, { description: 'x' });
  await api.post(`${path}/actions/lock`);
  await api.post(`${path}/actions/unlock`);
  await api.post(`${path}/actions/lock`);
  await api.post(`${path}/actions/force-unlock`);
  await api.post(`${path}/relationships/tags`, { data: [{ type: 'tags', attributes: { name: 'x' } }] });
  await api.as('acme-organization').delete(path);
  await api.delete(path);
  expect(events().map((row) => [row.actor_name, row.resource_type, row.resource_action])).toEqual([
    [`api-${managers?.id}`, 'workspace', 'create'],
    ['ann', 'workspace', 'update'],
    ['ann', 'workspace', 'lock'],
    ['ann', 'workspace', 'unlock'],
    ['ann', 'workspace', 'lock'],
    ['ann', 'workspace', 'force_unlock'],
    ['ann', 'workspace', 'update'],
    ['ann', 'workspace', 'destroy'],
  ]);
  expect(events()[0]?.request_id).toBe(created.headers.get('x-request-id'));
  expect(new Set(events().map((row) => row.resource_id))).toEqual(new Set([created.resource.id]));
});

it('records nothing for what was refused, and nothing for reading', async () => {
  const { api, events } = await serve(seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }));
  await api.get('/workspaces/ws-a');
  await api.create({ name: 'a' });
  await api.update('ws-a', { name: 'two words' });
  await api.post('/workspaces/ws-a/actions/unlock');
  await api.post('/workspaces/ws-a/relationships/remote-state-consumers', identifiers(['ws-a']));
  expect(events()).toEqual([]);
});

it('records a data retention policy with its own fields', async () => {
  const { api, events } = await serve(seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }));
  const path = '/workspaces/ws-a/relationships/data-retention-policy';
  const attributes = { 'delete-older-than-n-days': 30 };
  const body = { data: { type: 'data-retention-policy-delete-olders', attributes } };
  await api.post(path, body);
  await api.post(path, body);
  await api.delete(path);
  expect(events().map((row) => row.resource_action)).toEqual(['create', 'update', 'destroy']);
  expect(JSON.parse(events()[2]?.extra_fields ?? '')).toEqual({
    delete_older_than_n_days: 30,
    organization: 'acme',
    organization_id: expect.stringMatching(/^org-/),
  });
});

it('records who joins a team and who leaves it', async () => {
  const { api, events } = await serve(seedWith({ members: ['bob'] }));
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=readers')).resources;
  const path = `/teams/${team?.id}/relationships/users`;
  expect((await api.post(path, identifiers(['bob'], 'users'))).status).toBe(204);
  expect((await api.delete(path, identifiers(['bob'], 'users'))).status).toBe(204);
  const told = events().map((row) => [row.actor_name, row.resource_id, row.resource_action]);
  expect(told).toEqual([
    ['ann', team?.id, 'update'],
    ['ann', team?.id, 'update'],
  ]);
});
