// Mounts over HTTP: enabled, listed, tuned and disabled; several of them, at any path.
import { describe, expect, it } from 'vitest';
import { DIALECTS, type Logins, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

const ROLE = { bound_service_account_names: ['api'], bound_service_account_namespaces: ['payments'] };

const enable = (logins: Logins, path: string, body: object = {}) =>
  logins.send('POST', `sys/auth/${path}`, { type: logins.mount, ...body });

it.each(DIALECTS)('serves a method at each path where it is enabled, in the dialect %s', async (dialect) => {
  const logins = await serveLogins({ dialect });
  for (const path of ['second', 'team/cluster']) {
    expect((await enable(logins, path)).status).toBe(204);
    expect((await logins.send('POST', `auth/${path}/role/own`, ROLE)).status).toBeLessThan(300);
    expect((await logins.send('LIST', `auth/${path}/role`)).data['keys']).toEqual(['own']);
  }
  const mounts = (await logins.send('GET', 'sys/auth')).data;
  expect(Object.keys(mounts).toSorted()).toEqual(
    [`${logins.mount}/`, 'second/', 'team/cluster/', 'token/'].toSorted(),
  );
  expect(mounts['second/']).toMatchObject({ type: logins.mount, local: false, options: {} });
  expect((await logins.send('GET', 'sys/auth/second')).data).toEqual(mounts['second/']);
});

it.each([
  ['the same path', 'second', {}, 'path is already in use at second/'],
  ['a path below it', 'second/x', {}, 'path is already in use at second/'],
  ['the path of the token store', 'token', {}, 'path is already in use at token/'],
  ['no type', 'third', { type: '' }, 'backend type must be specified as a string'],
  ['an unknown type', 'third', { type: 'nothing' }, 'plugin not found in the catalog: nothing'],
  ['a bad lease', 'third', { config: { max_lease_ttl: 'soon' } }, 'time: invalid duration "soon"'],
  ['a bad kind of token', 'third', { config: { token_type: 'x' } }, "invalid value for 'token_type'"],
])('refuses to enable a method with %s', async (_case, path, body, error) => {
  const logins = await serveLogins();
  await enable(logins, 'second');
  expect(await enable(logins, path, body)).toMatchObject({ status: 400, errors: [error] });
});

it.each(['vault', 'openbao'] as const)(
  'accepts the mount type kubernetes in the dialect %s',
  async (dialect) => {
    const logins = await serveLogins({ dialect });
    expect((await logins.send('POST', 'sys/auth/other', { type: 'kubernetes' })).status).toBe(204);
    expect((await logins.send('GET', 'sys/auth/other')).data).toMatchObject({ type: 'kubernetes' });
    expect((await logins.send('POST', 'sys/auth/third', { type: 'cluster' })).errors).toEqual([
      'plugin not found in the catalog: cluster',
    ]);
  },
);

it('names the dialects with the mount type kubernetes in the dialect neutral', async () => {
  const logins = await serveLogins();
  expect((await logins.send('POST', 'sys/auth/other', { type: 'kubernetes' })).errors).toEqual([
    'plugin not found in the catalog: kubernetes: it is the type in the dialects vault and openbao; in "neutral" it is "cluster"',
  ]);
});

it('deletes everything of a disabled mount, and accepts an unknown one', async () => {
  const logins = await serveLogins();
  await enable(logins, 'second');
  await logins.send('POST', 'auth/second/role/own', ROLE);
  expect((await logins.send('DELETE', 'sys/auth/second')).status).toBe(204);
  expect((await logins.send('GET', 'auth/second/role/own')).errors?.[0]).toContain('no handler for route');
  expect((await logins.send('DELETE', 'sys/auth/second')).status).toBe(204);
  expect((await logins.send('GET', 'sys/auth/second')).errors).toEqual(['No auth engine at second/']);
  await enable(logins, 'second');
  expect((await logins.send('LIST', 'auth/second/role')).status).toBe(404);
});

describe('a tuned mount', () => {
  const tune = (logins: Logins, body: object) => logins.send('POST', `sys/auth/${logins.mount}/tune`, body);

  it('applies its lifetimes to its tokens, and keeps the settings that a tuning leaves out', async () => {
    const logins = await serveLogins();
    await tune(logins, { default_lease_ttl: '10m', description: 'first' });
    await tune(logins, { max_lease_ttl: '1h' });
    expect((await logins.send('GET', `sys/auth/${logins.mount}/tune`)).data).toMatchObject({
      default_lease_ttl: 600,
      max_lease_ttl: 3600,
      description: 'first',
    });
    expect((await logins.lookUp(await logins.token()))['creation_ttl']).toBe(600);
    await logins.role({ token_ttl: '2h' });
    const { auth, warnings } = await logins.login(await logins.cluster.issue());
    expect([auth.lease_duration, warnings?.length]).toEqual([3600, 1]);
  });

  it('limits the roles that are written afterwards', async () => {
    const logins = await serveLogins();
    await tune(logins, { default_lease_ttl: '10m', max_lease_ttl: '1h' });
    expect((await logins.role({ token_period: '2h' })).status).toBe(400);
    expect((await logins.role({ token_max_ttl: '2h' })).warnings).toHaveLength(1);
  });

  it.each([
    ['batch', 'service', 'batch'],
    ['service', 'batch', 'service'],
    ['default-batch', 'default', 'batch'],
    ['default-batch', 'service', 'service'],
    ['default-service', 'batch', 'batch'],
  ])(
    'with the token type %s, and a role with %s, issues tokens of the type %s',
    async (ofMount, ofRole, kind) => {
      const logins = await serveLogins();
      await tune(logins, { token_type: ofMount });
      await logins.role({ token_type: ofRole });
      expect((await logins.login(await logins.cluster.issue())).auth.token_type).toBe(kind);
    },
  );

  it('refuses a maximum that is less than its default', async () => {
    const logins = await serveLogins();
    expect(await tune(logins, { default_lease_ttl: '2h', max_lease_ttl: '1h' })).toMatchObject({
      status: 400,
      errors: ['backend max lease TTL of 3600 would be less than backend default lease TTL of 7200'],
    });
    expect((await tune(logins, { max_lease_ttl: '-1h' })).errors).toEqual([
      "cannot provide negative value '-3600'",
    ]);
    expect((await logins.send('POST', 'sys/auth/nowhere/tune', {})).status).toBe(400);
  });
});

it('requires sudo to change mounts, and shows them to tokens with any right below', async () => {
  const rules = (path: string, ...capabilities: ('update' | 'read' | 'sudo' | 'deny')[]) => [
    { path, capabilities },
  ];
  const logins = await serveLogins({
    seed: {
      policies: [
        { name: 'half', rules: rules('sys/auth/*', 'update', 'read') },
        { name: 'whole', rules: rules('sys/auth/*', 'update', 'read', 'sudo') },
        { name: 'reader', rules: rules('auth/second/role/*', 'read') },
        { name: 'barred', rules: [...rules('auth/*', 'read'), ...rules('auth/second/*', 'deny')] },
      ],
      'service-tokens': ['half', 'whole', 'reader', 'barred'].map((name) => ({
        token: name,
        policies: [name],
      })),
    },
  });
  const as = (token: string) => logins.send('POST', 'sys/auth/second', { type: logins.mount }, token);
  expect([(await as('half')).status, (await as('whole')).status]).toEqual([403, 204]);
  const visible = async (token: string | null, path = '') =>
    logins.send('GET', `sys/internal/ui/mounts${path}`, undefined, token);
  expect(Object.keys((await visible('reader')).data['auth'] as object)).toEqual(['second/']);
  expect((await visible('reader', '/auth/second')).data).toMatchObject({
    path: 'second/',
    type: logins.mount,
  });
  expect((await visible('reader', `/auth/${logins.mount}`)).status).toBe(403);
  expect(Object.keys((await visible('barred')).data['auth'] as object)).toEqual([
    `${logins.mount}/`,
    'token/',
  ]);
  expect((await visible(null)).data).toEqual({ auth: {}, secret: {} });
  expect((await visible(null, '/auth/second')).status).toBe(403);
});

it('shows mounts that are tuned to be visible without a token', async () => {
  const logins = await serveLogins();
  await logins.send('POST', `sys/mounts/auth/${logins.mount}/tune`, { listing_visibility: 'unauth' });
  const reply = await logins.send('GET', 'sys/internal/ui/mounts', undefined, null);
  expect(Object.keys(reply.data['auth'] as object)).toEqual([`${logins.mount}/`]);
});

it('mounts other auth methods, but supports no login with them', async () => {
  const logins = await serveLogins();
  expect((await logins.send('POST', 'sys/auth/roles', { type: 'approle' })).status).toBe(204);
  const login = (body: object) => logins.send('POST', 'auth/roles/login', body, null);
  expect((await login({ role: 'app', jwt: 'x' })).errors).toEqual(['missing role_id']);
  expect((await login({ role_id: 'a', secret_id: 'b' })).errors).toEqual(['invalid role or secret ID']);
});

it.each(DIALECTS)('answers its health without a token, in the dialect %s', async (dialect) => {
  const logins = await serveLogins({ dialect });
  for (const [path, member] of [
    ['health', { initialized: true, sealed: false, standby: false }],
    ['seal-status', { sealed: false }],
    ['leader', { ha_enabled: false }],
  ] as const) {
    const { status, body } = await logins.send('GET', `sys/${path}`, undefined, null);
    expect([status, body]).toEqual([200, expect.objectContaining(member)]);
  }
});

it.each(['%00', 'a%07b'])('refuses to mount at the path %s, which cannot be printed', async (path) => {
  const logins = await serveLogins();
  expect(await logins.send('POST', `sys/auth/${path}`, { type: logins.mount })).toMatchObject({
    status: 400,
    errors: ['the path has characters that cannot be printed'],
  });
});
