import { expect, it } from 'vitest';

import { bindings, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const PROJECT = '/projects/prj-platform';
const list = (tags: Record<string, string>) => bindings(tags)['tag-bindings'];

async function bound(api: TestClient, path = `${PROJECT}/tag-bindings`): Promise<unknown[]> {
  const { resources } = await api.get(path);
  return resources.map(({ attributes }) => `${attributes['key']}=${attributes['value']}`);
}

it('lists the bindings of a project, at both addresses and as effective ones', async () => {
  const api = await serveForTest();
  for (const path of ['/tag-bindings', '/relationships/tag-bindings', '/effective-tag-bindings']) {
    expect(await bound(api, `${PROJECT}${path}`)).toEqual(['tier=gold', 'env=shared']);
  }
});

it('adds and changes bindings with PATCH, and returns the given ones', async () => {
  const api = await serveForTest();
  const answer = await api.patch(`${PROJECT}/tag-bindings`, list({ owner: 'ann', tier: 'silver' }));
  expect(answer.status).toBe(200);
  expect(answer.resources.map(({ attributes }) => attributes['key'])).toEqual(['owner', 'tier']);
  expect(await bound(api)).toEqual(['tier=silver', 'env=shared', 'owner=ann']);
});

it('adds bindings with POST and replaces them with PATCH of the relationship', async () => {
  const api = await serveForTest();
  const path = `${PROJECT}/relationships/tag-bindings`;
  expect((await api.post(path, list({ owner: 'ann' }))).status).toBe(204);
  expect(await bound(api)).toEqual(['tier=gold', 'env=shared', 'owner=ann']);
  expect((await api.patch(path, list({ only: 'this' }))).status).toBe(204);
  expect(await bound(api)).toEqual(['only=this']);
});

it('changes the effective bindings of all workspaces of the project immediately', async () => {
  const api = await serveForTest();
  const id = await api.created(
    { name: 'a' },
    { project: { data: { type: 'projects', id: 'prj-platform' } } },
  );
  await api.patch(`${PROJECT}/relationships/tag-bindings`, list({ only: 'this' }));
  expect(await bound(api, `/workspaces/${id}/effective-tag-bindings`)).toEqual(['only=this']);
});

it('lets only admins of the project change its bindings', async () => {
  const api = await serveForTest();
  for (const [token, status] of [
    ['readers', 404],
    ['managers', 404],
    ['eve', 404],
    ['platform-admins', 200],
  ] as const) {
    expect((await api.as(token).patch(`${PROJECT}/tag-bindings`, list({ by: token }))).status).toBe(status);
  }
});
