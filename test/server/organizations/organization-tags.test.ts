import { expect, it } from 'vitest';

import { identifiers, seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    { name: 'a', id: 'ws-a', tags: ['prod', 'net'] },
    { name: 'b', id: 'ws-b', tags: ['prod'] },
  ],
});
const TAGS = '/organizations/acme/tags';

it('lists the tags of all workspaces, with the number of workspaces of each tag', async () => {
  const api = await serveForTest({ seed: SEED });
  const { resources } = await api.get(TAGS);
  expect(resources.map(({ attributes }) => [attributes['name'], attributes['instance-count']])).toEqual([
    ['net', 1],
    ['prod', 2],
  ]);
  expect((await api.get(`${TAGS}?q=PR`)).names).toEqual(['prod']);
  expect((await api.get(`${TAGS}?filter[exclude][taggable][id]=ws-b`)).names).toEqual(['net']);
  expect((await api.as('eve').get(TAGS)).status).toBe(404);
});

it('excludes the tags of a workspace only if the caller can read it', async () => {
  const api = await serveForTest({
    seed: seedWith({
      workspaces: [
        { name: 'a', id: 'ws-a', tags: ['prod', 'net'] },
        { name: 'b', id: 'ws-b', tags: ['prod'] },
      ],
      teams: [{ name: 'lookers', token: 'lookers', 'workspace-access': { b: 'read' } }],
    }),
  });
  const without = async (id: string) =>
    (await api.as('lookers').get(`${TAGS}?filter[exclude][taggable][id]=${id}`)).names;
  expect(await without('ws-none')).toEqual(['net', 'prod']);
  expect(await without('ws-a')).toEqual(['net', 'prod']);
  expect(await without('ws-b')).toEqual(['net']);
});

it('removes a tag from every workspace', async () => {
  const api = await serveForTest({ seed: SEED });
  const [, prod] = (await api.get(TAGS)).resources;
  const asReader = await api.as('readers').delete(TAGS, identifiers([prod?.id ?? ''], 'tags'));
  expect(asReader.status).toBe(404);
  expect((await api.delete(TAGS, identifiers(['tag-none'], 'tags'))).status).toBe(404);
  expect((await api.delete(TAGS, identifiers([prod?.id ?? ''], 'tags'))).status).toBe(204);
  expect((await api.get(TAGS)).names).toEqual(['net']);
  expect((await api.attributes('ws-b'))['tag-names']).toEqual([]);
});

it('adds a tag to several workspaces', async () => {
  const api = await serveForTest({ seed: SEED });
  const [net] = (await api.get(TAGS)).resources;
  const path = `/tags/${net?.id}/relationships/workspaces`;
  expect((await api.as('readers').post(path, identifiers(['ws-b']))).status).toBe(404);
  expect((await api.post(path, identifiers(['ws-a', 'ws-b']))).status).toBe(204);
  expect((await api.attributes('ws-b'))['tag-names']).toEqual(['prod', 'net']);
  expect((await api.post('/tags/tag-none/relationships/workspaces', identifiers(['ws-b']))).status).toBe(404);
});
