import { expect, it } from 'vitest';

import {
  bindings,
  serveForTest,
  type TestClient,
  type TestResource,
  tickingClock,
} from '../../../support/server/serve-for-test.ts';

const IN_PLATFORM = { project: { data: { type: 'projects', id: 'prj-platform' } } };

function pairs(resources: readonly TestResource[]): unknown[] {
  return resources.map(({ attributes }) => `${attributes['key']}=${attributes['value']}`);
}

async function direct(api: TestClient, id: string): Promise<unknown[]> {
  return pairs((await api.get(`/workspaces/${id}/tag-bindings`)).resources);
}

it('replaces all direct bindings only when an update has the relationship', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, bindings({ env: 'prod', team: 'net' }));
  await api.update(id, { description: 'x' });
  expect(await direct(api, id)).toEqual(['env=prod', 'team=net']);
  await api.update(id, {}, bindings({ team: 'core', owner: 'ann' }));
  expect(await direct(api, id)).toEqual(['team=core', 'owner=ann']);
  await api.update(id, {}, { 'tag-bindings': { data: [] } });
  expect(await direct(api, id)).toEqual([]);
});

it('keeps the id and the creation time of a binding whose key stays', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const api = await serveForTest({ now: () => now });
  const id = await api.created({ name: 'a' }, bindings({ env: 'dev' }));
  const before = (await api.get(`/workspaces/${id}/tag-bindings`)).resources[0];
  now = new Date('2026-02-01T00:00:00Z');
  await api.update(id, {}, bindings({ env: 'prod' }));
  const after = (await api.get(`/workspaces/${id}/tag-bindings`)).resources[0];
  expect(before?.id).toMatch(/^tb-/);
  expect(before?.attributes['created-at']).toBe('2026-01-01T00:00:00.000Z');
  expect(after).toEqual({ ...before, attributes: { ...before?.attributes, value: 'prod' } });
});

it('does not change updated-at of the workspace', async () => {
  const api = await serveForTest({ now: tickingClock() });
  const id = await api.created({ name: 'a' });
  const before = await api.attributes(id);
  await api.update(id, {}, bindings({ env: 'prod' }));
  expect((await api.attributes(id))['updated-at']).toBe(before['updated-at']);
});

it('shows inherited bindings in the effective ones, the workspace`s own value first', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, { ...bindings({ env: 'prod' }), ...IN_PLATFORM });
  const { resources } = await api.get(`/workspaces/${id}/effective-tag-bindings`);
  expect(pairs(resources)).toEqual(['env=prod', 'tier=gold']);
  expect(resources[0]).toEqual({ type: 'effective-tag-bindings', attributes: { key: 'env', value: 'prod' } });
  expect(resources[1]).toEqual({
    type: 'effective-tag-bindings',
    attributes: { key: 'tier', value: 'gold' },
    relationships: { 'inherited-from': { data: { id: 'prj-platform', type: 'projects' } } },
    links: { 'inherited-from': '/api/v2/projects/prj-platform' },
  });
  expect(await direct(api, id)).toEqual(['env=prod']);
});

it('shows the value of the project again when the workspace removes its own', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' }, { ...bindings({ env: 'prod' }), ...IN_PLATFORM });
  await api.update(id, {}, bindings({}));
  expect(pairs((await api.get(`/workspaces/${id}/effective-tag-bindings`)).resources)).toEqual([
    'tier=gold',
    'env=shared',
  ]);
});

const tooMany = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`key-${index}`, 'x']));

it.each([
  ['more than ten', tooMany, ''],
  ['an empty key', { '': 'x' }, '/0/attributes/key'],
  ['a key of 129 characters', { ['k'.repeat(129)]: 'x' }, '/0/attributes/key'],
  ['a value of 257 characters', { env: 'v'.repeat(257) }, '/0/attributes/value'],
  ['a space in the key', { 'my env': 'x' }, '/0/attributes/key'],
  ['a slash in the value', { env: 'a/b' }, '/0/attributes/value'],
  ['a reserved key hc:', { 'hc:x': 'x' }, '/0/attributes/key'],
  ['a reserved key hcp:', { 'hcp:x': 'x' }, '/0/attributes/key'],
  ['a number as value', { env: 3 }, '/0/attributes/value'],
])('refuses %s', async (_case, tags, pointer) => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a' }, bindings(tags));
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([`/data/relationships/tag-bindings/data${pointer}`]);
});

it('accepts ten bindings at the limits', async () => {
  const api = await serveForTest();
  const tags = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`${index}${'k'.repeat(127)}`, `_.=+-@:${'v'.repeat(249)}`]),
  );
  const id = await api.created({ name: 'a' }, bindings(tags));
  expect(await direct(api, id)).toHaveLength(10);
});

it('refuses the same key twice, another type, and what is not a list', async () => {
  const api = await serveForTest();
  const binding = (type: string) => ({ type, attributes: { key: 'env', value: 'x' } });
  const at = '/data/relationships/tag-bindings/data';
  const twice = { data: [binding('tag-bindings'), binding('tag-bindings')] };
  expect((await api.create({ name: 'a' }, { 'tag-bindings': twice })).pointers).toEqual([
    `${at}/1/attributes/key`,
  ]);
  const singular = { data: [binding('tag-binding')] };
  expect((await api.create({ name: 'a' }, { 'tag-bindings': singular })).pointers).toEqual([`${at}/0/type`]);
  const single = { data: binding('tag-bindings') };
  expect((await api.create({ name: 'a' }, { 'tag-bindings': single })).pointers).toEqual([at]);
});
