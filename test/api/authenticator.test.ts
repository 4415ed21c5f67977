// A target that logs in: one login for many requests, a token that stays valid, and no token left at the end. The server
// issues tokens and checks them, like the secrets service.
import { describe, expect, it } from 'vitest';
import { findDialect } from '../../src/api/dialects.ts';
import { openConnection } from '../../src/api/transport/connection.ts';
import { loginsOnly } from '../../src/api/transport/dispatcher.ts';
import { Sender } from '../../src/api/transport/sender.ts';
import { type Loopback, listen, type Recorded, type Reply } from '../support/http/loopback.ts';
import { failureOf, open, rolesTarget } from '../support/http/open-for-test.ts';
import { stillClock } from '../support/http/still-clock.ts';

interface Issued {
  readonly lease?: number;
  readonly renewable?: boolean;
  readonly uses?: number;
  readonly policies?: readonly string[];
  /** the response to a revocation or a request with an invalid token */
  readonly refusal?: string;
  /** the lease of a renewed token, in seconds */
  readonly renewed?: number;
}

interface TokenService extends Loopback {
  /** currently valid tokens */
  readonly alive: Set<string>;
}

/** Tokens are `token-1`, `token-2` and so on; all other paths can be read with a valid one. */
async function listenForLogins(
  issued: Issued = {},
  forbidden = new Set<string>(),
  beforeLogin: () => Promise<void> = async () => {},
): Promise<TokenService> {
  const { lease = 3600, renewable = true, uses = 0, renewed = lease, policies = [] } = issued;
  const { refusal = 'permission denied' } = issued;
  const alive = new Set<string>();
  let count = 0;
  const reply = async ({ path, headers }: Recorded): Promise<Reply> => {
    if (path.endsWith('/login')) {
      await beforeLogin();
      count += 1;
      alive.add(`token-${count}`);
      return {
        body: {
          auth: {
            client_token: `token-${count}`,
            lease_duration: lease,
            renewable,
            num_uses: uses,
            policies,
          },
        },
      };
    }
    const token = headers['x-service-token'] ?? '';
    if (!alive.has(token) || forbidden.has(path)) return { status: 403, body: { errors: [refusal] } };
    if (path.endsWith('/renew-self')) {
      return { body: { auth: { client_token: token, lease_duration: renewed, renewable } } };
    }
    if (path.endsWith('/revoke-self')) {
      alive.delete(token);
      return { status: 204 };
    }
    return { body: { data: {} } };
  };
  return { ...(await listen(reply)), alive };
}

function login(url: string, jwt = async () => 'the-jwt', mount = 'cluster') {
  return open({ url, target: rolesTarget, token: { login: { mount, role: 'ci', jwt } } });
}

describe('a login', () => {
  it('is made once for all requests that begin at the same time', async () => {
    const service = await listenForLogins();
    const { reader, requests } = login(service.url);
    await Promise.all(Array.from({ length: 20 }, (_, n) => reader.get(`/auth/cluster/role/r${n}`)));
    expect(service.lines.filter((line) => line.includes('login'))).toEqual(['POST /v1/auth/cluster/login']);
    expect(service.requests[0]).toMatchObject({ body: { role: 'ci', jwt: 'the-jwt' } });
    expect(service.requests[0]?.headers).not.toHaveProperty('x-service-token');
    expect(service.requests[1]?.headers['x-service-token']).toBe('token-1');
    expect(requests()).toBe(20);
  });

  it('is not made without a request', async () => {
    const service = await listenForLogins();
    await login(service.url).close();
    expect(service.requests).toEqual([]);
    await login(service.url).reader.get('/a');
    expect(service.lines).toEqual(['POST /v1/auth/cluster/login', 'GET /v1/a']);
  });

  it('may be at a mount with slashes, and in a namespace', async () => {
    const service = await listenForLogins();
    const target = { ...rolesTarget, namespace: 'team-a' };
    const token = { login: { mount: 'team-a/cluster', role: 'ci', jwt: async () => 'the-jwt\n' } };
    await open({ url: service.url, target, token }).reader.get('/auth/cluster/config');
    expect(service.requests[0]).toMatchObject({
      path: '/v1/auth/team-a/cluster/login',
      headers: { 'x-service-namespace': 'team-a' },
      body: { jwt: 'the-jwt' },
    });
  });

  it('that is refused is reported with the message of the service, and not tried again', async () => {
    const service = await listen(() => ({ status: 403, body: { errors: ['namespace not authorized'] } }));
    const { reader } = login(service.url);
    const message = `the login as role "ci" at mount "cluster" was refused: POST ${service.url}/v1/auth/cluster/login answered 403: namespace not authorized; check role, mount and JWT of the target's "token"`;
    await expect(reader.get('/auth/cluster/config')).rejects.toThrow(message);
    await expect(reader.get('/auth/cluster/role/a')).rejects.toThrow(message);
    expect(service.requests).toHaveLength(1);
  });
});

describe('a login that fails', () => {
  it.each<Reply>([{ status: 403, body: {} }, 'drop'])(
    'prevents the write that needed it (%j)',
    async (reply) => {
      const service = await listen(() => reply);
      const writer = login(service.url).openWriter();
      const sending = writer.send({
        method: 'POST',
        path: '/auth/cluster/role/a',
        body: {},
        repeatable: false,
      });
      await expect(sending).rejects.toMatchObject({ name: 'WireError', sent: false });
      expect(new Set(service.lines)).toEqual(new Set(['POST /v1/auth/cluster/login']));
    },
  );
});

describe('the token', () => {
  it('is renewed before it expires', async () => {
    const service = await listenForLogins({ lease: 600 });
    const { reader, clock } = login(service.url);
    await reader.get('/a');
    clock.pass(399_000);
    await reader.get('/b');
    clock.pass(2_000);
    await reader.get('/c');
    await reader.get('/d');
    expect(service.lines.slice(2)).toEqual([
      'GET /v1/b',
      'POST /v1/auth/token/renew-self',
      'GET /v1/c',
      'GET /v1/d',
    ]);
  });

  it('is replaced by a new login when it cannot be renewed', async () => {
    const service = await listenForLogins({ lease: 600, renewable: false });
    let jwts = 0;
    const { reader, clock } = login(service.url, async () => `jwt-${++jwts}`);
    await reader.get('/a');
    clock.pass(500_000);
    await reader.get('/b');
    expect(service.lines.slice(2)).toEqual(['POST /v1/auth/cluster/login', 'GET /v1/b']);
    expect(service.requests[2]?.body).toEqual({ role: 'ci', jwt: 'jwt-2' });
  });

  it('is replaced when its renewal gives hardly more time', async () => {
    const service = await listenForLogins({ lease: 600, renewed: 5 });
    const { reader, clock } = login(service.url);
    await reader.get('/a');
    clock.pass(500_000);
    await reader.get('/b');
    expect(service.lines.slice(2)).toEqual([
      'POST /v1/auth/token/renew-self',
      'POST /v1/auth/cluster/login',
      'GET /v1/b',
    ]);
  });

  it('without an expiry is left alone', async () => {
    const service = await listenForLogins({ lease: 0 });
    const { reader, clock } = login(service.url);
    await reader.get('/a');
    clock.pass(10 ** 10);
    await reader.get('/b');
    expect(service.lines).toEqual(['POST /v1/auth/cluster/login', 'GET /v1/a', 'GET /v1/b']);
  });

  it('that cannot be revoked at the end leaves a warning with its remaining lifetime', async () => {
    const service = await listenForLogins();
    const warnings: string[] = [];
    const jwt = async () => 'the-jwt';
    const { reader, close } = open({
      url: service.url,
      target: rolesTarget,
      token: { login: { mount: 'cluster', role: 'ci', jwt } },
      onWarning: (message) => void warnings.push(message),
    });
    await reader.get('/a');
    service.alive.clear();
    await close();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('the token that target "prod" got by its login could not be revoked');
    expect(warnings[0]).toContain('it stays valid until it expires, 3600 s after its login');
    expect(warnings[0]).not.toContain('token-1');
  });

  it('that is revoked at the end, or used up by then, leaves no warning', async () => {
    for (const issued of [{}, { uses: 1 }, { uses: 2 }, { refusal: 'permission denied; invalid token' }]) {
      const service = await listenForLogins(issued);
      const warnings: string[] = [];
      const { reader, close } = open({
        url: service.url,
        target: rolesTarget,
        token: { login: { mount: 'cluster', role: 'ci', jwt: async () => 'the-jwt' } },
        onWarning: (message) => void warnings.push(message),
      });
      await reader.get('/a');
      // A refused revocation uses up a token that had one use left.
      if (Object.keys(issued).length > 0) service.alive.clear();
      await close();
      expect(warnings).toEqual([]);
    }
  });

  it('that was revoked is replaced, and a write may be sent again', async () => {
    const service = await listenForLogins();
    const { reader, openWriter } = login(service.url);
    await reader.get('/a');
    service.alive.clear();
    const path = '/auth/cluster/role/payments-api';
    const write = { method: 'POST', path, body: {}, repeatable: false } as const;
    const refused = await openWriter().send(write);
    expect(refused.again).toBeDefined();
    expect(await openWriter().send(write)).toMatchObject({ status: 200 });
    expect(service.lines.slice(2)).toEqual([
      `POST /v1${path}`,
      'POST /v1/auth/token/renew-self',
      'POST /v1/auth/cluster/login',
      `POST /v1${path}`,
    ]);
  });

  it('that is valid, but not for this path, is not replaced', async () => {
    const paths = Array.from({ length: 30 }, (_, n) => `/v1/auth/cluster/role/r${n}`);
    const service = await listenForLogins({}, new Set(paths));
    const { reader } = login(service.url);
    const answers = await Promise.all(paths.map((path) => reader.get(path.slice(3))));
    expect(answers.map(({ status, words }) => `${status} ${words}`)).toEqual(
      Array(30).fill('403 permission denied'),
    );
    expect(service.lines.filter((line) => line.includes('/login'))).toHaveLength(1);
    expect(service.lines.filter((line) => line.includes('/renew-self'))).toHaveLength(1);
    expect(service.requests).toHaveLength(32);
  });

  it('that may not renew itself according to its policies is not replaced after a 403', async () => {
    const paths = ['/v1/a', '/v1/auth/token/renew-self'];
    const service = await listenForLogins({ policies: ['manager'] }, new Set(paths));
    const { reader } = login(service.url);
    expect(await reader.get('/a')).toMatchObject({ status: 403 });
    expect(await reader.get('/b')).toMatchObject({ status: 200 });
    expect(service.lines).toEqual(['POST /v1/auth/cluster/login', 'GET /v1/a', 'GET /v1/b']);
  });

  it('with three uses is replaced before the fourth request', async () => {
    const service = await listenForLogins({ uses: 3 });
    const { reader } = login(service.url);
    for (const path of ['/a', '/b', '/c', '/d']) await reader.get(path);
    expect(service.requests.map(({ headers }) => headers['x-service-token'] ?? 'login')).toEqual([
      'login',
      'token-1',
      'token-1',
      'token-1',
      'login',
      'token-2',
    ]);
  });
});

describe('closing the target', () => {
  it('revokes the token, once', async () => {
    const service = await listenForLogins();
    const connection = login(service.url);
    await connection.reader.get('/a');
    await connection.close();
    await connection.close();
    expect(service.lines.slice(2)).toEqual(['POST /v1/auth/token/revoke-self']);
    expect(service.alive.size).toBe(0);
  });

  it('revokes it even if the run was interrupted', async () => {
    const service = await listenForLogins();
    const stop = new AbortController();
    const token = { login: { mount: 'cluster', role: 'ci', jwt: async () => 'the-jwt' } };
    const connection = open({ url: service.url, target: rolesTarget, token, signal: stop.signal });
    await connection.reader.get('/a');
    stop.abort(new Error('interrupted'));
    await connection.close();
    expect(service.alive.size).toBe(0);
  });

  it('also revokes the tokens that another login has replaced', async () => {
    const service = await listenForLogins({ lease: 600, renewed: 5 });
    const connection = login(service.url);
    for (const path of ['/a', '/b', '/c']) {
      await connection.reader.get(path);
      connection.clock.pass(500_000);
    }
    expect(service.alive.size).toBe(3);
    await connection.close();
    expect(service.alive.size).toBe(0);
  });

  it('does not revoke a token whose uses are used up', async () => {
    const service = await listenForLogins({ uses: 1 });
    const connection = login(service.url);
    for (const path of ['/a', '/b', '/c']) await connection.reader.get(path);
    await connection.close();
    const revoked = service.requests.filter(({ path }) => path.endsWith('/revoke-self'));
    expect(revoked.map(({ headers }) => headers['x-service-token'])).toEqual(['token-3']);
  });

  it('waits for a pending login, and revokes its token', async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const service = await listenForLogins({}, undefined, () => {
      asked.resolve();
      return answered.promise;
    });
    const { clock } = stillClock();
    const token = { login: { mount: 'cluster', role: 'ci', jwt: async () => 'the-jwt' } };
    const connection = open({ url: service.url, target: rolesTarget, token, clock });
    const read = failureOf(connection.reader.get('/a'));
    await asked.promise;
    const closed = connection.close();
    expect((await read).message).toContain('was given up: the target was closed');
    answered.resolve();
    await closed;
    expect(service.lines).toEqual(['POST /v1/auth/cluster/login', 'POST /v1/auth/token/revoke-self']);
    expect(service.alive.size).toBe(0);
  });

  it('waits for a login only a few seconds', async () => {
    const service = await listen(() => 'silence');
    const connection = login(service.url);
    const read = failureOf(connection.reader.get('/a'));
    await expect.poll(() => service.lines).toHaveLength(1);
    await connection.close();
    await read;
    expect(connection.clock.waits).toEqual([5000]);
  });

  it('does not wait after a second interrupt', async () => {
    const service = await listen(() => 'silence');
    const [{ clock, begun }, leave] = [stillClock(), new AbortController()];
    const token = { login: { mount: 'cluster', role: 'ci', jwt: async () => 'the-jwt' } };
    const connection = open({
      url: service.url,
      target: rolesTarget,
      token,
      clock,
      abandonWaits: leave.signal,
    });
    const read = failureOf(connection.reader.get('/a'));
    await expect.poll(() => service.lines).toHaveLength(1);
    const closed = connection.close();
    await begun;
    leave.abort(new Error('interrupted again'));
    await closed;
    await read;
  });

  it('does not fail when the service is gone', async () => {
    const service = await listenForLogins();
    const connection = login(service.url);
    await connection.reader.get('/a');
    await service.close();
    await connection.close();
  });
});

describe('the transport of a login', () => {
  it.each([
    ['POST', '/auth/token/create'],
    ['POST', '/auth/token/renew-self?x=1'],
    ['GET', '/auth/token/renew-self'],
    ['DELETE', '/auth/cluster/role/payments-api'],
  ])('refuses %s %s, even from inside', async (method, path) => {
    const service = await listenForLogins();
    const dialect = findDialect('cluster-auth', 'neutral') ?? expect.unreachable();
    const connection = openConnection({
      target: rolesTarget,
      url: service.url,
      dialect,
      userAgent: 'trueup/test',
    });
    const dispatcher = loginsOnly(connection.dispatcher, ['/v1/auth/token/renew-self']);
    await expect(
      new Sender({ connection, dispatcher }).send({ method, path, repeatable: true }),
    ).rejects.toThrow(`a login may not send ${method} /v1${path}`);
    expect(service.connections()).toBe(0);
    await connection.close();
  });
});
