/** Run triggers as Terraform's provider requests them: `tfe_run_trigger`. */
import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    { name: 'net', id: 'ws-net' },
    { name: 'app', id: 'ws-app' },
  ],
  teams: [
    { name: 'app-admins', token: 'app-admins', 'workspace-access': { app: 'admin' } },
    { name: 'writers', token: 'writers', 'workspace-access': { app: 'write', net: 'read' } },
  ],
});
const LIST = '/workspaces/ws-app/run-triggers';
const INBOUND = `${LIST}?filter[run-trigger][type]=inbound`;

function create(api: TestClient, source = 'ws-net') {
  const sourceable = { data: { type: 'workspaces', id: source } };
  return api.post(LIST, { data: { type: 'run-triggers', relationships: { sourceable } } });
}

it('creates, shows, lists and deletes a run trigger', async () => {
  const api = await serveForTest({ dialects: ['hcp-terraform'], seed: SEED });
  const made = await create(api);
  expect(made.status).toBe(201);
  const { id, attributes, relationships } = made.resource;
  expect(attributes).toMatchObject({ 'workspace-name': 'app', 'sourceable-name': 'net' });
  expect(relationships['workspace']?.data).toEqual({ id: 'ws-app', type: 'workspaces' });
  expect(relationships['sourceable']?.data).toEqual({ id: 'ws-net', type: 'workspaces' });
  expect((await api.get(`/run-triggers/${id}`)).resource).toEqual(made.resource);
  expect((await api.get(INBOUND)).resources).toEqual([made.resource]);
  const outbound = (path: string) => api.get(`${path}/run-triggers?filter[run-trigger][type]=outbound`);
  expect((await outbound('/workspaces/ws-net')).resources).toEqual([made.resource]);
  expect((await outbound('/workspaces/ws-app')).resources).toEqual([]);
  const { included = [] } = (await api.get(`${INBOUND}&include=sourceable`)).document;
  expect(included.map(({ id: one }) => one)).toEqual(['ws-net']);
  expect((await api.delete(`/run-triggers/${id}`)).status).toBe(204);
  expect((await api.get(`/run-triggers/${id}`)).status).toBe(404);
});

it('refuses the workspace itself, a repeated source, an unknown one, and a list without direction', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await create(api)).status).toBe(201);
  for (const source of ['ws-net', 'ws-app', 'ws-none']) {
    expect((await create(api, source)).pointers).toEqual(['/data/relationships/sourceable/data/id']);
  }
  expect((await api.get(LIST)).status).toBe(400);
});

it('a run trigger requires rights on the workspace and its source, and is deleted with either of them', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await create(api.as('writers'))).status).toBe(404);
  expect((await create(api.as('app-admins'))).status).toBe(422);
  const { id } = (await create(api)).resource;
  expect((await api.as('writers').get(`/run-triggers/${id}`)).status).toBe(200);
  expect((await api.as('app-admins').get(INBOUND)).resources).toEqual([]);
  expect((await api.as('writers').delete(`/run-triggers/${id}`)).status).toBe(404);
  await api.delete('/workspaces/ws-net');
  expect((await api.get(INBOUND)).resources).toEqual([]);
});
