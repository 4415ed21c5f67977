import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../../src/server/kernel/database.ts';
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
  meta: string | null;
}

/** A service with a data file, and the events as they are stored in that file. */
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

it('records each change of a workspace with its actor and its request', async () => {
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

it('records nothing for refused requests, and nothing for reads', async () => {
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
  const keep = (days: number) => ({
    data: {
      type: 'data-retention-policy-delete-olders',
      attributes: { 'delete-older-than-n-days': days },
    },
  });
  await api.post(path, keep(60));
  await api.post(path, keep(30));
  await api.post(path, keep(30));
  await api.delete(path);
  expect(events().map((row) => row.resource_action)).toEqual(['create', 'update', 'destroy']);
  expect(JSON.parse(events()[2]?.meta ?? '')).toEqual({
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
  const recorded = events().map((row) => [row.actor_name, row.resource_id, row.resource_action]);
  expect(recorded).toEqual([
    ['ann', team?.id, 'add_member'],
    ['ann', team?.id, 'remove_member'],
  ]);
  expect(events().map((row) => row.meta)).toEqual(['{"user":"bob"}', '{"user":"bob"}']);
});

it('records which team gets which access to a workspace or a project, and which loses it', async () => {
  const { api, events } = await serve(seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }));
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=readers')).resources;
  const access = (kind: string, id: string, attributes: object) => ({
    data: {
      type: `team-${kind}s`,
      attributes,
      relationships: {
        [kind]: { data: { type: `${kind}s`, id } },
        team: { data: { type: 'teams', id: team?.id } },
      },
    },
  });
  for (const [kind, id] of [
    ['workspace', 'ws-a'],
    ['project', 'prj-sandbox'],
  ] as const) {
    const given = await api.post(`/team-${kind}s`, access(kind, id, { access: 'read' }));
    const path = `/team-${kind}s/${given.resource.id}`;
    for (const level of ['write', 'write', 'nonsense']) {
      await api.patch(path, access(kind, id, { access: level }));
    }
    await api.delete(path);
  }
  const recorded = events().map((row) => [row.resource_type, row.resource_id, row.resource_action]);
  const kept = (kind: string, id: string) =>
    ['add_team', 'update_team_permissions', 'remove_team'].map((action) => [kind, id, action]);
  expect(recorded).toEqual([...kept('workspace', 'ws-a'), ...kept('project', 'prj-sandbox')]);
  const fields = events().map((row) => JSON.parse(row.meta ?? '') as unknown);
  const expected = [
    { team: 'readers', permissions: 'read' },
    { team: 'readers', permissions: 'write' },
    { team: 'readers' },
  ];
  expect(fields).toEqual([...expected, ...expected]);
});

it('records the permissions of a custom access by name', async () => {
  const { api, events } = await serve(
    seedWith({
      workspaces: [{ name: 'a', id: 'ws-a' }],
      teams: [{ name: 'devs', 'workspace-access': { a: ['can-lock'] } }],
    }),
  );
  const [given] = (await api.get('/team-workspaces?filter[workspace][id]=ws-a')).resources;
  const attributes = { access: 'custom', variables: 'read' };
  for (const _ of ['once', 'again']) {
    await api.patch(`/team-workspaces/${given?.id}`, { data: { type: 'team-workspaces', attributes } });
  }
  expect(events().map((row) => row.meta)).toEqual([
    '{"team":"devs","permissions":"can-lock, can-read-run, can-read-variable"}',
  ]);
});

it('records flat tags that are added to or removed from many workspaces, with an event for each one', async () => {
  const { api, events } = await serve(
    seedWith({
      workspaces: [
        { name: 'a', id: 'ws-a', tags: ['x', 'y'] },
        { name: 'b', id: 'ws-b', tags: ['y'] },
        { name: 'c', id: 'ws-c' },
      ],
    }),
  );
  const tags = (await api.get('/organizations/acme/tags')).resources.map(({ id }) => id);
  await api.post(`/tags/${tags[0]}/relationships/workspaces`, identifiers(['ws-a', 'ws-b']));
  await api.post(`/tags/${tags[0]}/relationships/workspaces`, identifiers(['ws-c', 'ws-none']));
  await api.delete('/organizations/acme/tags', identifiers(tags, 'tags'));
  expect(events().map((row) => [row.resource_id, row.resource_action, row.meta])).toEqual([
    ['ws-b', 'update', '{"tags-added":["x"]}'],
    ['ws-a', 'update', '{"tags-removed":["x","y"]}'],
    ['ws-b', 'update', '{"tags-removed":["y","x"]}'],
  ]);
});

it('records the run of an uploaded configuration as created by the creator of the configuration', async () => {
  const { api, events } = await serve(seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }));
  const body = { data: { type: 'configuration-versions' } };
  const made = await api.post('/workspaces/ws-a/configuration-versions', body);
  const link = String(made.resource.attributes['upload-url']);
  expect((await fetch(link, { method: 'PUT', body: 'an archive' })).status).toBe(200);
  expect((await fetch(link, { method: 'PUT', body: 'an archive' })).status).toBe(409);
  const recorded = events().map((row) => [row.actor_name, row.resource_type, row.resource_action]);
  expect(recorded.filter(([actor]) => actor !== 'system')).toEqual([
    ['ann', 'configuration_version', 'create'],
    ['ann', 'configuration_version', 'upload'],
    ['ann', 'run', 'create'],
  ]);
});
