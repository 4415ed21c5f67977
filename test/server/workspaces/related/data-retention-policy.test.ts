import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../../support/server/serve-for-test.ts';

const A = { workspaces: [{ name: 'a', id: 'ws-a' }] };
const PATH = '/workspaces/ws-a/relationships/data-retention-policy';
const DELETE_OLDERS = 'data-retention-policy-delete-olders';
const DONT_DELETES = 'data-retention-policy-dont-deletes';

function deleteAfter(days: unknown, type = DELETE_OLDERS): unknown {
  return { data: { type, attributes: { 'delete-older-than-n-days': days } } };
}

async function relationship(api: TestClient): Promise<unknown> {
  return (await api.get('/workspaces/ws-a')).resource.relationships['data-retention-policy'];
}

it.each(['POST', 'PATCH'])('sets a policy with %s and shows it on the workspace', async (method) => {
  const api = await serveForTest({ seed: seedWith(A) });
  expect(await relationship(api)).toBeUndefined();
  const answer = await api.send(method, PATH, deleteAfter(30));
  expect(answer.status).toBe(200);
  expect(answer.resource).toEqual({
    id: expect.stringMatching(/^drp-/),
    type: DELETE_OLDERS,
    attributes: { 'delete-older-than-n-days': 30 },
  });
  expect((await api.get(PATH)).resource).toEqual(answer.resource);
  expect(await relationship(api)).toMatchObject({ data: { id: answer.resource.id, type: DELETE_OLDERS } });
});

it('replaces the policy, also by one of the other type, and keeps its id', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  const first = await api.post(PATH, deleteAfter(30));
  const second = await api.post(PATH, { data: { type: DONT_DELETES } });
  expect(second.resource).toEqual({ id: first.resource.id, type: DONT_DELETES, attributes: {} });
  const third = await api.patch(PATH, deleteAfter(7, 'data-retention-policies'));
  expect(third.resource).toMatchObject({
    type: DELETE_OLDERS,
    attributes: { 'delete-older-than-n-days': 7 },
  });
});

it('keeps the days that a PATCH leaves out', async () => {
  const api = await serveForTest({ seed: seedWith(A) });
  await api.post(PATH, deleteAfter(30));
  const answer = await api.patch(PATH, { data: { type: DELETE_OLDERS } });
  expect(answer.resource.attributes).toEqual({ 'delete-older-than-n-days': 30 });
});

it('falls back to the organization`s policy, and to 404 when there is none', async () => {
  const without = await serveForTest({ seed: seedWith(A) });
  expect((await without.get(PATH)).status).toBe(404);
  const api = await serveForTest({
    seed: seedWith({ ...A, 'data-retention-policy': { 'delete-older-than-n-days': 90 } }),
  });
  expect((await api.get(PATH)).resource.attributes).toEqual({ 'delete-older-than-n-days': 90 });
  expect(await relationship(api)).toBeUndefined();
});

it('removes only the workspace`s own policy', async () => {
  const api = await serveForTest({ seed: seedWith({ ...A, 'data-retention-policy': {} }) });
  await api.post(PATH, deleteAfter(30));
  expect((await api.delete(PATH)).status).toBe(204);
  expect(await relationship(api)).toBeUndefined();
  expect((await api.get(PATH)).resource.type).toBe(DONT_DELETES);
  expect((await api.delete(PATH)).status).toBe(404);
});

it.each([
  ['another type', { data: { type: 'policies' } }, '/data/type'],
  ['zero days', deleteAfter(0), '/data/attributes/delete-older-than-n-days'],
  ['half a day', deleteAfter(0.5), '/data/attributes/delete-older-than-n-days'],
  ['days as text', deleteAfter('30'), '/data/attributes/delete-older-than-n-days'],
  ['no days', { data: { type: DELETE_OLDERS } }, '/data/attributes/delete-older-than-n-days'],
])('answers 422 to %s', async (_case, body, pointer) => {
  const api = await serveForTest({ seed: seedWith(A) });
  const answer = await api.post(PATH, body);
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([pointer]);
});

it('requires the right to update the workspace', async () => {
  const api = (await serveForTest({ seed: seedWith(A) })).as('readers');
  expect((await api.post(PATH, deleteAfter(30))).status).toBe(404);
  expect((await api.delete(PATH)).status).toBe(404);
});

it('sets and removes the organization`s policy, which workspaces without their own policy show', async () => {
  const path = '/organizations/acme/relationships/data-retention-policy';
  const api = await serveForTest({ seed: seedWith(A) });
  expect((await api.get(path)).status).toBe(404);
  const set = await api.post(path, deleteAfter(90));
  expect(set.status).toBe(200);
  expect(set.resource).toMatchObject({ type: DELETE_OLDERS, attributes: { 'delete-older-than-n-days': 90 } });
  expect((await api.as('managers').get(path)).resource).toEqual(set.resource);
  expect((await api.get(PATH)).resource).toEqual(set.resource);
  expect((await api.post(PATH, deleteAfter(30))).resource.id).not.toBe(set.resource.id);
  expect((await api.as('managers').patch(path, { data: { type: DONT_DELETES } })).status).toBe(404);
  expect((await api.patch(path, { data: { type: DONT_DELETES } })).resource.id).toBe(set.resource.id);
  expect((await api.get(PATH)).resource.attributes).toEqual({ 'delete-older-than-n-days': 30 });
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
  expect((await api.get(PATH)).status).toBe(200);
});

it('names the policy in the document of an organization if one is set and the edition has policies', async () => {
  const path = '/organizations/acme/relationships/data-retention-policy';
  const seed = seedWith({ ...A, 'data-retention-policy': {} });
  const named = async (api: TestClient): Promise<unknown> => {
    const shown = (await api.get('/organizations/acme')).resource;
    const [listed] = (await api.get('/organizations')).resources.filter(({ id }) => id === 'acme');
    expect(listed).toEqual(shown);
    return shown.relationships['data-retention-policy'];
  };
  const api = await serveForTest({ seed });
  const { id, type } = (await api.get(path)).resource;
  expect(await named(api)).toEqual({ data: { id, type }, links: { related: `/api/v2${path}` } });
  await api.delete(path);
  expect(await named(api)).toBeUndefined();
  expect(await named(await serveForTest({ seed, edition: 'hosted' }))).toBeUndefined();
});
