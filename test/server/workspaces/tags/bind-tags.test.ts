import { expect, it } from 'vitest';

import { bindings, seedWith, serveForTest, type TestClient } from '../../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [{ name: 'a', id: 'ws-a', 'tag-bindings': { env: 'dev', team: 'net' } }],
  teams: [
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
    { name: 'taggers', token: 'taggers', 'workspace-access': { a: ['can-manage-tags'] } },
  ],
});
const BINDINGS = '/workspaces/ws-a/tag-bindings';
const RELATIONSHIP = '/workspaces/ws-a/relationships/tag-bindings';
const list = (tags: Record<string, string>) => bindings(tags)['tag-bindings'];

async function bound(api: TestClient, path = BINDINGS): Promise<unknown[]> {
  const { resources } = await api.get(path);
  return resources.map(({ attributes }) => `${attributes['key']}=${attributes['value']}`);
}

it('adds and changes keys with PATCH, keeps the others, and answers in the requested order', async () => {
  const api = await serveForTest({ seed: SEED });
  const answer = await api.patch(BINDINGS, list({ owner: 'ann', env: 'prod' }));
  expect(answer.status).toBe(200);
  expect(answer.resources).toMatchObject([
    { type: 'tag-bindings', attributes: { key: 'owner', value: 'ann' } },
    { type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } },
  ]);
  expect(await bound(api)).toEqual(['env=prod', 'team=net', 'owner=ann']);
  expect((await api.patch(BINDINGS, { data: [] })).resources).toEqual([]);
  expect(await bound(api)).toHaveLength(3);
});

it('adds bindings with POST and replaces them with PATCH of the relationship', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.post(RELATIONSHIP, list({ owner: 'ann' }))).status).toBe(204);
  expect(await bound(api, RELATIONSHIP)).toEqual(['env=dev', 'team=net', 'owner=ann']);
  expect((await api.patch(RELATIONSHIP, list({ env: 'x' }))).status).toBe(204);
  expect(await bound(api)).toEqual(['env=x']);
});

it('adds nothing if there would be more than ten bindings', async () => {
  const api = await serveForTest({ seed: SEED });
  const more = (count: number) =>
    list(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v'])));
  expect((await api.patch(BINDINGS, more(9))).pointers).toEqual(['/data']);
  expect(await bound(api)).toEqual(['env=dev', 'team=net']);
  expect((await api.patch(BINDINGS, more(8))).status).toBe(200);
});

it('reports the error in a binding', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.patch(BINDINGS, list({ 'hc:x': '1' }))).pointers).toEqual(['/data/0/attributes/key']);
  expect((await api.patch(BINDINGS)).pointers).toEqual(['/data']);
  expect((await api.patch(BINDINGS, { data: [{ type: 'tags' }] })).status).toBe(422);
});

it('requires the right to manage tags', async () => {
  const api = await serveForTest({ seed: SEED });
  for (const path of [BINDINGS, RELATIONSHIP]) {
    expect((await api.as('writers').patch(path, list({ by: 'me' }))).status).toBe(404);
    expect((await api.as('eve').patch(path, list({ by: 'me' }))).status).toBe(404);
  }
  expect(await bound(api)).toEqual(['env=dev', 'team=net']);
  expect((await api.as('taggers').patch(BINDINGS, list({ by: 'me' }))).status).toBe(200);
});
