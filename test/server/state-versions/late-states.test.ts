/** States that are uploaded late or never: while another user holds the lock, or after their links have expired. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const WS = '/workspaces/ws-a';
const SEED = seedWith({
  workspaces: [{ name: 'a', id: 'ws-a' }],
  teams: [{ name: 'writing', members: ['bob'], 'workspace-access': { a: 'write' } }],
});
const TEXT = '{"version":4,"serial":1,"resources":[]}';

async function announce(api: TestClient): Promise<string> {
  await api.post(`${WS}/actions/lock`);
  const attributes = { serial: 1, md5: createHash('md5').update(TEXT).digest('hex') };
  const answer = await api.post(`${WS}/state-versions`, { data: { type: 'state-versions', attributes } });
  return String(answer.resource.attributes['hosted-state-upload-url']);
}

it('stores a state that is uploaded under the lock of another user, and never makes it current', async () => {
  const ann = await serveForTest({ seed: SEED });
  const link = await announce(ann.as('bob'));
  await ann.post(`${WS}/actions/force-unlock`);
  await ann.post(`${WS}/actions/lock`);
  expect((await fetch(link, { method: 'PUT', body: TEXT })).status).toBe(200);
  expect((await ann.get(`${WS}/current-state-version`)).status).toBe(404);
  await ann.post(`${WS}/actions/unlock`);
  expect((await ann.get(`${WS}/current-state-version`)).status).toBe(404);
  expect((await ann.get(`${WS}/state-versions`)).resources).toHaveLength(1);
});

it('waits an hour for a state before a safe delete, and no longer', async () => {
  let now = new Date('2026-03-01T12:00:00Z');
  const ann = await serveForTest({ seed: SEED, now: () => now });
  await announce(ann);
  await ann.post(`${WS}/actions/unlock`);
  now = new Date('2026-03-01T12:59:59Z');
  expect((await ann.post(`${WS}/actions/safe-delete`)).status).toBe(409);
  now = new Date('2026-03-01T13:00:00Z');
  expect((await ann.post(`${WS}/actions/safe-delete`)).status).toBe(204);
});
