import { expect, it } from 'vitest';

import { serveForTest, tickingClock } from '../../../support/server/serve-for-test.ts';

const DEPLOY = { id: 'sshkey-deploy', type: 'ssh-keys' };

function assignment(id: unknown): unknown {
  return { data: { type: 'workspaces', attributes: { id } } };
}

it.each([
  ['the documented form', assignment('sshkey-deploy')],
  ['the identifier form', { data: DEPLOY }],
])('assigns a key through %s', async (_form, body) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const answer = await api.patch(`/workspaces/${id}/relationships/ssh-key`, body);
  expect(answer.status).toBe(200);
  expect(answer.resource.relationships['ssh-key']).toEqual({
    data: DEPLOY,
    links: { related: '/api/v2/ssh-keys/sshkey-deploy' },
  });
  expect((await api.get(`/workspaces/${id}`)).resource).toEqual(answer.resource);
});

it.each([
  ['a null id', assignment(null)],
  ['an empty id', assignment('')],
  ['the identifier form', { data: { type: 'ssh-keys', id: null } }],
  ['null data', { data: null }],
])('unassigns with %s', async (_form, body) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const path = `/workspaces/${id}/relationships/ssh-key`;
  await api.patch(path, assignment('sshkey-deploy'));
  const answer = await api.patch(path, body);
  expect(answer.status).toBe(200);
  expect(answer.resource.relationships['ssh-key']).toEqual({ data: null });
});

it.each(['sshkey-none', 'sshkey-theirs'])('answers 404 to the key %s', async (key) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  expect((await api.patch(`/workspaces/${id}/relationships/ssh-key`, assignment(key))).status).toBe(404);
});

it.each([
  ['another type', { data: { type: 'keys', id: 'sshkey-deploy' } }, '/data/type'],
  ['no id', { data: { type: 'workspaces', attributes: {} } }, '/data/attributes/id'],
])('answers 422 to a body with %s', async (_case, body, pointer) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const answer = await api.patch(`/workspaces/${id}/relationships/ssh-key`, body);
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([pointer]);
});

it('changes updated-at only when the key changes', async () => {
  const api = await serveForTest({ now: tickingClock() });
  const before = (await api.create({ name: 'a' })).resource;
  const path = `/workspaces/${before.id}/relationships/ssh-key`;
  const nothing = await api.patch(path, assignment(null));
  expect(nothing.resource.attributes['updated-at']).toBe(before.attributes['updated-at']);
  const assigned = await api.patch(path, assignment('sshkey-deploy'));
  expect(assigned.resource.attributes['updated-at']).not.toBe(before.attributes['updated-at']);
});

it('requires the right to update the workspace', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const path = `/workspaces/${id}/relationships/ssh-key`;
  expect((await api.as('readers').patch(path, assignment(null))).status).toBe(404);
});
