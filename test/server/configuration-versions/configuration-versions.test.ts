import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      'configuration-versions': [
        { id: 'cv-1', 'ingress-attributes': { branch: 'main', 'commit-sha': 'abc' }, source: 'github' },
        { id: 'cv-2', speculative: true },
        { id: 'cv-3', status: 'errored', 'error-message': 'no files' },
      ],
    },
  ],
  teams: [
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
  ],
});
const LIST = '/workspaces/ws-a/configuration-versions';

const create = (api: TestClient, attributes: object = {}) =>
  api.post(LIST, { data: { type: 'configuration-versions', attributes } });

async function upload(api: TestClient, attributes: object = {}): Promise<string> {
  const { resource } = await create(api, attributes);
  const url = resource.attributes['upload-url'] as string;
  const answer = await fetch(url, { method: 'PUT', body: 'archive' });
  if (answer.status !== 200) throw new Error(`the upload was answered ${answer.status}`);
  return resource.id;
}

it('lists configuration versions, the newest first, and shows one', async () => {
  const api = await serveForTest({ seed: SEED });
  const { resources } = await api.get(LIST);
  expect(resources.map(({ id, attributes }) => [id, attributes['status']])).toEqual([
    ['cv-3', 'errored'],
    ['cv-2', 'uploaded'],
    ['cv-1', 'uploaded'],
  ]);
  expect((await api.get('/configuration-versions/cv-3')).resource).toEqual(resources[0]);
  expect(resources[0]?.attributes['error-message']).toBe('no files');
});

it('shows the commit of a version from a repository', async () => {
  const api = await serveForTest({ seed: SEED });
  const { relationships } = (await api.get('/configuration-versions/cv-1')).resource;
  const ingress = await api.get('/configuration-versions/cv-1/ingress-attributes');
  expect(relationships['ingress-attributes']?.data).toEqual({
    id: ingress.resource.id,
    type: 'ingress-attributes',
  });
  expect(ingress.resource.attributes).toMatchObject({ branch: 'main', 'commit-sha': 'abc', tag: null });
  expect((await api.get('/configuration-versions/cv-2/ingress-attributes')).status).toBe(404);
});

it('shows the newest uploaded version that is not speculative as the current one of its workspace', async () => {
  const api = await serveForTest({ seed: SEED });
  const current = async () =>
    (await api.get('/workspaces/ws-a')).resource.relationships['current-configuration-version']?.data;
  expect(await current()).toEqual({ id: 'cv-1', type: 'configuration-versions' });
  const id = await upload(api, { 'auto-queue-runs': false });
  expect(await current()).toEqual({ id, type: 'configuration-versions' });
});

it('accepts the archive once, at a link that is shown only to callers who may queue runs', async () => {
  const api = await serveForTest({ seed: SEED });
  const { resource } = await create(api, { 'auto-queue-runs': false });
  expect(resource.attributes['status']).toBe('pending');
  const asReader = await api.as('readers').get(`/configuration-versions/${resource.id}`);
  expect(asReader.resource.attributes['upload-url']).toBeNull();
  const url = resource.attributes['upload-url'] as string;
  const put = async () => (await fetch(url, { method: 'PUT', body: 'archive' })).status;
  expect([await put(), await put()]).toEqual([200, 409]);
  const after = (await api.get(`/configuration-versions/${resource.id}`)).resource.attributes;
  expect(after).toMatchObject({ status: 'uploaded', 'upload-url': null });
});

it('starts a run after the upload, unless auto-queue-runs is false', async () => {
  const api = await serveForTest({ seed: SEED });
  await upload(api, { 'auto-queue-runs': false });
  expect((await api.get('/workspaces/ws-a/runs')).resources).toEqual([]);
  const id = await upload(api, { speculative: true });
  const [run] = (await api.get('/workspaces/ws-a/runs')).resources;
  expect(run?.attributes).toMatchObject({ 'plan-only': true, status: 'planned_and_finished' });
  expect(run?.relationships['configuration-version']?.data).toMatchObject({ id });
});

it('lets callers create versions who may queue runs, and hides them from other organizations', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await create(api.as('readers'))).status).toBe(404);
  expect((await create(api.as('eve'))).status).toBe(404);
  expect((await api.as('eve').get('/configuration-versions/cv-1')).status).toBe(404);
  expect((await create(api, { speculative: 'yes' })).pointers).toEqual(['/data/attributes/speculative']);
});

it.each([
  ['planners', 'planned'],
  ['writers', 'applied'],
  ['ann', 'applied'],
])(
  'starts a run that is applied automatically only for callers who may apply: %s (%s)',
  async (token, status) => {
    const api = await serveForTest({ seed: SEED });
    await api.update('ws-a', { 'auto-apply': true });
    await upload(api.as(token));
    const [run] = (await api.get('/workspaces/ws-a/runs')).resources;
    expect(run?.attributes['status']).toBe(status);
  },
);

it('starts no run in a workspace whose execution mode is local', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-a', { 'execution-mode': 'local' });
  await upload(api);
  expect((await api.get('/workspaces/ws-a/runs')).resources).toEqual([]);
});

it.each([
  [60, 'planned'],
  [3600, 'applied'],
])(
  'applies the upload of a team automatically only while its token is valid: after %i seconds, %s',
  async (life, status) => {
    let time = Date.parse('2026-01-01T00:00:00Z');
    const token = { token: 'passing', 'expires-at': new Date(time + life * 1000).toISOString() };
    const teams = [{ name: 'passing', tokens: [token], 'workspace-access': { a: 'write' } }];
    const workspaces = [{ name: 'a', id: 'ws-a' }];
    const api = await serveForTest({ seed: seedWith({ workspaces, teams }), now: () => new Date(time) });
    await api.update('ws-a', { 'auto-apply': true });
    const { resource } = await create(api.as('passing'));
    time += 600_000;
    await fetch(resource.attributes['upload-url'] as string, { method: 'PUT', body: 'archive' });
    const [run] = (await api.get('/workspaces/ws-a/runs')).resources;
    expect(run?.attributes['status']).toBe(status);
  },
);
