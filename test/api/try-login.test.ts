// A trial login: made once, and its token is revoked at once. The server issues tokens like the secrets service.
import { describe, expect, it, onTestFinished } from 'vitest';
import { findDialect } from '../../src/api/dialects.ts';
import { openTrial } from '../../src/api/try-login.ts';
import { KnownSecrets } from '../../src/redaction/known-secrets.ts';
import { type Loopback, listen, type Reply } from '../support/http/loopback.ts';
import { failureOf, rolesTarget } from '../support/http/open-for-test.ts';

const granted = {
  auth: { client_token: 'the-new-token', lease_duration: 600, renewable: true, policies: ['default', 'web'] },
  warnings: ['TTL of "2h" exceeded the effective max_ttl of "10m"; TTL value is capped accordingly'],
};

/** Answers a login with the first reply, and a revocation with the second. */
function serve(login: Reply, revocation: Reply = { status: 204 }): Promise<Loopback> {
  return listen(({ path }) => (path.endsWith('/login') ? login : revocation));
}

interface TrialOptions {
  readonly mount?: string;
  readonly secrets?: KnownSecrets;
  readonly signal?: AbortSignal;
}

function trialAt(service: Loopback, { mount = 'cluster', ...more }: TrialOptions = {}) {
  const dialect = findDialect('cluster-auth', 'neutral') ?? expect.unreachable();
  const options = { target: rolesTarget, url: service.url, dialect, userAgent: 'trueup/test', ...more };
  const trial = openTrial({ ...options, retryPolicy: { base: 5, longest: 40 } }, mount);
  onTestFinished(() => trial.close());
  return trial;
}

describe('a trial login', () => {
  it('reports the properties of the token, and leaves no token', async () => {
    const service = await serve({ body: granted });
    const trial = await trialAt(service, { mount: 'team/cluster' }).tryLogin('web', 'the-jwt');
    expect(trial).toEqual({
      granted: true,
      lifetime: 600,
      policies: ['default', 'web'],
      warnings: granted.warnings,
    });
    expect(service.lines).toEqual(['POST /v1/auth/team/cluster/login', 'POST /v1/auth/token/revoke-self']);
    expect(service.requests[0]?.body).toEqual({ role: 'web', jwt: 'the-jwt' });
    expect(service.requests[0]?.headers).not.toHaveProperty('x-service-token');
    expect(service.requests[1]?.headers['x-service-token']).toBe('the-new-token');
  });

  it('makes the token a secret, so that nothing prints it', async () => {
    const secrets = new KnownSecrets();
    await trialAt(await serve({ body: granted }), { secrets }).tryLogin('web', 'the-jwt');
    expect(secrets.redactPrinted('got the-new-token')).toBe('got [secret]');
  });

  it.each([
    [400, 'invalid role name "web"'],
    [403, 'permission denied'],
    [404, 'no handler for route "auth/cluster/login". route entry not found.'],
    [500, 'could not load backend configuration'],
  ])(
    'that is refused with %i reports the message of the service, and is not tried again',
    async (status, words) => {
      const service = await serve({ status, body: { errors: [words] } });
      const why = `POST ${service.url}/v1/auth/cluster/login answered ${status}: ${words}`;
      expect(await trialAt(service).tryLogin('web', 'the-jwt')).toEqual({ granted: false, why });
      expect(service.lines).toHaveLength(1);
    },
  );

  it('does not show a JWT that the service repeats', async () => {
    const service = await serve({ status: 403, body: { errors: ['no such JWT: header.claims.signature'] } });
    const trial = await trialAt(service).tryLogin('web', 'header.claims.signature');
    expect(trial).toMatchObject({ granted: false, why: expect.stringContaining('no such JWT: [secret]') });
  });

  it.each<[string, Reply]>([
    ['a sealed service', { status: 503, body: { errors: ['Vault is sealed'] } }],
    ['a namespace that does not exist', { status: 404, body: { errors: ['namespace not found'] } }],
    ['a success without a token', { body: { auth: null } }],
    ['a redirect', { status: 307, headers: { location: '/elsewhere' } }],
    ['a lost response', 'drop'],
  ])('is neither granted nor refused by %s', async (_, reply) => {
    const service = await serve(reply);
    await failureOf(trialAt(service).tryLogin('web', 'the-jwt'));
    expect(service.lines).toEqual(['POST /v1/auth/cluster/login']);
  });

  it('reports that its token could not be revoked', async () => {
    const refused = { status: 400, body: { errors: ['batch tokens cannot be revoked'] } };
    const service = await serve({ body: granted }, refused);
    const { url } = service;
    expect(await trialAt(service).tryLogin('web', 'the-jwt')).toMatchObject({
      granted: true,
      unrevoked: `POST ${url}/v1/auth/token/revoke-self answered 400: batch tokens cannot be revoked`,
    });
  });

  it('is revoked even if the run ends meanwhile', async () => {
    const stop = new AbortController();
    const service = await listen(({ path }) => {
      if (path.endsWith('/login')) return { body: granted };
      stop.abort(new Error('interrupted'));
      return { status: 204 };
    });
    const trial = await trialAt(service, { signal: stop.signal }).tryLogin('web', 'the-jwt');
    expect(trial).toMatchObject({ granted: true });
    expect(trial).not.toHaveProperty('unrevoked');
  });
});
