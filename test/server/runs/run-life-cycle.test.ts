import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestAnswer,
  type TestClient,
  tickingClock,
} from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [{ name: 'a', id: 'ws-a' }],
  teams: [
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
  ],
});

function begin(api: TestClient, attributes: object = {}, relationships: object = {}): Promise<TestAnswer> {
  return api.post('/runs', {
    data: {
      type: 'runs',
      attributes,
      relationships: { workspace: { data: { type: 'workspaces', id: 'ws-a' } }, ...relationships },
    },
  });
}

async function begun(api: TestClient, attributes: object = {}): Promise<string> {
  const answer = await begin(api, attributes);
  if (answer.status !== 201) throw new Error(`a run was answered ${answer.status}: ${answer.text}`);
  return answer.resource.id;
}

const act = async (api: TestClient, run: string, action: string) =>
  (await api.post(`/runs/${run}/actions/${action}`)).status;
const statusOf = async (api: TestClient, run: string) =>
  (await api.get(`/runs/${run}`)).resource.attributes['status'];
const lockOf = async (api: TestClient) =>
  (await api.get('/workspaces/ws-a')).resource.relationships['locked-by']?.data;

it('plans at once and holds the lock until it is applied', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const created = await begin(api, { message: 'hello' });
  const run = created.resource.id;
  expect(created.resource.attributes).toMatchObject({
    status: 'planned',
    message: 'hello',
    actions: { 'is-confirmable': true, 'is-discardable': true, 'is-cancelable': false },
  });
  expect(await lockOf(api)).toEqual({ id: run, type: 'runs' });
  const workspace = (await api.get('/workspaces/ws-a')).resource;
  expect(workspace.relationships['current-run']?.data).toEqual({ id: run, type: 'runs' });
  expect((await api.post('/workspaces/ws-a/actions/lock')).status).toBe(409);
  expect((await api.post('/workspaces/ws-a/actions/unlock')).errors[0]?.detail).toContain('is locked by Run');
  expect(await act(api, run, 'apply')).toBe(202);
  expect(await statusOf(api, run)).toBe('applied');
  expect(await lockOf(api)).toBeNull();
});

it('waits to be applied until the state that it announced has come', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await begun(api);
  const pending = await api.post('/workspaces/ws-a/state-versions', {
    data: {
      type: 'state-versions',
      attributes: { serial: 1, md5: createHash('md5').update('{}').digest('hex') },
      relationships: { run: { data: { type: 'runs', id: run } } },
    },
  });
  const refused = await api.post(`/runs/${run}/actions/apply`);
  expect(refused.status).toBe(503);
  expect(refused.errors[0]?.detail).toContain('latest state version is still pending');
  expect(await statusOf(api, run)).toBe('planned');
  expect(await lockOf(api)).toEqual({ id: run, type: 'runs' });
  const url = pending.resource.attributes['hosted-state-upload-url'] as string;
  await fetch(url, { method: 'PUT', body: '{}' });
  expect(await act(api, run, 'apply')).toBe(202);
  const current = (await api.get('/workspaces/ws-a/current-state-version')).resource;
  expect(current.id).toBe(pending.resource.id);
});

it('is not applied automatically while a state that it would make current is pending', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const pending = await api.post('/workspaces/ws-a/state-versions', {
    data: {
      type: 'state-versions',
      attributes: { serial: 1, md5: createHash('md5').update('{}').digest('hex'), intermediate: true },
    },
  });
  await api.post('/workspaces/ws-a/actions/force-unlock');
  const next = await begun(api, { 'auto-apply': true });
  expect(await statusOf(api, next)).toBe('planned');
  const url = pending.resource.attributes['hosted-state-upload-url'] as string;
  await fetch(url, { method: 'PUT', body: '{}' });
  expect(await act(api, next, 'apply')).toBe(202);
  const current = (await api.get('/workspaces/ws-a/current-state-version')).resource;
  expect(current.id).toBe(pending.resource.id);
});

it('counts for the performance of its workspace and for filters, once it was applied', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const run = await begun(api);
  const counted = async () => (await api.attributes('ws-a'))['workspace-kpis-runs-count'];
  expect(await counted()).toBeNull();
  await act(api, run, 'apply');
  expect(await counted()).toBe(1);
  expect((await api.attributes('ws-a'))['plan-duration-average']).toBeGreaterThan(0);
  const list = '/organizations/acme/workspaces?filter[current-run][status]';
  expect((await api.get(`${list}=applied`)).names).toEqual(['a']);
  expect((await api.get(`${list}=planned`)).names).toEqual([]);
});

it('lets runs take their turn in the order of their creation', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const [first, second, third] = [await begun(api), await begun(api), await begun(api)];
  const statuses = async () => [
    await statusOf(api, first),
    await statusOf(api, second),
    await statusOf(api, third),
  ];
  expect(await statuses()).toEqual(['planned', 'pending', 'pending']);
  expect(await act(api, first, 'discard')).toBe(202);
  expect(await statuses()).toEqual(['discarded', 'planned', 'pending']);
  expect(await lockOf(api)).toEqual({ id: second, type: 'runs' });
  expect(await act(api, third, 'cancel')).toBe(202);
  expect(await act(api, second, 'apply')).toBe(202);
  expect(await statuses()).toEqual(['discarded', 'applied', 'canceled']);
  expect(await lockOf(api)).toBeNull();
});

it('waits for a lock that a user holds, and begins when it is given back', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const run = await begun(api);
  expect(await statusOf(api, run)).toBe('pending');
  const unlocked = await api.post('/workspaces/ws-a/actions/unlock');
  expect(unlocked.status).toBe(200);
  expect(unlocked.resource.relationships['locked-by']?.data).toEqual({ id: run, type: 'runs' });
  expect(await statusOf(api, run)).toBe('planned');
});

it('is applied automatically if the run or the workspace has auto-apply', async () => {
  const api = await serveForTest({ seed: SEED });
  expect(await statusOf(api, await begun(api, { 'auto-apply': true }))).toBe('applied');
  expect(await statusOf(api, await begun(api))).toBe('planned');
  const other = await serveForTest({ seed: SEED });
  await other.update('ws-a', { 'auto-apply': true });
  expect(await statusOf(other, await begun(other))).toBe('applied');
  expect(await lockOf(other)).toBeNull();
});

it('needs no lock for a plan alone', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const run = await begin(api, { 'plan-only': true });
  expect(run.resource.attributes['status']).toBe('planned_and_finished');
  expect(run.resource.relationships['apply']).toEqual({ data: null });
  expect(await lockOf(api)).toMatchObject({ type: 'users' });
});

it('only plans a speculative configuration', async () => {
  const api = await serveForTest({ seed: SEED });
  const attributes = { speculative: true, 'auto-queue-runs': false };
  const created = await api.post('/workspaces/ws-a/configuration-versions', {
    data: { type: 'configuration-versions', attributes },
  });
  const { id, attributes: shown } = created.resource;
  await fetch(String(shown['upload-url']), { method: 'PUT', body: 'archive' });
  const version = { data: { type: 'configuration-versions', id } };
  const run = (await begin(api, { 'auto-apply': true }, { 'configuration-version': version })).resource;
  expect(run.attributes).toMatchObject({ 'plan-only': true, status: 'planned_and_finished' });
  expect(await lockOf(api)).toBeNull();
});

it('does only what its status allows', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await begun(api);
  expect(await act(api, run, 'cancel')).toBe(409);
  await act(api, run, 'discard');
  for (const action of ['apply', 'discard', 'cancel']) expect(await act(api, run, action)).toBe(409);
  expect(await statusOf(api, run)).toBe('discarded');
});

it('cannot be applied when its lock was forced off and is somebody else`s now', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await begun(api);
  await api.post('/workspaces/ws-a/actions/force-unlock');
  await api.post('/workspaces/ws-a/actions/lock');
  expect(await act(api, run, 'apply')).toBe(409);
  await api.post('/workspaces/ws-a/actions/unlock');
  expect(await act(api, run, 'apply')).toBe(202);
});

it.each([
  ['readers', 404, 404],
  ['planners', 201, 404],
  ['writers', 201, 202],
  ['eve', 404, 404],
])('lets %s queue a run (%i) and apply one (%i)', async (token, queued, applied) => {
  const api = await serveForTest({ seed: SEED });
  expect((await begin(api.as(token), { 'plan-only': true })).status).toBe(queued);
  expect(await act(api.as(token), await begun(api), 'apply')).toBe(applied);
});

it('lets a caller who may only plan neither apply nor destroy', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await begin(api.as('planners'), { 'auto-apply': true })).status).toBe(404);
  expect((await begin(api.as('planners'), { 'is-destroy': true })).status).toBe(404);
  expect((await begin(api.as('writers'), { 'is-destroy': true })).status).toBe(201);
});

it.each([
  ['planners', 'planned'],
  ['writers', 'applied'],
])('applies runs of %s automatically only if they may apply: %s', async (token, status) => {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-a', { 'auto-apply': true });
  expect(await statusOf(api, await begun(api.as(token)))).toBe(status);
});

it('refuses what no engine would run', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-a', { 'allow-destroy-plan': false });
  expect((await begin(api, { 'is-destroy': true })).pointers).toEqual(['/data/attributes/is-destroy']);
  const unknown = { 'configuration-version': { data: { type: 'configuration-versions', id: 'cv-none' } } };
  expect((await begin(api, {}, unknown)).pointers).toEqual([
    '/data/relationships/configuration-version/data/id',
  ]);
  await api.update('ws-a', { 'execution-mode': 'local' });
  expect((await begin(api)).pointers).toEqual(['/data/relationships/workspace']);
  expect((await api.get('/workspaces/ws-a/runs')).resources).toEqual([]);
});

it.each([{}, { 'auto-apply': true }, { 'plan-only': true }])(
  'is pending, then ends as errored and holds no lock in the dialect whose clients wait for an engine: %j',
  async (asked) => {
    const api = await serveForTest({ dialects: ['hcp-terraform'] });
    const id = await api.created({ name: 'net', 'execution-mode': 'remote' });
    const workspace = { data: { type: 'workspaces', id } };
    const made = await api.post('/runs', {
      data: { type: 'runs', attributes: asked, relationships: { workspace } },
    });
    expect([made.status, made.resource.attributes['status']]).toEqual([201, 'pending']);
    expect((await api.get(`/runs/${made.resource.id}`)).resource.attributes).toMatchObject({
      status: 'errored',
      'status-timestamps': { 'pending-at': expect.any(String), 'errored-at': expect.any(String) },
    });
    expect((await api.get(`/runs/${made.resource.id}/plan`)).resource.attributes['status']).toBe('errored');
    expect((await api.attributes(id))['locked']).toBe(false);
    expect((await api.post(`/runs/${made.resource.id}/actions/apply`)).status).toBe(409);
  },
);
