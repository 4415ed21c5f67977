// Which actor an event has: the user or service account of the request's token, or the service itself.

import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { trailOf } from '../../support/server/audit-trails/read-trail.ts';
import {
  SEED,
  seedWith,
  serveForTest,
  type TestClient,
  workspaceBody,
} from '../../support/server/serve-for-test.ts';

const update = (api: TestClient, description: string) => api.update('ws-a', { description });

it('names users, and the service accounts of tokens of teams and organizations', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  const [managers] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  await update(api, 'by a user');
  await update(api.as('managers'), 'by a team');
  await update(api.as('acme-organization'), 'by the organization');
  const trail = await trailOf(api);
  const actors = trail.map(({ auth }) => [auth.type, auth.description, auth.impersonator_id]);
  expect(actors).toEqual([
    ['Client', 'ann', null],
    ['Client', `api-${managers?.id}`, null],
    ['Client', `api-${trail[0]?.auth.organization_id}`, null],
  ]);
  for (const { auth } of trail) expect(auth.accessor_id).toMatch(/^user-[A-Za-z0-9]{16}$/);
});

it('names an impersonator and the impersonated user', async () => {
  const [ann, ...others] = SEED.users ?? [];
  const users = [
    { username: 'ann', tokens: [{ token: 'ann' }, { token: 'bob-as-ann', 'impersonated-by': 'bob' }] },
    ...others,
  ];
  expect(ann?.username).toBe('ann');
  const seed = { ...seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }), users };
  const api = await serveForTest({ seed });
  const ids = await Promise.all(
    ['ann', 'bob'].map(async (one) => (await api.as(one).get('/account/details')).resource.id),
  );
  expect((await update(api.as('bob-as-ann'), 'by bob')).status).toBe(200);
  expect((await trailOf(api)).map(({ auth }) => auth)).toMatchObject([
    { type: 'Impersonated', accessor_id: ids[0], description: 'ann', impersonator_id: ids[1] },
  ]);
});

it('refuses a seed with an unknown impersonator', async () => {
  const users = [{ username: 'ann', tokens: [{ token: 'x', 'impersonated-by': 'zoe' }] }];
  await expect(serveForTest({ seed: { users } })).rejects.toThrow('users[0] names the user "zoe"');
});

const run = (api: TestClient, attributes: object = {}) =>
  api.post('/runs', {
    data: {
      type: 'runs',
      attributes,
      relationships: { workspace: { data: { type: 'workspaces', id: 'ws-a' } } },
    },
  });

const recorded = async (api: TestClient) =>
  (await trailOf(api)).map(({ auth, resource }) => `${auth.type} ${resource.type} ${resource.action}`);

it('names the service as the actor when a run starts, locks its workspace and is applied automatically', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  await run(api, { 'auto-apply': true });
  expect(await recorded(api)).toEqual([
    'Client run create',
    'System workspace lock',
    'System run plan',
    'System run apply',
    'System workspace unlock',
  ]);
  const system = (await trailOf(api)).filter(({ auth }) => auth.type === 'System');
  for (const { auth, request } of system) {
    expect([auth.description, auth.impersonator_id, request.id]).toEqual(['system', null, null]);
  }
});

it('records the start of a run that waited for a lock after the unlock', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  await api.post('/workspaces/ws-a/actions/lock');
  const waiting = await run(api);
  await api.post('/workspaces/ws-a/actions/unlock');
  await api.post(`/runs/${waiting.resource.id}/actions/discard`);
  expect(await recorded(api)).toEqual([
    'Client workspace lock',
    'Client run create',
    'Client workspace unlock',
    'System workspace lock',
    'System run plan',
    'Client run discard',
    'System workspace unlock',
  ]);
});

it('records no lock for a run that only plans', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  await run(api, { 'plan-only': true });
  expect(await recorded(api)).toEqual(['Client run create', 'System run plan']);
});

it('names the creator of a version as the actor of uploads to signed links', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  await api.post('/workspaces/ws-a/actions/lock');
  const state = '{"version":4,"serial":1,"lineage":"l","resources":[]}';
  const md5 = createHash('md5').update(state).digest('hex');
  const made = await api.post('/workspaces/ws-a/state-versions', {
    data: { type: 'state-versions', attributes: { serial: 1, md5, lineage: 'l' } },
  });
  const link = String(made.resource.attributes['hosted-state-upload-url']);
  expect((await fetch(link, { method: 'PUT', body: state })).status).toBe(200);
  expect((await fetch(link, { method: 'PUT', body: state })).status).toBe(409);
  expect((await recorded(api)).slice(1)).toEqual([
    'Client state_version create',
    'Client state_version upload',
  ]);
});

it('records nothing of mounts, which belong to no organization', async () => {
  const seed = {
    ...SEED,
    mounts: ['cluster'],
    'service-tokens': [{ token: 'root-token', policies: ['root'] }],
  };
  const api = await serveForTest({ seed });
  const answer = await fetch(`${api.url}/v1/sys/auth/other`, {
    method: 'POST',
    headers: { 'x-service-token': 'root-token', 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'cluster' }),
  });
  expect(answer.status).toBe(204);
  expect(await trailOf(api)).toEqual([]);
});

it('records nothing for an update that changes nothing', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
  await update(api, 'once');
  await update(api, 'once');
  await api.patch('/workspaces/ws-a', workspaceBody({}));
  expect(await recorded(api)).toEqual(['Client workspace update']);
});
