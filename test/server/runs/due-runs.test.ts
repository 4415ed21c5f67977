/** Runs that the service starts by itself in the dialect `hcp-terraform`, and how they end. */
import { expect, it } from 'vitest';

import { type AdminBench, serveWithAdmin } from '../../support/server/admin-client.ts';
import { trailOf } from '../../support/server/audit-trails/read-trail.ts';
import { SEED, seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3600;

function serve(more: object = {}): Promise<AdminBench> {
  return serveWithAdmin({ dialects: ['hcp-terraform'], now: () => new Date(START), ...more });
}

async function runsOf(api: TestClient, id: string) {
  return (await api.get(`/workspaces/${id}/runs`)).resources.map(({ attributes }) => attributes);
}

it('queues a run after a creation with queue-all-runs, which ends as errored without a lock', async () => {
  const { api } = await serve();
  const id = await api.created({ name: 'net', 'queue-all-runs': true });
  const [run, ...others] = await runsOf(api, id);
  expect(run).toMatchObject({
    status: 'errored',
    'is-destroy': false,
    'status-timestamps': { 'pending-at': expect.any(String), 'errored-at': expect.any(String) },
  });
  expect(others).toEqual([]);
  expect(await api.attributes(id)).toMatchObject({ locked: false, 'run-failures': 1 });
  const events = (await trailOf(api)).map(({ resource }) => `${resource.type} ${resource.action}`);
  expect(events).toEqual(['workspace create', 'run create']);
});

it.each([{}, { 'queue-all-runs': false }, { 'queue-all-runs': true, 'execution-mode': 'local' }])(
  'queues no run after a creation with %j',
  async (asked) => {
    const { api } = await serve();
    expect(await runsOf(api, await api.created({ name: 'net', ...asked }))).toEqual([]);
  },
);

it('queues no run in neutral, where it would hold the lock until it is confirmed', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'net', 'queue-all-runs': true });
  expect(await runsOf(api, id)).toEqual([]);
});

it.each([
  [{}, 2],
  [{ 'auto-queue-runs': false }, 1],
])('queues a run after an upload, unless auto-queue-runs is false: %j', async (asked, count) => {
  const { api } = await serve();
  const id = await api.created({ name: 'net', 'queue-all-runs': true });
  const path = `/workspaces/${id}/configuration-versions`;
  const made = await api.post(path, { data: { type: 'configuration-versions', attributes: asked } });
  await fetch(String(made.resource.attributes['upload-url']), { method: 'PUT', body: 'archive' });
  const runs = await runsOf(api, id);
  expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 'errored'));
});

it('starts one destroy run when the date of an auto-destroy passes, and shows that it failed', async () => {
  const { api, admin } = await serve();
  const id = await api.created({ name: 'net', 'auto-destroy-at': new Date(START + HOUR * 1000) });
  await admin('POST', '/clock', { 'advance-seconds': HOUR - 1 });
  expect(await runsOf(api, id)).toEqual([]);
  expect((await api.attributes(id))['auto-destroy-status']).toBeNull();
  for (const seconds of [1, HOUR]) {
    await admin('POST', '/clock', { 'advance-seconds': seconds });
    expect((await api.attributes(id))['auto-destroy-status']).toBe('errored');
    expect(await runsOf(api, id)).toMatchObject([
      { status: 'errored', 'is-destroy': true, source: 'tfe-infrastructure-lifecycle' },
    ]);
  }
  expect((await trailOf(api)).at(-1)).toMatchObject({
    auth: { type: 'System' },
    resource: { type: 'run', action: 'create' },
  });
});

it('starts another destroy run for another date, and clears the status until then', async () => {
  const { api, admin } = await serve();
  const id = await api.created({ name: 'net', 'auto-destroy-at': new Date(START + HOUR * 1000) });
  await admin('POST', '/clock', { 'advance-seconds': HOUR });
  const later = await api.update(id, { 'auto-destroy-at': new Date(START + 3 * HOUR * 1000) });
  expect(later.resource.attributes['auto-destroy-status']).toBeNull();
  await admin('POST', '/clock', { 'advance-seconds': 2 * HOUR });
  expect(await runsOf(api, id)).toHaveLength(2);
});

it('starts a destroy run after the inactivity period of the workspace or of its project', async () => {
  const { api, admin } = await serve();
  const own = await api.created({ name: 'own', 'auto-destroy-activity-duration': '2h' });
  const project = { project: { data: { type: 'projects', id: 'prj-sandbox' } } };
  const inherited = await api.created({ name: 'inherited' }, project);
  const counts = async () => [(await runsOf(api, own)).length, (await runsOf(api, inherited)).length];
  await admin('POST', '/clock', { 'advance-seconds': 2 * HOUR - 1 });
  expect(await counts()).toEqual([0, 0]);
  await admin('POST', '/clock', { 'advance-seconds': 1 });
  expect(await counts()).toEqual([1, 0]);
  await admin('POST', '/clock', { 'advance-seconds': 7 * 24 * HOUR });
  expect(await counts()).toEqual([1, 1]);
});

it.each([{ 'allow-destroy-plan': false }, { 'execution-mode': 'local' }])(
  'starts no destroy run if the workspace does not allow it: %j',
  async (asked) => {
    const { api, admin } = await serve();
    const id = await api.created({ name: 'net', 'auto-destroy-at': new Date(START + HOUR * 1000), ...asked });
    await admin('POST', '/clock', { 'advance-seconds': HOUR });
    expect(await runsOf(api, id)).toEqual([]);
  },
);

it('does not change the runs of a seed, and starts no destroy run in neutral', async () => {
  const seed = seedWith({ workspaces: [{ name: 'a', id: 'ws-a', runs: [{ status: 'pending' }] }] });
  const { api } = await serve({ seed });
  expect(await runsOf(api, 'ws-a')).toMatchObject([{ status: 'pending' }]);
  const neutral = await serve({ dialects: [] });
  const id = await neutral.api.created({ name: 'net', 'auto-destroy-at': new Date(START + HOUR * 1000) });
  await neutral.admin('POST', '/clock', { 'advance-seconds': HOUR });
  expect(await runsOf(neutral.api, id)).toEqual([]);
});

it('shows the release that a version constraint has selected for a run', async () => {
  const { api } = await serve({ seed: { ...SEED, releases: ['1.5.99'] } });
  const id = await api.created({ name: 'net', 'queue-all-runs': true, 'terraform-version': '~> 1.5.0' });
  expect((await api.attributes(id))['terraform-version']).toBe('~> 1.5.0');
  expect(await runsOf(api, id)).toMatchObject([{ 'terraform-version': '1.5.99' }]);
});
