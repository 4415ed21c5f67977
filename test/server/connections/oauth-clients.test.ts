import { expect, it } from 'vitest';

import { serveForTest } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/oauth-clients';
const body = (attributes: object) => ({ data: { type: 'oauth-clients', attributes } });
const GIT = {
  name: 'git',
  'service-provider': 'github',
  'http-url': 'https://git.example.com/',
  'api-url': 'https://git.example.com/api/v3',
  'organization-scoped': false,
  'oauth-token-string': 's3cret',
};

it('links clients to their tokens and back', async () => {
  const api = await serveForTest();
  const [client] = (await api.get(LIST)).resources;
  expect(client?.relationships['oauth-tokens']?.data).toEqual([{ id: 'ot-git', type: 'oauth-tokens' }]);
  const token = (await api.get('/oauth-tokens/ot-git')).resource;
  expect(token.relationships['oauth-client']?.data).toEqual({ id: client?.id, type: 'oauth-clients' });
  expect((await api.get(`/oauth-clients/${client?.id}/oauth-tokens`)).resources).toEqual([token]);
  expect((await api.get(`/oauth-clients/${client?.id}`)).resource).toEqual(client);
  const tokens = await api.get('/organizations/acme/oauth-tokens');
  expect(tokens.resources.map(({ id }) => id)).toEqual(['ot-git', 'ot-other']);
});

it('creates a client whose token connects workspaces, until it is deleted', async () => {
  const api = await serveForTest();
  const made = await api.post(LIST, body(GIT));
  expect(made.status).toBe(201);
  expect(made.text).not.toContain('s3cret');
  expect(made.resource.attributes).toMatchObject({
    'http-url': 'https://git.example.com',
    'api-url': 'https://git.example.com/api/v3',
    'organization-scoped': false,
  });
  expect((await api.get(`/oauth-clients/${made.resource.id}`)).resource).toEqual(made.resource);
  const tokens = made.resource.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
  const repo = { identifier: 'acme/net', 'oauth-token-id': tokens?.[0]?.id };
  const id = await api.created({ name: 'a', 'vcs-repo': repo });
  expect((await api.attributes(id))['vcs-repo']).toMatchObject({
    'repository-http-url': 'https://git.example.com/acme/net',
  });
  expect((await api.delete(`/oauth-clients/${made.resource.id}`)).status).toBe(204);
  expect((await api.get(`/oauth-tokens/${tokens?.[0]?.id}`)).status).toBe(404);
  expect((await api.attributes(id))['vcs-repo']).toBeNull();
});

it('lets owners create and delete clients, and members read them', async () => {
  const api = await serveForTest();
  const [client] = (await api.get(LIST)).resources;
  for (const [token, seen] of [
    ['managers', 200],
    ['eve', 404],
  ] as const) {
    expect((await api.as(token).get(`/oauth-clients/${client?.id}`)).status).toBe(seen);
    expect((await api.as(token).get('/oauth-tokens/ot-git')).status).toBe(seen);
    expect((await api.as(token).post(LIST, body(GIT))).status).toBe(404);
    expect((await api.as(token).delete(`/oauth-clients/${client?.id}`)).status).toBe(404);
  }
  expect((await api.post(LIST, body({}))).pointers.toSorted()).toEqual([
    '/data/attributes/http-url',
    '/data/attributes/service-provider',
  ]);
});
