/**
 * Endpoints of the dialect `hcp-terraform` that clients use and that no recorded client requested (wire/workspaces 6.1), with bodies
 * that leave out the types of their resources. What was recorded is replayed in transcripts/replay.test.ts.
 */
import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../support/server/serve-for-test.ts';

const ORGANIZATION = '/organizations/acme';
const SEED = seedWith({ workspaces: [{ name: 'net', id: 'ws-net' }] });

function serve(): Promise<TestClient> {
  return serveForTest({ dialects: ['hcp-terraform'], seed: SEED });
}

const body = (attributes: object, relationships: object = {}) => ({ data: { attributes, relationships } });

/** Creates a resource, shows, updates and deletes it, and checks that it is gone. Returns its attributes after the update. */
async function runLifeCycle(
  api: TestClient,
  { list, one, made, changed }: { list: string; one: string; made: object; changed: object },
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await api.post(list, made);
  expect(answer.status, answer.text).toBe(201);
  const path = `${one}/${answer.resource.id}`;
  expect((await api.get(path)).resource).toEqual(answer.resource);
  const patched = await api.patch(path, changed);
  expect(patched.status, patched.text).toBe(200);
  const deleted = await api.delete(path);
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  expect((await api.get(path)).status).toBe(404);
  return patched.resource.attributes;
}

it.each([
  ['projects', { name: 'shop', description: 'd' }, { name: 'store' }],
  ['agent-pools', { name: 'few', 'organization-scoped': false }, { name: 'some' }],
  ['ssh-keys', { name: 'k', value: 'PRIVATE' }, { name: 'l' }],
  ['teams', { name: 'devs', visibility: 'secret' }, { 'organization-access': { 'manage-workspaces': true } }],
])('creates, shows, updates and deletes %s', async (type, made, changed) => {
  const api = await serve();
  const list = `${ORGANIZATION}/${type}`;
  const { value: _, ...shown } = made as { value?: string };
  const last = await runLifeCycle(api, { list, one: `/${type}`, made: body(made), changed: body(changed) });
  expect(last).toMatchObject({ ...shown, ...changed });
});

it('creates, shows and deletes OAuth clients, whose token connects a workspace', async () => {
  const api = await serve();
  const attributes = {
    'service-provider': 'github',
    'http-url': 'https://git.example.com',
    'api-url': 'https://git.example.com/api',
    'oauth-token-string': 's3cret',
  };
  const made = await api.post(`${ORGANIZATION}/oauth-clients`, body(attributes));
  expect(made.status, made.text).toBe(201);
  expect(made.text).not.toContain('s3cret');
  const tokens = made.resource.relationships['oauth-tokens']?.data as { id: string }[] | undefined;
  const repo = { identifier: 'acme/net', 'oauth-token-id': tokens?.[0]?.id };
  expect((await api.update('ws-net', { 'vcs-repo': repo })).status).toBe(200);
  expect((await api.delete(`/oauth-clients/${made.resource.id}`)).status).toBe(204);
  expect((await api.get(`/oauth-tokens/${tokens?.[0]?.id}`)).status).toBe(404);
});

it('gives teams access to workspaces and projects, and tokens of their own', async () => {
  const api = await serve();
  const { id: team } = (await api.post(`${ORGANIZATION}/teams`, body({ name: 'devs' }))).resource;
  for (const [thing, id] of [
    ['workspace', 'ws-net'],
    ['project', 'prj-platform'],
  ] as const) {
    const list = `/team-${thing}s`;
    const related = { team: { data: { id: team } }, [thing]: { data: { id } } };
    const made = body({ access: 'read' }, related);
    expect(
      await runLifeCycle(api, { list, one: list, made, changed: body({ access: 'write' }) }),
    ).toMatchObject({
      access: 'write',
    });
  }
  const path = `/teams/${team}/authentication-token`;
  const made = await api.post(path);
  expect([made.status, typeof made.resource.attributes['token']]).toEqual([201, 'string']);
  expect((await api.get(path)).resource.attributes['token']).toBeNull();
  expect((await api.delete(path)).status).toBe(204);
});

it('binds tags to projects through every endpoint', async () => {
  const api = await serve();
  const project = '/projects/prj-platform';
  const tags = (all: Record<string, string>) => ({
    data: Object.entries(all).map(([key, value]) => ({ attributes: { key, value } })),
  });
  const bound = async (path: string) =>
    Object.fromEntries(
      (await api.get(project + path)).resources.map(({ attributes }) => [
        attributes['key'],
        attributes['value'],
      ]),
    );
  expect((await api.patch(`${project}/relationships/tag-bindings`, tags({ a: '1' }))).status).toBe(204);
  expect((await api.patch(`${project}/tag-bindings`, tags({ b: '2' }))).status).toBe(200);
  expect((await api.post(`${project}/relationships/tag-bindings`, tags({ c: '3' }))).status).toBe(204);
  for (const path of ['/tag-bindings', '/relationships/tag-bindings', '/effective-tag-bindings']) {
    expect(await bound(path), path).toEqual({ a: '1', b: '2', c: '3' });
  }
});

it('adds flat tags to workspaces and removes them through the organization', async () => {
  const api = await serve();
  const flat = '/workspaces/ws-net/relationships/tags';
  expect((await api.post(flat, { data: [{ attributes: { name: 'Blue' } }] })).status).toBe(204);
  const [tag] = (await api.get(`${ORGANIZATION}/tags`)).resources;
  expect(tag?.attributes).toMatchObject({ name: 'blue', 'instance-count': 1 });
  const other = await api.created({ name: 'other' });
  const path = `/tags/${tag?.id}/relationships/workspaces`;
  expect((await api.post(path, { data: [{ id: other }] })).status).toBe(204);
  expect((await api.attributes(other))['tag-names']).toEqual(['blue']);
  expect((await api.delete(`${ORGANIZATION}/tags`, { data: [{ id: tag?.id }] })).status).toBe(204);
  expect((await api.attributes('ws-net'))['tag-names']).toEqual([]);
});

it('accepts related resources without a type, and an SSH key in both forms', async () => {
  const api = await serve();
  const project = { data: { id: 'prj-platform' } };
  const tags = { data: [{ type: '', attributes: { key: 'app', value: 'shop' } }] };
  const made = await api.post(
    `${ORGANIZATION}/workspaces`,
    body({ name: 'a' }, { project, 'tag-bindings': tags }),
  );
  expect(made.status, made.text).toBe(201);
  expect(made.resource.relationships['project']?.data).toMatchObject(project.data);
  expect((await api.get(`/workspaces/${made.resource.id}/tag-bindings`)).resources).toMatchObject(
    tags.data.map(({ attributes }) => ({ attributes })),
  );
  const misnamed = { data: [{ ...tags.data[0], type: 'tags' }] };
  expect((await api.update('ws-net', {}, { 'tag-bindings': misnamed })).status).toBe(422);
  const path = '/workspaces/ws-net/relationships/ssh-key';
  for (const data of [{ id: 'sshkey-deploy' }, { attributes: { id: 'sshkey-deploy' } }]) {
    expect((await api.patch(path, { data })).resource.relationships['ssh-key']?.data).toMatchObject({
      id: 'sshkey-deploy',
    });
    expect(
      (await api.patch(path, { data: { attributes: { id: null } } })).resource.relationships,
    ).not.toHaveProperty('ssh-key');
  }
});

it('creates, shows, updates and deletes variables, and has no stacks', async () => {
  const api = await serve();
  const list = '/workspaces/ws-net/vars';
  const made = body({ key: 'a', value: '1', category: 'terraform' });
  const last = await runLifeCycle(api, { list, one: list, made, changed: body({ value: '2' }) });
  expect(last).toMatchObject({ key: 'a', value: '2', category: 'terraform' });
  expect((await api.get(`${ORGANIZATION}/stacks`)).resources).toEqual([]);
});

/** Creates a resource with the body that the provider sends, and returns what its next plan reads. */
async function sentAndRead(
  api: TestClient,
  { list, read, sent }: { list: string; read: (id: string) => string; sent: object },
): Promise<{ readonly id: string; readonly attributes: unknown }> {
  const made = await api.post(list, body(sent));
  expect(made.status, made.text).toBe(201);
  return { id: made.resource.id, attributes: (await api.get(read(made.resource.id))).resource.attributes };
}

it('returns what the provider sent, so that its second plan is empty', async () => {
  const api = await serve();
  const organization = await sentAndRead(api, {
    list: '/organizations',
    read: () => '/organizations/shop',
    sent: { name: 'shop', email: 'ops@example.com' },
  });
  expect(organization.attributes).toMatchObject({
    name: 'shop',
    email: 'ops@example.com',
    'collaborator-auth-policy': 'password',
    'session-timeout': null,
    'session-remember': null,
    'owners-team-saml-role-id': null,
  });

  const rights = { 'manage-workspaces': true, 'read-projects': true, 'manage-membership': false };
  const team = { name: 'platform', 'sso-team-id': '', visibility: 'secret', 'organization-access': rights };
  const { attributes } = await sentAndRead(api, {
    list: '/organizations/shop/teams',
    read: (id) => `/teams/${id}`,
    sent: team,
  });
  expect(attributes).toMatchObject({
    name: 'platform',
    visibility: 'secret',
    'allow-member-token-management': true,
    'organization-access': { ...rights, 'manage-projects': false },
  });

  const connection = {
    'service-provider': 'github',
    'http-url': 'https://git.example.com',
    'api-url': 'https://git.example.com/api',
    'organization-scoped': true,
  };
  const client = await sentAndRead(api, {
    list: '/organizations/shop/oauth-clients',
    read: (id) => `/oauth-clients/${id}`,
    sent: { ...connection, 'oauth-token-string': 's3cret' },
  });
  expect(client.attributes).toMatchObject(connection);

  const tokens = (await api.get(`/oauth-clients/${client.id}/oauth-tokens`)).resources;
  const repository = { identifier: 'acme/net', 'oauth-token-id': tokens[0]?.id, 'ingress-submodules': false };
  const workspace = {
    name: 'net',
    'working-directory': '',
    'queue-all-runs': false,
    'file-triggers-enabled': true,
    'vcs-repo': { ...repository, 'github-app-installation-id': '' },
  };
  // The provider reads null as the empty text.
  const kept = { ...workspace, 'working-directory': null, 'vcs-repo': repository };
  const made = await sentAndRead(api, {
    list: '/organizations/shop/workspaces',
    read: (id) => `/workspaces/${id}`,
    sent: workspace,
  });
  expect(made.attributes).toMatchObject(kept);
  // Every update of the provider sends all of the repository again.
  const updated = await api.update(made.id, { ...workspace, description: 'network' });
  expect(updated.status, updated.text).toBe(200);
  expect(await api.attributes(made.id)).toMatchObject({ ...kept, description: 'network' });
});
