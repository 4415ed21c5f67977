// Namespaces over HTTP: each has its own mounts, policies and tokens.
import { expect, it } from 'vitest';
import { ROOT, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

const ROLE = { bound_service_account_names: ['api'], bound_service_account_namespaces: ['payments'] };

async function served() {
  const logins = await serveLogins({ dialect: 'openbao' });
  const send = async (method: string, path: string, { body, token = ROOT, namespace = '' }: Sent = {}) => {
    const response = await fetch(`${logins.url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': token, 'x-vault-namespace': namespace },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };
  return { logins, send };
}

interface Sent {
  readonly body?: unknown;
  readonly token?: string;
  readonly namespace?: string;
}

it('keeps the mounts and roles of namespaces apart', async () => {
  const { send } = await served();
  await send('POST', 'sys/namespaces/team-a', { body: {} });
  const inside = { namespace: 'team-a' };
  expect((await send('LIST', 'auth/kubernetes/role', inside)).status).toBe(404);
  expect(
    (await send('POST', 'sys/auth/kubernetes', { ...inside, body: { type: 'kubernetes' } })).status,
  ).toBe(204);
  await send('POST', 'auth/kubernetes/role/inner', { ...inside, body: ROLE });
  expect((await send('LIST', 'team-a/auth/kubernetes/role')).body.data.keys).toEqual(['inner']);
  expect((await send('LIST', 'auth/kubernetes/role')).body.data.keys).toEqual(['app']);
  expect((await send('GET', 'auth/kubernetes/config', { namespace: 'nowhere' })).body).toEqual({
    errors: ['namespace not found'],
  });
});

it('adds the namespace to the display name of a token of a login', async () => {
  const { logins, send } = await served();
  await send('POST', 'sys/namespaces/team-a', { body: {} });
  const inside = { namespace: 'team-a' };
  await send('POST', 'sys/auth/kubernetes', { ...inside, body: { type: 'kubernetes' } });
  const config = { kubernetes_host: logins.cluster.url, kubernetes_ca_cert: logins.cluster.authority };
  await send('POST', 'auth/kubernetes/config', { ...inside, body: config });
  await send('POST', 'auth/kubernetes/role/app', { ...inside, body: ROLE });
  const body = { role: 'app', jwt: await logins.cluster.issue() };
  const { auth } = (await send('POST', 'auth/kubernetes/login', { ...inside, body })).body;
  expect((await send('GET', 'auth/token/lookup-self', { token: auth.client_token })).body.data).toMatchObject(
    {
      display_name: 'team-a-auth-kubernetes-payments-api',
      path: 'auth/kubernetes/login',
    },
  );
});

it('a namespace can be nested, and is deleted with everything in it', async () => {
  const { send } = await served();
  await send('POST', 'sys/namespaces/team-a', { body: { custom_metadata: { of: 'tests' } } });
  await send('POST', 'sys/namespaces/inner', { namespace: 'team-a', body: {} });
  expect((await send('LIST', 'sys/namespaces')).body.data.keys).toEqual(['team-a/']);
  expect((await send('LIST', 'sys/namespaces', { namespace: 'team-a' })).body.data.keys).toEqual(['inner/']);
  expect((await send('GET', 'sys/namespaces/team-a')).body.data).toMatchObject({
    path: 'team-a/',
    custom_metadata: { of: 'tests' },
  });
  await send('POST', 'team-a/inner/sys/auth/deep', { body: { type: 'kubernetes' } });
  expect((await send('DELETE', 'sys/namespaces/team-a')).status).toBe(400);
  expect((await send('DELETE', 'team-a/sys/namespaces/inner')).status).toBe(204);
  expect((await send('DELETE', 'sys/namespaces/team-a')).status).toBe(204);
  expect((await send('GET', 'sys/auth', { namespace: 'team-a' })).status).toBe(404);
  expect((await send('POST', 'sys/namespaces/root', { body: {} })).status).toBe(400);
});

it('limits a token to its namespace and those below, with the policies of its namespace', async () => {
  const { send } = await served();
  for (const name of ['team-a', 'team-b']) await send('POST', `sys/namespaces/${name}`, { body: {} });
  await send('POST', 'sys/namespaces/inner', { namespace: 'team-a', body: {} });
  const policy = 'path "auth/*" { capabilities = ["read"] } path "inner/auth/*" { capabilities = ["list"] }';
  await send('POST', 'sys/policies/acl/look', { namespace: 'team-a', body: { policy } });
  const made = await send('POST', 'auth/token/create', { namespace: 'team-a', body: { policies: ['look'] } });
  const token = made.body.auth.client_token;
  const asked = async (path: string, namespace: string) =>
    (await send('POST', 'sys/capabilities-self', { token, namespace, body: { paths: [path] } })).body.data?.[
      path
    ];
  expect(await asked('auth/x', 'team-a')).toEqual(['read']);
  expect(
    (await send('GET', 'auth/token/lookup-self', { token, namespace: 'team-a' })).body.data,
  ).toMatchObject({
    namespace_path: 'team-a/',
  });
  expect((await send('LIST', 'auth/x/role', { token, namespace: 'team-a/inner' })).body.errors[0]).toContain(
    'no handler for route',
  );
  expect((await send('GET', 'auth/token/lookup-self', { token, namespace: 'team-b' })).body).toEqual({
    errors: ['permission denied'],
  });
  expect((await send('LIST', 'auth/x/role', { token })).body).toEqual({ errors: ['permission denied'] });
});

it.each([0, 1])(
  'lets a token look up, renew and revoke itself without naming its namespace, with %i uses',
  async (uses) => {
    const { send } = await served();
    await send('POST', 'sys/namespaces/team-a', { body: {} });
    const made = async () => {
      const body = { policies: ['default'], ttl: '1h', num_uses: uses };
      return (await send('POST', 'auth/token/create', { namespace: 'team-a', body })).body.auth.client_token;
    };
    const about = async (method: string, path: string) =>
      send(method, `auth/token/${path}`, { token: await made(), ...(method === 'POST' ? { body: {} } : {}) });
    expect((await about('GET', 'lookup-self')).body.data).toMatchObject({
      namespace_path: 'team-a/',
      num_uses: 0 - uses,
    });
    expect((await about('POST', 'renew-self')).body.auth).toMatchObject({ policies: ['default'] });
    expect((await about('POST', 'revoke-self')).status).toBe(204);
  },
);
