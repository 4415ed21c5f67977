// Tokens over HTTP, from a login, a seed or another token: how they are looked up, used, renewed and revoked.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../../src/server/start-server.ts';
import { DIALECTS, type Logins, ROOT, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

const MINUTE = 60;
const HOUR = 3600;

/** A service whose clock the test moves, in seconds. */
async function withClock(options: Parameters<typeof serveLogins>[0] = {}): Promise<{
  logins: Logins;
  pass: (seconds: number) => void;
}> {
  let now = Date.now();
  const logins = await serveLogins({ ...options, now: () => new Date(now) });
  return {
    logins,
    pass: (seconds) => {
      now += seconds * 1000;
    },
  };
}

const renew = (logins: Logins, token: string, body: unknown = {}) =>
  logins.send('POST', 'auth/token/renew-self', body, token);

describe('a token of a login', () => {
  it('has the settings of its role', async () => {
    const logins = await serveLogins();
    await logins.role({
      token_policies: ['Look', 'look', 'b'],
      token_ttl: '10m',
      token_explicit_max_ttl: '2h',
      token_num_uses: 9,
      token_bound_cidrs: ['127.0.0.0/8'],
    });
    expect(await logins.lookUp(await logins.token())).toMatchObject({
      policies: ['b', 'default', 'look'],
      creation_ttl: 600,
      explicit_max_ttl: 2 * HOUR,
      num_uses: 8,
      bound_cidrs: ['127.0.0.0/8'],
      display_name: 'cluster-payments-api',
      path: 'auth/cluster/login',
      type: 'service',
      renewable: true,
      orphan: true,
    });
  });

  it('lacks the policy default if its role excludes it, and cannot look itself up', async () => {
    const logins = await serveLogins();
    await logins.role({ token_no_default_policy: true, token_policies: ['a'] });
    const reply = await logins.send('GET', 'auth/token/lookup-self', undefined, await logins.token());
    expect(reply).toMatchObject({ status: 403, errors: ['1 error occurred:\n\t* permission denied\n\n'] });
  });

  it('without policies has no member token_policies', async () => {
    const logins = await serveLogins();
    await logins.role({ token_no_default_policy: true });
    const { auth } = await logins.login(await logins.cluster.issue());
    expect(auth.policies).toEqual([]);
    expect(auth).not.toHaveProperty('token_policies');
  });

  it('may be used up to the largest number of times that a role accepts', async () => {
    const logins = await serveLogins();
    const role = `{"bound_service_account_names":"api","bound_service_account_namespaces":"payments","token_num_uses":${2n ** 63n - 1n}}`;
    await fetch(`${logins.url}/v1/auth/cluster/role/app`, {
      method: 'POST',
      headers: { 'x-service-token': ROOT },
      body: role,
    });
    expect(await logins.lookUp(await logins.token())).toMatchObject({
      num_uses: Number.MAX_SAFE_INTEGER - 1,
    });
  });

  it('is never a root token', async () => {
    const logins = await serveLogins();
    await logins.role({ token_policies: ['Root'] });
    expect(await logins.login(await logins.cluster.issue())).toMatchObject({
      status: 400,
      errors: ['auth methods cannot create root tokens'],
    });
  });

  it('expires after its lifetime', async () => {
    const { logins, pass } = await withClock();
    await logins.role({ token_ttl: '10m' });
    const token = await logins.token();
    pass(9 * MINUTE);
    expect((await logins.lookUp(token))['ttl']).toBe(MINUTE);
    pass(MINUTE);
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
  });

  it('is renewed with the current settings of its role, up to the maximum since its creation', async () => {
    const { logins, pass } = await withClock();
    await logins.role({ token_ttl: '10m', token_max_ttl: '1h' });
    const token = await logins.token();
    await logins.role({ token_ttl: '30m', token_policies: ['later'] });
    pass(5 * MINUTE);
    const renewed = await renew(logins, token);
    expect(renewed.auth).toMatchObject({ lease_duration: 30 * MINUTE, policies: ['default'] });
    pass(25 * MINUTE);
    const capped = await renew(logins, token, { increment: '2h' });
    expect(capped.auth.lease_duration).toBe(30 * MINUTE);
    expect(capped.warnings).toEqual([
      'TTL of "2h0m0s" exceeded the effective max_ttl of "30m0s"; TTL value is capped accordingly',
    ]);
    pass(30 * MINUTE);
    expect((await renew(logins, token)).status).toBe(403);
  });

  it('is renewed for a period each time, until its explicit maximum', async () => {
    const { logins, pass } = await withClock();
    await logins.role({ token_period: '10m', token_explicit_max_ttl: '25m' });
    const token = await logins.token();
    pass(9 * MINUTE);
    expect((await renew(logins, token, { increment: '1h' })).auth.lease_duration).toBe(10 * MINUTE);
    pass(9 * MINUTE);
    expect((await renew(logins, token)).auth.lease_duration).toBe(7 * MINUTE);
    pass(7 * MINUTE);
    expect((await renew(logins, token)).status).toBe(403);
  });

  it('is not renewed without its role', async () => {
    const logins = await serveLogins();
    const token = await logins.token();
    await logins.send('DELETE', `auth/${logins.mount}/role/app`);
    expect(await renew(logins, token)).toMatchObject({
      status: 500,
      errors: ['1 error occurred:\n\t* failed to renew entry: role app does not exist during renewal\n\n'],
    });
    expect((await logins.lookUp(token))['policies']).toEqual(['default']);
  });

  it('can be used as often as its role allows, refused uses included', async () => {
    const logins = await serveLogins();
    await logins.role({ token_num_uses: 3 });
    const token = await logins.token();
    expect((await logins.lookUp(token))['num_uses']).toBe(2);
    expect((await logins.send('GET', `auth/${logins.mount}/config`, undefined, token)).status).toBe(403);
    expect((await logins.lookUp(token))['num_uses']).toBe(-1);
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, token)).errors).toEqual([
      'permission denied',
    ]);
  });

  it('lists the mounts that it can see without losing a use', async () => {
    const logins = await serveLogins();
    await logins.role({ token_num_uses: 1 });
    const token = await logins.token();
    for (const path of ['', `/auth/${logins.mount}`, '/auth/token'])
      await logins.send('GET', `sys/internal/ui/mounts${path}`, undefined, token);
    expect((await logins.lookUp(token))['num_uses']).toBe(-1);
  });

  it('is revoked with its mount, and stays revoked if a new mount gets the same path', async () => {
    const logins = await serveLogins();
    const token = await logins.token();
    await logins.send('DELETE', `sys/auth/${logins.mount}`);
    await logins.send('POST', `sys/auth/${logins.mount}`, { type: logins.mount });
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, token)).status).toBe(403);
    expect((await logins.send('GET', `auth/${logins.mount}/role/app`)).status).toBe(404);
  });

  it.each([
    ['openbao', 's', 'b'],
    ['vault', 'hvs', 'hvb'],
    ['neutral', 's', 'b'],
  ] as const)(
    'begins in the dialect %s with %s., as a batch token with %s.',
    async (dialect, service, batch) => {
      const logins = await serveLogins({ dialect });
      expect(await logins.token()).toMatch(new RegExp(`^${service}\\.[A-Za-z0-9]{24}$`));
      await logins.role({ token_type: 'batch' });
      const { auth } = await logins.login(await logins.cluster.issue());
      expect(auth).toMatchObject({ accessor: '', renewable: false, token_type: 'batch' });
      expect(auth.client_token).toMatch(new RegExp(`^${batch}\\.`));
    },
  );
});

describe('a batch token', () => {
  it('cannot be renewed or revoked, and has no accessor', async () => {
    const logins = await serveLogins();
    await logins.role({ token_type: 'batch' });
    const token = await logins.token();
    expect(await renew(logins, token)).toMatchObject({
      status: 400,
      errors: ['batch tokens cannot be renewed'],
    });
    expect(await logins.send('POST', 'auth/token/revoke', { token })).toMatchObject({
      status: 400,
      errors: ['batch tokens cannot be revoked'],
    });
    const list = await logins.send('LIST', 'auth/token/accessors');
    expect(list.data['keys']).toHaveLength(1);
  });
});

describe('a request about a token', () => {
  it('looks it up, by its accessor without revealing the token', async () => {
    const logins = await serveLogins();
    const { auth } = await logins.login(await logins.cluster.issue());
    const byToken = await logins.send('POST', 'auth/token/lookup', { token: auth.client_token });
    expect(byToken.data).toMatchObject({ accessor: auth.accessor, id: auth.client_token });
    const itself = await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token);
    expect(itself.data).toEqual(byToken.data);
    expect((await logins.send('POST', 'auth/token/lookup-self')).data).toMatchObject({ id: 'root-token' });
    const byAccessor = await logins.send('POST', 'auth/token/lookup-accessor', { accessor: auth.accessor });
    expect(byAccessor.data).toMatchObject({ accessor: auth.accessor, id: '' });
    expect(await logins.send('POST', 'auth/token/lookup', { token: 'x' })).toMatchObject({
      status: 403,
      errors: ['bad token'],
    });
    for (const action of ['lookup', 'renew', 'revoke'])
      expect(await logins.send('POST', `auth/token/${action}-accessor`, { accessor: 'x' })).toMatchObject({
        status: 400,
        errors: ['1 error occurred:\n\t* invalid accessor\n\n'],
      });
  });

  it.each(['token', 'accessor'] as const)('renews and revokes it by its %s', async (by) => {
    const { logins, pass } = await withClock();
    await logins.role({ token_ttl: '10m' });
    const { auth } = await logins.login(await logins.cluster.issue());
    const path = by === 'token' ? '' : '-accessor';
    const body = { [by]: by === 'token' ? auth.client_token : auth.accessor };
    pass(9 * MINUTE);
    expect((await logins.send('POST', `auth/token/renew${path}`, body)).auth.lease_duration).toBe(
      10 * MINUTE,
    );
    pass(9 * MINUTE);
    expect((await logins.lookUp(auth.client_token))['ttl']).toBe(MINUTE);
    expect((await logins.send('POST', `auth/token/revoke${path}`, body)).status).toBe(204);
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(
      403,
    );
  });

  it('can name the token or accessor in its path', async () => {
    const logins = await serveLogins();
    const { auth } = await logins.login(await logins.cluster.issue());
    const { client_token: token, accessor } = auth;
    const asked = async (method: string, path: string) => logins.send(method, `auth/token/${path}`);
    expect((await asked('GET', `lookup/${token}`)).data).toMatchObject({ accessor });
    expect((await asked('POST', `lookup/${token}`)).data).toMatchObject({ accessor });
    expect((await asked('GET', `lookup?token=${token}`)).data).toMatchObject({ accessor });
    expect((await asked('POST', `lookup-accessor/${accessor}`)).data).toMatchObject({ accessor });
    expect((await asked('POST', `renew/${token}`)).auth.client_token).toBe(token);
    expect((await asked('POST', `revoke/${token}`)).status).toBe(204);
    expect((await asked('GET', `lookup/${token}`)).errors).toEqual(['bad token']);
    const other = (await logins.login(await logins.cluster.issue())).auth;
    expect((await asked('POST', `revoke-accessor/${other.accessor}`)).status).toBe(204);
    expect((await asked('GET', `lookup/${other.client_token}`)).status).toBe(403);
  });

  it('revokes an unknown token without an error', async () => {
    const logins = await serveLogins();
    expect((await logins.send('POST', 'auth/token/revoke', { token: 'x' })).status).toBe(204);
    expect((await logins.send('POST', 'auth/token/revoke', {})).errors).toEqual(['missing token ID']);
  });

  it('is allowed only about itself with the token of a login', async () => {
    const logins = await serveLogins();
    const [mine, other] = [await logins.token(), await logins.token()];
    for (const action of ['lookup', 'renew', 'revoke']) {
      expect((await logins.send('POST', `auth/token/${action}`, { token: other }, mine)).status).toBe(403);
      expect(
        (await logins.send('POST', `auth/token/${action}-accessor`, { accessor: 'x' }, mine)).status,
      ).toBe(403);
    }
    expect((await logins.send('LIST', 'auth/token/accessors', undefined, mine)).status).toBe(403);
    expect((await logins.send('POST', 'auth/token/revoke-self', {}, mine)).status).toBe(204);
    expect((await logins.lookUp(other))['type']).toBe('service');
  });
});

describe('a token that another token created', () => {
  it('has at most the policies of its creator, and is revoked with it', async () => {
    const logins = await serveLogins({
      seed: {
        policies: [{ name: 'maker', rules: [{ path: 'auth/token/create', capabilities: ['update'] }] }],
      },
    });
    await logins.role({ token_policies: ['maker', 'look'] });
    const maker = await logins.token();
    const make = (body: unknown) => logins.send('POST', 'auth/token/create', body, maker);
    expect(await make({ policies: ['root'] })).toMatchObject({
      status: 400,
      errors: ['child policies must be subset of parent'],
    });
    const { auth } = await make({ policies: ['look'], ttl: '1h', display_name: 'child' });
    expect(auth).toMatchObject({ policies: ['default', 'look'], lease_duration: HOUR });
    expect(await logins.lookUp(auth.client_token)).toMatchObject({
      display_name: 'token-child',
      orphan: false,
    });
    await logins.send('POST', 'auth/token/revoke', { token: maker });
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(
      403,
    );
  });

  it('expires with its creator, even if its own lifetime is longer', async () => {
    const { logins, pass } = await withClock({
      seed: { 'service-tokens': [{ token: 'maker', policies: ['root'], ttl: '10m' }] },
    });
    const { auth } = await logins.send(
      'POST',
      'auth/token/create',
      { policies: ['default'], ttl: '1h' },
      'maker',
    );
    expect((await logins.lookUp(auth.client_token))['ttl']).toBe(HOUR);
    pass(10 * MINUTE);
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(
      403,
    );
  });

  it('cannot be created by a token with limited uses', async () => {
    const rules = [{ path: 'auth/token/create', capabilities: ['update' as const] }];
    const logins = await serveLogins({ seed: { policies: [{ name: 'maker', rules }] } });
    const made = async (uses: number) => {
      await logins.role({ token_num_uses: uses, token_policies: ['maker'] });
      return logins.send('POST', 'auth/token/create', {}, await logins.token());
    };
    const error = 'restricted use token cannot generate child tokens';
    expect(await made(5)).toMatchObject({ status: 400, errors: [error] });
    expect((await made(0)).status).toBe(200);
  });
});

describe('a seed', () => {
  const seed = {
    policies: [{ name: 'look', rules: [{ path: 'auth/*', capabilities: ['read'] as const }] }],
    'service-tokens': [
      { token: 'short', policies: ['default'], ttl: '10m' },
      { token: 'until', policies: ['default'], 'expires-at': '2026-01-01T02:00:00Z' },
      { token: 'periodic', policies: ['default'], period: '10m', 'explicit-max-ttl': '15m' },
      { token: 'twice', policies: ['default'], 'num-uses': 2 },
      { token: 'bound', policies: ['default'], 'bound-cidrs': ['10.0.0.0/8'] },
      { token: 'here', policies: ['default'], 'bound-cidrs': ['127.0.0.1'] },
      { token: 'batch', policies: ['default'], type: 'batch' as const, ttl: 3600 },
      { token: 'fixed', policies: ['default'], ttl: '1h', renewable: false, meta: { of: 'tests' } },
      { token: 'plain', policies: ['look'], name: 'looker' },
    ],
  };

  async function seeded() {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const logins = await serveLogins({ seed, now: () => new Date(now) });
    return { logins, pass: (seconds: number) => (now += seconds * 1000) };
  }

  it('gives tokens each kind of lifetime', async () => {
    const { logins } = await seeded();
    expect(await logins.lookUp('short')).toMatchObject({ ttl: 600, creation_ttl: 600, renewable: true });
    expect(await logins.lookUp('until')).toMatchObject({
      expire_time: '2026-01-01T02:00:00.000Z',
      ttl: 7200,
    });
    expect(await logins.lookUp('periodic')).toMatchObject({ period: 600, explicit_max_ttl: 900 });
    expect(await logins.lookUp('twice')).toMatchObject({ num_uses: 1, ttl: 0, expire_time: null });
    expect(await logins.lookUp('here')).toMatchObject({ bound_cidrs: ['127.0.0.1'] });
    expect(await logins.lookUp('batch')).toMatchObject({ type: 'batch', accessor: '', renewable: false });
    expect(await logins.lookUp('fixed')).toMatchObject({ renewable: false, meta: { of: 'tests' } });
    expect((await logins.send('GET', 'auth/token/lookup-self', undefined, 'bound')).status).toBe(403);
  });

  it.each(DIALECTS)('binds a token to addresses, and reveals nothing to others, in %s', async (dialect) => {
    const logins = await serveLogins({ seed, dialect });
    const reply = await logins.send('GET', 'auth/token/lookup-self', undefined, 'bound');
    expect(reply).toMatchObject({ status: 403, errors: ['permission denied'] });
  });

  it('grants a token only its policies: one without default cannot revoke itself', async () => {
    const { logins } = await seeded();
    expect((await logins.send('GET', `auth/${logins.mount}/config`, undefined, 'plain')).status).toBe(200);
    expect((await logins.send('POST', 'auth/token/revoke-self', {}, 'plain')).status).toBe(403);
  });

  it('creates tokens that can be renewed within their limits', async () => {
    const { logins, pass } = await seeded();
    pass(9 * MINUTE);
    expect((await renew(logins, 'short')).auth.lease_duration).toBe(10 * MINUTE);
    expect((await renew(logins, 'periodic')).auth.lease_duration).toBe(6 * MINUTE);
    expect(await renew(logins, 'fixed')).toMatchObject({ status: 400, errors: ['lease is not renewable'] });
    expect(await renew(logins, ROOT)).toMatchObject({ status: 400, errors: ['lease is not renewable'] });
    pass(6 * MINUTE);
    expect((await renew(logins, 'periodic')).status).toBe(403);
    expect((await renew(logins, 'short')).status).toBe(200);
  });
});

it.each(DIALECTS)('stores only hashes of tokens, in the dialect %s', async (dialect) => {
  const folder = mkdtempSync(join(tmpdir(), 'trueup-tokens-'));
  const data = join(folder, 'service.db');
  const server = await startServer({
    data,
    dialects: [dialect],
    seed: { 'service-tokens': [{ token: 'a-seeded-token', policies: ['root'] }] },
  });
  const header = dialect === 'neutral' ? 'x-service-token' : 'x-vault-token';
  const made = await fetch(`${server.url}/v1/auth/token/create`, {
    method: 'POST',
    headers: { [header]: 'a-seeded-token' },
  });
  const { auth } = (await made.json()) as { auth: { client_token: string } };
  await server.close();
  const bytes = readFileSync(data).toString('latin1');
  rmSync(folder, { recursive: true });
  expect(auth.client_token).toHaveLength(auth.client_token.indexOf('.') + 25);
  expect([bytes.includes('a-seeded-token'), bytes.includes(auth.client_token)]).toEqual([false, false]);
});

it.each([
  ['neutral', 'permission denied'],
  ['vault', '2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'],
  ['openbao', 'permission denied'],
] as const)('an unknown token is refused with the error of the dialect %s', async (dialect, error) => {
  const logins = await serveLogins({ dialect });
  const config = `auth/${logins.mount}/config`;
  expect(await logins.send('GET', config, undefined, 'x')).toMatchObject({ status: 403, errors: [error] });
  expect((await logins.send('GET', config, undefined, null)).errors).toEqual(['permission denied']);
});
