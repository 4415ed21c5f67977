import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../../support/server/serve-for-test.ts';

const AB = {
  workspaces: [
    { name: 'a', id: 'ws-a' },
    { name: 'b', id: 'ws-b' },
  ],
};
const TAGS_OF_A = '/workspaces/ws-a/relationships/tags';
const TAGS_OF_B = '/workspaces/ws-b/relationships/tags';

function serve(): Promise<TestClient> {
  return serveForTest({ seed: seedWith(AB) });
}

function named(...names: readonly unknown[]) {
  return { data: names.map((name) => ({ type: 'tags', attributes: { name } })) };
}

function byId(...ids: readonly string[]): unknown {
  return { data: ids.map((id) => ({ type: 'tags', id })) };
}

it('adds tags by name in lower case, in the order of adding, each once', async () => {
  const api = await serve();
  const answer = await api.post(TAGS_OF_A, named('Prod', 'net:core', 'PROD'));
  expect([answer.status, answer.text]).toEqual([204, '']);
  await api.post(TAGS_OF_A, named('alpha'));
  expect((await api.attributes('ws-a'))['tag-names']).toEqual(['prod', 'net:core', 'alpha']);
});

it('lists tags in pages, with the number of workspaces of each tag', async () => {
  const api = await serve();
  const names = Array.from({ length: 25 }, (_, index) => `tag-${index}`);
  await api.post(TAGS_OF_A, named(...names));
  await api.post(TAGS_OF_B, named('tag-0'));
  const first = await api.get(TAGS_OF_A);
  expect(first.names).toEqual(names.slice(0, 20));
  expect(first.document.meta?.pagination).toMatchObject({ 'total-count': 25, 'next-page': 2 });
  expect(first.resources[0]).toEqual({
    id: expect.stringMatching(/^tag-/),
    type: 'tags',
    attributes: { name: 'tag-0', 'created-at': expect.any(String), 'instance-count': 2 },
    relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
  });
  expect((await api.get(`${TAGS_OF_A}?page[number]=2`)).names).toEqual(names.slice(20));
  expect((await api.get(`${TAGS_OF_A}?name=TAG-7`)).names).toEqual(['tag-7']);
});

it('adds and removes tags by id', async () => {
  const api = await serve();
  await api.post(TAGS_OF_A, named('prod'));
  const id = (await api.get(TAGS_OF_A)).resources[0]?.id ?? '';
  expect((await api.post(TAGS_OF_B, byId(id))).status).toBe(204);
  expect((await api.attributes('ws-b'))['tag-names']).toEqual(['prod']);
  expect((await api.delete(TAGS_OF_B, byId(id))).status).toBe(204);
  expect((await api.attributes('ws-b'))['tag-names']).toEqual([]);
});

it('answers 404 to an unknown id, and does nothing for an unknown name on delete', async () => {
  const api = await serve();
  await api.post(TAGS_OF_A, named('prod'));
  expect((await api.post(TAGS_OF_A, byId('tag-unknown'))).status).toBe(404);
  expect((await api.delete(TAGS_OF_A, byId('tag-unknown'))).status).toBe(404);
  expect((await api.delete(TAGS_OF_A, named('unknown', 'PROD'))).status).toBe(204);
  expect((await api.attributes('ws-a'))['tag-names']).toEqual([]);
});

it('removes the other tags when a delete has names that no tag can have', async () => {
  const api = await serve();
  await api.post(TAGS_OF_A, named('one', 'two', 'three'));
  expect((await api.delete(TAGS_OF_A, named('One', 'two words', '', '-', 'two'))).status).toBe(204);
  expect((await api.attributes('ws-a'))['tag-names']).toEqual(['three']);
  const nameless = await api.delete(TAGS_OF_A, { data: [{ type: 'tags' }, ...named('three', 7).data] });
  expect(nameless.pointers).toEqual(['/data/0/attributes/name', '/data/2/attributes/name']);
  expect((await api.attributes('ws-a'))['tag-names']).toEqual(['three']);
});

it('deletes a tag that no workspace has any more', async () => {
  const api = await serve();
  await api.post(TAGS_OF_A, named('prod'));
  const id = (await api.get(TAGS_OF_A)).resources[0]?.id ?? '';
  await api.post(TAGS_OF_B, named('prod'));
  await api.delete(TAGS_OF_A, named('prod'));
  expect((await api.get(TAGS_OF_B)).resources[0]?.id).toBe(id);
  await api.delete('/workspaces/ws-b');
  expect((await api.post(TAGS_OF_A, byId(id))).status).toBe(404);
});

it.each([
  ['spaces', 'two words'],
  ['an end that is not a letter', 'prod-'],
  ['a type other than text', 7],
  ['no characters', ''],
])('refuses a name with %s', async (_case, name) => {
  const api = await serve();
  const answer = await api.post(TAGS_OF_A, named('fine', name));
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/1/attributes/name']);
  expect((await api.attributes('ws-a'))['tag-names']).toEqual([]);
});

it('requires the type tags', async () => {
  const api = await serve();
  const answer = await api.post(TAGS_OF_A, { data: [{ type: 'tag', attributes: { name: 'x' } }] });
  expect(answer.pointers).toEqual(['/data/0/type']);
});

it('requires the right to manage tags', async () => {
  const api = await serve();
  expect((await api.as('readers').post(TAGS_OF_A, named('x'))).status).toBe(404);
  expect((await api.as('readers').delete(TAGS_OF_A, named('x'))).status).toBe(404);
  expect((await api.as('readers').get(TAGS_OF_A)).status).toBe(200);
});

it('lists thousands of tags, those of each workspace in the order of adding', async () => {
  const api = await serve();
  const many = Array.from({ length: 3000 }, (_none, index) => `t-${(index * 7) % 3000}`);
  await api.post(TAGS_OF_A, named(...many));
  await api.post(TAGS_OF_B, named('t-5', 't-2'));
  const listed = (await api.get('/organizations/acme/workspaces')).resources;
  expect(listed.map(({ attributes }) => attributes['tag-names'])).toEqual([many, ['t-5', 't-2']]);
});
