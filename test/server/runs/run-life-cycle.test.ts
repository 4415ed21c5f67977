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

function postRun(api: TestClient, attributes: object = {}, relationships: object = {}): Promise<TestAnswer> {
  return api.post('/runs', {
    data: {
      type: 'runs',
      attributes,
      relationships: { workspace: { data: { type: 'workspaces', id: 'ws-a' } }, ...relationships },
    },
  });
}

async function createRun(api: TestClient, attributes: object = {}): Promise<string> {
  const answer = await postRun(api, attributes);
  if (answer.status !== 201) throw new Error(`a run was answered ${answer.status}: ${answer.text}`);
  return answer.resource.id;
}

const runAction = async (api: TestClient, run: string, action: string) =>
  (await api.post(`/runs/${run}/actions/${action}`)).status;
const statusOf = async (api: TestClient, run: string) =>
  (await api.get(`/runs/${run}`)).resource.attributes['status'];
const lockOf = async (api: TestClient) =>
  (await api.get('/workspaces/ws-a')).resource.relationships['locked-by']?.data;

it('a run plans immediately and holds the lock until it is applied', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const created = await postRun(api, { message: 'hello' });
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
  expect(await runAction(api, run, 'apply')).toBe(202);
  expect(await statusOf(api, run)).toBe('applied');
  expect(await lockOf(api)).toBeNull();
});

it('a run cannot be applied until the state that it announced was uploaded', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
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
  expect(await runAction(api, run, 'apply')).toBe(202);
  const current = (await api.get('/workspaces/ws-a/current-state-version')).resource;
  expect(current.id).toBe(pending.resource.id);
});

it('a run is not applied automatically while a state that it would make current is pending', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const pending = await api.post('/workspaces/ws-a/state-versions', {
    data: {
      type: 'state-versions',
      attributes: { serial: 1, md5: createHash('md5').update('{}').digest('hex'), intermediate: true },
    },
  });
  await api.post('/workspaces/ws-a/actions/force-unlock');
  const next = await createRun(api, { 'auto-apply': true });
  expect(await statusOf(api, next)).toBe('planned');
  const url = pending.resource.attributes['hosted-state-upload-url'] as string;
  await fetch(url, { method: 'PUT', body: '{}' });
  expect(await runAction(api, next, 'apply')).toBe(202);
  const current = (await api.get('/workspaces/ws-a/current-state-version')).resource;
  expect(current.id).toBe(pending.resource.id);
});

it('a run counts in the statistics of its workspace and in filters after it was applied', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const run = await createRun(api);
  const counted = async () => (await api.attributes('ws-a'))['workspace-kpis-runs-count'];
  expect(await counted()).toBeNull();
  await runAction(api, run, 'apply');
  expect(await counted()).toBe(1);
  expect((await api.attributes('ws-a'))['plan-duration-average']).toBeGreaterThan(0);
  const list = '/organizations/acme/workspaces?filter[current-run][status]';
  expect((await api.get(`${list}=applied`)).names).toEqual(['a']);
  expect((await api.get(`${list}=planned`)).names).toEqual([]);
});

it('starts runs in the order of their creation', async () => {
  const api = await serveForTest({ seed: SEED, now: tickingClock() });
  const [first, second, third] = [await createRun(api), await createRun(api), await createRun(api)];
  const statuses = async () => [
    await statusOf(api, first),
    await statusOf(api, second),
    await statusOf(api, third),
  ];
  expect(await statuses()).toEqual(['planned', 'pending', 'pending']);
  expect(await runAction(api, first, 'discard')).toBe(202);
  expect(await statuses()).toEqual(['discarded', 'planned', 'pending']);
  expect(await lockOf(api)).toEqual({ id: second, type: 'runs' });
  expect(await runAction(api, third, 'cancel')).toBe(202);
  expect(await runAction(api, second, 'apply')).toBe(202);
  expect(await statuses()).toEqual(['discarded', 'applied', 'canceled']);
  expect(await lockOf(api)).toBeNull();
});

it('a run waits for a lock that a user holds, and starts when it is released', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const run = await createRun(api);
  expect(await statusOf(api, run)).toBe('pending');
  const unlocked = await api.post('/workspaces/ws-a/actions/unlock');
  expect(unlocked.status).toBe(200);
  expect(unlocked.resource.relationships['locked-by']?.data).toEqual({ id: run, type: 'runs' });
  expect(await statusOf(api, run)).toBe('planned');
});

it('a run is applied automatically if it or its workspace has auto-apply', async () => {
  const api = await serveForTest({ seed: SEED });
  expect(await statusOf(api, await createRun(api, { 'auto-apply': true }))).toBe('applied');
  expect(await statusOf(api, await createRun(api))).toBe('planned');
  const other = await serveForTest({ seed: SEED });
  await other.update('ws-a', { 'auto-apply': true });
  expect(await statusOf(other, await createRun(other))).toBe('applied');
  expect(await lockOf(other)).toBeNull();
});

it('a run needs no lock if it only plans', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.post('/workspaces/ws-a/actions/lock');
  const run = await postRun(api, { 'plan-only': true });
  expect(run.resource.attributes['status']).toBe('planned_and_finished');
  expect(run.resource.relationships['apply']).toEqual({ data: null });
  expect(await lockOf(api)).toMatchObject({ type: 'users' });
});

it('a run only plans a speculative configuration', async () => {
  const api = await serveForTest({ seed: SEED });
  const attributes = { speculative: true, 'auto-queue-runs': false };
  const created = await api.post('/workspaces/ws-a/configuration-versions', {
    data: { type: 'configuration-versions', attributes },
  });
  const { id, attributes: shown } = created.resource;
  await fetch(String(shown['upload-url']), { method: 'PUT', body: 'archive' });
  const version = { data: { type: 'configuration-versions', id } };
  const run = (await postRun(api, { 'auto-apply': true }, { 'configuration-version': version })).resource;
  expect(run.attributes).toMatchObject({ 'plan-only': true, status: 'planned_and_finished' });
  expect(await lockOf(api)).toBeNull();
});

it('a run allows only the actions of its status', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  expect(await runAction(api, run, 'cancel')).toBe(409);
  await runAction(api, run, 'discard');
  for (const action of ['apply', 'discard', 'cancel']) expect(await runAction(api, run, action)).toBe(409);
  expect(await statusOf(api, run)).toBe('discarded');
});

it('a run cannot be applied after a force-unlock while a user holds the lock', async () => {
  const api = await serveForTest({ seed: SEED });
  const run = await createRun(api);
  await api.post('/workspaces/ws-a/actions/force-unlock');
  await api.post('/workspaces/ws-a/actions/lock');
  expect(await runAction(api, run, 'apply')).toBe(409);
  await api.post('/workspaces/ws-a/actions/unlock');
  expect(await runAction(api, run, 'apply')).toBe(202);
});

it.each([
  ['readers', 404, 404],
  ['planners', 201, 404],
  ['writers', 201, 202],
  ['eve', 404, 404],
])('lets %s queue a run (%i) and apply one (%i)', async (token, queued, applied) => {
  const api = await serveForTest({ seed: SEED });
  expect((await postRun(api.as(token), { 'plan-only': true })).status).toBe(queued);
  expect(await runAction(api.as(token), await createRun(api), 'apply')).toBe(applied);
});

it('lets a caller who may only plan neither apply nor destroy', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await postRun(api.as('planners'), { 'auto-apply': true })).status).toBe(404);
  expect((await postRun(api.as('planners'), { 'is-destroy': true })).status).toBe(404);
  expect((await postRun(api.as('writers'), { 'is-destroy': true })).status).toBe(201);
});

it.each([
  ['planners', 'planned'],
  ['writers', 'applied'],
])('applies runs of %s automatically only if they may apply: %s', async (token, status) => {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-a', { 'auto-apply': true });
  expect(await statusOf(api, await createRun(api.as(token)))).toBe(status);
});

it('refuses runs that no engine could execute', async () => {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-a', { 'allow-destroy-plan': false });
  expect((await postRun(api, { 'is-destroy': true })).pointers).toEqual(['/data/attributes/is-destroy']);
  const unknown = { 'configuration-version': { data: { type: 'configuration-versions', id: 'cv-none' } } };
  expect((await postRun(api, {}, unknown)).pointers).toEqual([
    '/data/relationships/configuration-version/data/id',
  ]);
  await api.update('ws-a', { 'execution-mode': 'local' });
  expect((await postRun(api)).pointers).toEqual(['/data/relationships/workspace']);
  expect((await api.get('/workspaces/ws-a/runs')).resources).toEqual([]);
});

it.each([{}, { 'auto-apply': true }, { 'plan-only': true }])(
  'a run is pending, then errored, and holds no lock in the dialect hcp-terraform: %j',
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
