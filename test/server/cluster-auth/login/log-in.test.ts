// Logins end to end: a cluster that issues JWTs, the service, and the token that a login returns.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../support/rig/temporary-folder.ts';
import { fixtures } from '../../../support/server/cluster-auth/replay/vectors.ts';
import {
  ALGORITHMS,
  withLifetime,
  legacyClaims,
  projectedClaims,
  publicKeyOf,
  REFUSED_ALGORITHMS,
  sendJson,
  UID,
  acceptingReview,
} from '../../../support/server/cluster-auth/issuing-cluster.ts';
import {
  DIALECTS,
  type Logins,
  type Reply,
  serveLogins,
} from '../../../support/server/cluster-auth/serve-logins.ts';
import { sha1Certificate, signBySha1Signer } from '../../../support/server/cluster-auth/sha1-signer.ts';

const MANAGER = {
  policies: [
    {
      name: 'manager',
      rules: ['cluster', 'kubernetes'].map((mount) => ({
        path: `auth/${mount}/role/team-*`,
        capabilities: ['create', 'read', 'update', 'delete'] as const,
      })),
    },
  ],
};

const forms = {
  projected: (now: number) => withLifetime(projectedClaims(), now),
  legacy: () => legacyClaims(),
};

describe.each(DIALECTS)('in the dialect %s', (dialect) => {
  it('a login with unknown fields gets a warning, before the one about the lifetime', async () => {
    const logins = await serveLogins({ dialect });
    await logins.role({ token_ttl: '1h', token_max_ttl: '1h', token_explicit_max_ttl: '10m' });
    const body = { role: 'app', jwt: await logins.cluster.issue(), zone: 1, audience: 'x' };
    const reply = await logins.send('POST', `auth/${logins.mount}/login`, body, null);
    expect(reply.warnings).toEqual([
      'Endpoint ignored these unrecognized parameters: [audience zone]',
      expect.stringMatching(/^TTL of/),
    ]);
    const [asked, most] = dialect === 'openbao' ? ['1h', '10m'] : ['1h0m0s', '10m0s'];
    expect((await logins.login(await logins.cluster.issue())).warnings).toEqual([
      `TTL of "${asked}" exceeded the effective max_ttl of "${most}"; TTL value is capped accordingly`,
    ]);
  });

  it.each(
    ALGORITHMS.flatMap((algorithm) => ['projected', 'legacy'].map((form) => [algorithm, form] as const)),
  )('an account logs in with %s and %s claims, over HTTP and over TLS', async (algorithm, form) => {
    const logins = await serveLogins({ dialect });
    const claims = forms[form as keyof typeof forms](Date.now());
    const jwt = await logins.cluster.issue({}, claims, algorithm);
    for (const tls of [false, true]) {
      await logins.configure({ tls, pem_keys: [publicKeyOf(algorithm)] });
      const { status, auth } = await logins.login(jwt);
      expect(status).toBe(200);
      expect(auth.metadata).toEqual({
        role: 'app',
        service_account_name: 'api',
        service_account_namespace: 'payments',
        service_account_secret_name: form === 'legacy' ? 'api-token-x7k2p' : '',
        service_account_uid: UID,
      });
    }
  });

  it.each(REFUSED_ALGORITHMS)(
    'no login succeeds with %s, even if the cluster confirms the JWT',
    async (algorithm) => {
      const logins = await serveLogins({ dialect });
      const unexpected = {
        status: 403,
        errors: ['invalid algorithm (alg) header parameter: token signed with unexpected algorithm'],
      };
      for (const claims of [withLifetime(projectedClaims()), legacyClaims()]) {
        const jwt = await logins.cluster.issue({}, claims, algorithm);
        for (const tls of [false, true]) {
          await logins.configure({ tls });
          expect(await logins.login(jwt)).toMatchObject(unexpected);
          const takesKey =
            (await logins.configure({ tls, pem_keys: [publicKeyOf(algorithm)] })).status === 204;
          expect(takesKey).toBe(algorithm !== 'EdDSA' || dialect === 'openbao');
          if (takesKey) expect(await logins.login(jwt)).toMatchObject(unexpected);
          await logins.configure({ tls, pem_keys: [publicKeyOf('ES256')] });
          expect(await logins.login(jwt)).toMatchObject({ status: 403, errors: ['permission denied'] });
        }
      }
      expect(logins.cluster.questions).toEqual([]);
    },
  );

  it('a login is answered with all fields of the specification', async () => {
    const logins = await serveLogins({ dialect });
    await logins.role({ token_policies: ['b', 'a'], token_ttl: '10m' });
    const { status, body } = await logins.login(await logins.cluster.issue());
    expect(status).toBe(200);
    expect(body).toMatchObject({ data: null, warnings: null, lease_id: '' });
    expect(body['auth']).toMatchObject({
      client_token: expect.stringMatching(/^\w+\.\w{24}/),
      accessor: expect.stringMatching(/./),
      policies: ['a', 'b', 'default'],
      metadata: { role: 'app', service_account_name: 'api', service_account_namespace: 'payments' },
      lease_duration: 600,
      renewable: true,
    });
  });

  it('the token of a login manages the roles that its policies allow', async () => {
    const logins = await serveLogins({ dialect, seed: MANAGER });
    await logins.role({ token_policies: ['manager'] });
    const token = await logins.token();
    const role = { bound_service_account_names: ['x'], bound_service_account_namespaces: ['y'] };
    const at = (name: string) => `auth/${logins.mount}/role/${name}`;
    expect((await logins.send('POST', at('team-a'), role, token)).status).toBeLessThan(300);
    expect((await logins.send('GET', at('team-a'), undefined, token)).data).toMatchObject(role);
    expect((await logins.send('POST', at('other'), role, token)).status).toBe(403);
    expect((await logins.send('DELETE', at('app'), undefined, token)).status).toBe(403);
    expect((await logins.send('DELETE', at('team-a'), undefined, token)).status).toBe(204);
  });

  it('a JWT that no key of the config signed is refused', async () => {
    const logins = await serveLogins({ dialect });
    await logins.configure({ pem_keys: [publicKeyOf('RS256')] });
    expect(await logins.login(await logins.cluster.issue())).toMatchObject({
      status: 403,
      errors: ['permission denied'],
    });
  });
});

describe('the first check that fails decides about the answer', () => {
  it.each([
    ['no role', { role: '', jwt: 'x' }, 400, 'missing role'],
    ['no JWT', { role: 'app' }, 400, 'missing jwt'],
    ['an unknown role', { role: 'nobody', jwt: 'x' }, 400, 'invalid role name "nobody"'],
    ['an invalid JWT', { role: 'app', jwt: 'x' }, 403, 'permission denied'],
  ])('a login with %s is refused', async (_case, body, status, error) => {
    const logins = await serveLogins();
    const reply = await logins.send('POST', `auth/${logins.mount}/login`, body, null);
    expect(reply).toMatchObject({ status, errors: [error] });
    expect(logins.cluster.questions).toEqual([]);
  });

  it.each([
    ['expired', { exp: 1000, iat: 900, nbf: 900 }, 'invalid expiration time (exp) claim: token is expired'],
    ['not yet valid', { nbf: 4e9 }, 'invalid not before (nbf) claim: token not yet valid'],
    ['issued tomorrow', { iat: 4e9 }, 'invalid issued at (iat) claim: token issued in the future'],
  ])('a JWT that is %s is refused before the cluster is asked', async (_case, times, error) => {
    const logins = await serveLogins();
    const jwt = await logins.cluster.issue({}, { ...withLifetime(projectedClaims()), ...times });
    expect(await logins.login(jwt)).toMatchObject({ status: 403, errors: [error] });
    expect(logins.cluster.questions).toEqual([]);
  });

  it('the issuer is checked only if its validation is enabled', async () => {
    const logins = await serveLogins();
    const jwt = await logins.cluster.issue();
    await logins.configure({ disable_iss_validation: false, issuer: 'https://elsewhere.test' });
    expect(await logins.login(jwt)).toMatchObject({ status: 403, errors: ['invalid issuer (iss) claim'] });
    await logins.configure({ disable_iss_validation: false, issuer: 'https://cluster.test' });
    expect((await logins.login(jwt)).status).toBe(200);
    await logins.configure({ disable_iss_validation: true, issuer: 'https://elsewhere.test' });
    expect((await logins.login(jwt)).status).toBe(200);
  });

  it.each([
    ['neutral', 403],
    ['vault', 200],
    ['openbao', 200],
  ] as const)('an empty issuer means the default one in %s: %i', async (dialect, status) => {
    const logins = await serveLogins({ dialect });
    await logins.configure({ disable_iss_validation: false });
    expect((await logins.login(await logins.cluster.issue())).status).toBe(status);
    const claims = { ...withLifetime(projectedClaims()), iss: 'cluster/serviceaccount' };
    expect((await logins.login(await logins.cluster.issue({}, claims))).status).toBe(200);
  });

  it('the audience of the role must be one of those of the JWT', async () => {
    const logins = await serveLogins();
    await logins.role({ audience: 'other' });
    const jwt = await logins.cluster.issue();
    expect(await logins.login(jwt)).toMatchObject({
      status: 403,
      errors: ['invalid audience (aud) claim: audience claim does not match any expected audience'],
    });
    await logins.role({ audience: 'service' });
    expect((await logins.login(jwt)).status).toBe(200);
    expect(logins.cluster.questions.at(-1)?.body.spec.audiences).toEqual(['service']);
  });

  it('an address outside the CIDR blocks of the role is refused with any JWT', async () => {
    const logins = await serveLogins();
    await logins.role({ token_bound_cidrs: ['10.0.0.0/8'] });
    expect(await logins.login('x')).toMatchObject({ status: 403, errors: ['permission denied'] });
  });

  it('the names and namespaces of a role are patterns', async () => {
    const logins = await serveLogins();
    await logins.role({ bound_service_account_names: ['w*r'], bound_service_account_namespaces: ['pay*'] });
    expect((await logins.login(await logins.cluster.issue({ name: 'worker' }))).status).toBe(200);
    expect(await logins.login(await logins.cluster.issue({ name: 'api' }))).toMatchObject({
      status: 403,
      errors: ['service account name not authorized'],
    });
    expect(await logins.login(await logins.cluster.issue({ name: 'worker', namespace: 'x' }))).toMatchObject({
      status: 403,
      errors: ['namespace not authorized'],
    });
  });

  it('claims of a wrong type are reported before names are compared', async () => {
    const logins = await serveLogins();
    const claims = { ...withLifetime(projectedClaims({ name: 'nobody' })), 'kubernetes.io': 'x' };
    const { status, errors } = await logins.login(await logins.cluster.issue({}, claims));
    expect([status, errors?.[0]]).toEqual([500, expect.stringMatching(/^decoding failed/)]);
  });

  it('a login fails without a config', async () => {
    const logins = await serveLogins();
    await logins.send('POST', 'sys/auth/second', { type: logins.mount });
    const role = { bound_service_account_names: ['*'], bound_service_account_namespaces: ['*'] };
    await logins.send('POST', 'auth/second/role/app', role);
    const body = { role: 'app', jwt: await logins.cluster.issue() };
    expect(await logins.send('POST', 'auth/second/login', body, null)).toMatchObject({
      status: 500,
      errors: ['could not load backend configuration'],
    });
  });

  it('a login fails without the CA of the pod if the config relies on it', async () => {
    const inPod = temporaryFolder({ 'ca.crt': fixtures().certs.ca.certificate, token: 'token-of-the-pod' });
    let now = Date.now();
    const logins = await serveLogins({ dialect: 'vault', inPod, now: () => new Date(now) });
    await logins.configure({ tls: true, kubernetes_ca_cert: '' });
    const jwt = await logins.cluster.issue();
    expect((await logins.login(jwt)).status).toBe(200);
    rmSync(join(inPod, 'ca.crt'));
    now += 2 * 3600 * 1000;
    expect(await logins.login(jwt)).toMatchObject({
      status: 500,
      errors: [`open ${inPod}/ca.crt: no such file or directory`],
    });
  });

  it('a token in the header is ignored, and a login at an unknown mount is refused', async () => {
    const logins = await serveLogins();
    const body = { role: 'app', jwt: await logins.cluster.issue() };
    expect((await logins.send('POST', `auth/${logins.mount}/login`, body, 'nonsense')).status).toBe(200);
    expect((await logins.send('POST', 'auth/elsewhere/login', body, null)).status).toBe(403);
  });
});

describe('the identity of a service account', () => {
  it('is its UID by default: a recreated account is another one', async () => {
    const logins = await serveLogins();
    const first = (await logins.login(await logins.cluster.issue())).auth.entity_id;
    expect((await logins.login(await logins.cluster.issue())).auth.entity_id).toBe(first);
    expect((await logins.login(await logins.cluster.issue({ uid: 'another' }))).auth.entity_id).not.toBe(
      first,
    );
  });

  it('is its namespace and name if the role says so', async () => {
    const logins = await serveLogins();
    await logins.role({ alias_name_source: 'serviceaccount_name' });
    const first = (await logins.login(await logins.cluster.issue())).auth.entity_id;
    expect((await logins.login(await logins.cluster.issue({ uid: 'another' }))).auth.entity_id).toBe(first);
  });

  it('requires the claim that it is taken from', async () => {
    const logins = await serveLogins();
    const jwt = await logins.cluster.issue({ uid: '' });
    expect(await logins.login(jwt)).toMatchObject({
      status: 500,
      errors: ['could not parse UID from claims'],
    });
  });
});

it('ignores flat claims of another account beside nested claims', async () => {
  const logins = await serveLogins();
  const both = { ...legacyClaims({ name: 'admin', uid: 'x' }), ...withLifetime(projectedClaims()) };
  const { auth } = await logins.login(await logins.cluster.issue({}, both));
  expect(auth.metadata['service_account_name']).toBe('api');
});

it('trusts the key of a SHA-1 certificate only in the dialect openbao', async () => {
  const claims = withLifetime(projectedClaims());
  for (const [dialect, status] of [
    ['neutral', 403],
    ['vault', 403],
    ['openbao', 200],
  ] as const) {
    const logins = await serveLogins({ dialect });
    const written = await logins.configure({ pem_keys: [sha1Certificate] });
    expect([dialect, written.warnings?.[0]?.includes('SHA-1') ?? false]).toEqual([dialect, status === 403]);
    const jwt = await signBySha1Signer(claims);
    logins.cluster.vouchFor(jwt);
    expect([dialect, (await logins.login(jwt)).status]).toEqual([dialect, status]);
  }
});

describe('while the cluster reviews a JWT', () => {
  /** Logs in, and calls `act` before each answer of the cluster, which always confirms the JWT. */
  async function during(act: (logins: Logins, question: number) => Promise<unknown>) {
    const logins = await serveLogins();
    await logins.role({ token_policies: ['admin'] });
    let asked = 0;
    logins.cluster.misbehaviour = (response, { body }) => {
      asked += 1;
      void act(logins, asked).then(() => sendJson(response, 201, acceptingReview({}, body.spec.audiences)));
    };
    const reply = await logins.login(await logins.cluster.issue());
    return { logins, reply };
  }

  const once =
    (act: (logins: Logins) => Promise<unknown>) =>
    async (logins: Logins, question: number): Promise<unknown> =>
      question === 1 ? act(logins) : undefined;

  it.each<[string, (logins: Logins) => Promise<Reply>, number]>([
    ['deleted', (logins) => logins.send('DELETE', `auth/${logins.mount}/role/app`), 400],
    ['bound to another account', (logins) => logins.role({ bound_service_account_names: ['other'] }), 403],
    ['bound to other addresses', (logins) => logins.role({ token_bound_cidrs: ['10.0.0.0/8'] }), 403],
  ])('a role that is %s refuses the login', async (_what, act, status) => {
    const { reply } = await during(once(act));
    expect(reply.status).toBe(status);
  });

  it('keys that are replaced no longer verify the JWT', async () => {
    const { reply } = await during(once((logins) => logins.configure({ pem_keys: [publicKeyOf('RS256')] })));
    expect(reply).toMatchObject({ status: 403, errors: ['permission denied'] });
  });

  it('a role that loses a policy no longer grants it', async () => {
    const { reply } = await during(once((logins) => logins.role({ token_policies: ['weak'] })));
    expect(reply.auth.policies).toEqual(['default', 'weak']);
  });

  it('a role that changes during each review refuses the login', async () => {
    const { reply } = await during((logins, question) =>
      logins.role({ token_policies: [`policy-${question}`] }),
    );
    expect(reply).toMatchObject({ status: 403, errors: ['permission denied'] });
  });
});
