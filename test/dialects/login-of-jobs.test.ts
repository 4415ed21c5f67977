// A target without a stored secret: a CI job logs in at a mount of the method "jwt" with the OIDC token of the job. The issuer
// and the mount are on loopback; the mount reads the issuer's keys over HTTP and verifies each JWT.
import { describe, expect, it } from 'vitest';
import { openOidcIssuer, githubClaims, gitlabClaims, type OidcIssuer } from '../support/ci/oidc-issuer.ts';
import type { JwtRole } from '../support/dialects/jwt-mount.ts';
import { openMount } from '../support/dialects/open-mount.ts';
import { login } from '../support/dialects/secrets-service.ts';
import { manifest } from '../support/dialects/stack-folder.ts';
import type { Recorded, Reply } from '../support/http/loopback.ts';

const audience = 'https://secrets.example.com';

const role = manifest('ClusterAuthRole', 'payments-api', {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'payments',
});

const ofGithub: JwtRole = {
  bound_audiences: [audience],
  bound_subject: 'repo:acme/infra:ref:refs/heads/main',
  bound_claims: { repository: 'acme/infra' },
  user_claim: 'sub',
};
const ofGitlab: JwtRole = {
  bound_audiences: [audience],
  bound_claims: { project_path: 'acme/infra', ref: 'main', ref_protected: 'true' },
  user_claim: 'sub',
};

interface JobOptions {
  readonly issuer: OidcIssuer;
  readonly admits: JwtRole;
  readonly jwt: object;
  readonly env: Readonly<Record<string, string>>;
}

async function openJob({ issuer, admits, jwt, env }: JobOptions) {
  const logins = { oidc_discovery_url: issuer.url, roles: { [login.role]: admits } };
  const token = { login: { mount: login.mount, role: login.role, jwt } };
  const opened = await openMount('vault', { habits: { logins }, target: { token }, env });
  await opened.stack.declare(role);
  return opened;
}

const flat = (text: string) => text.replace(/\s+/g, ' ');

const github = (issuer: OidcIssuer, env = issuer.env) =>
  openJob({ issuer, admits: ofGithub, jwt: { oidc: { audience } }, env });

/** The token with which the job requests its OIDC token. */
const requestToken = (issuer: OidcIssuer) => issuer.env['ACTIONS_ID_TOKEN_REQUEST_TOKEN'] ?? '';

describe('a job of GitHub Actions', () => {
  it('plans and applies with an OIDC token that it requests, and revokes its tokens at the end', async () => {
    const issuer = await openOidcIssuer();
    const { service, stack } = await github(issuer);
    await stack.run('plan --exit-code', 2);
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.writes()).toEqual(['POST role/payments-api']);
    expect(service.loggedIn.size).toBe(0);
    const asked = issuer.requests.filter(({ path }) => path.startsWith('/jobs/'));
    expect(new Set(asked.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set([`GET /jobs/7/idtoken?api-version=2.0&audience=${encodeURIComponent(audience)}`]),
    );
    // A JWT is valid for minutes only, so each login has its own.
    expect(new Set(issuer.issued).size).toBe(3);
  });

  it('sends its request token only to the provider, and prints neither that nor the JWT in a trace', async () => {
    const issuer = await openOidcIssuer();
    const { service, stack } = await github(issuer);
    const { out, err } = await stack.run('plan --exit-code --trace', 2);
    expect(err).toContain('/jobs/7/idtoken');
    const secrets = [requestToken(issuer), ...issuer.issued];
    expect(secrets).toHaveLength(2);
    for (const secret of secrets) expect(out + err).not.toContain(secret);
    expect(JSON.stringify(service.requests)).not.toContain(requestToken(issuer));
  });

  it('is refused if the role does not admit its branch', async () => {
    const issuer = await openOidcIssuer();
    issuer.claims = githubClaims('refs/heads/feature');
    const { service, stack } = await github(issuer);
    const { out, err } = await stack.run('plan', 1);
    expect(flat(out)).toContain('sub claim does not match bound subject');
    expect(out + err).not.toContain(issuer.issued[0]);
    expect(service.asked()).toEqual([`POST auth/${login.mount}/login`]);
  });

  it('is refused if it requests another audience', async () => {
    const issuer = await openOidcIssuer();
    const jwt = { oidc: { audience: 'https://other.example.com' } };
    const { stack } = await openJob({ issuer, admits: ofGithub, jwt, env: issuer.env });
    expect(flat((await stack.run('plan', 1)).out)).toContain('unexpected "aud" claim value');
  });

  it('without the permission fails with the permission that it needs, and sends nothing', async () => {
    const issuer = await openOidcIssuer();
    const { service, stack } = await github(issuer, {});
    const { out, err } = await stack.run('plan', 1);
    expect(flat(out + err)).toContain(
      'the environment variable "ACTIONS_ID_TOKEN_REQUEST_URL" is not set; in GitHub Actions the job needs "permissions: { id-token: write }"',
    );
    expect([...issuer.requests, ...service.requests]).toEqual([]);
  });

  it.each(['http://provider.example.com/idtoken?a=1', 'ftp://127.0.0.1/idtoken', 'no address'])(
    'sends nothing to the address %s, because others could read it',
    async (url) => {
      const issuer = await openOidcIssuer();
      const env = { ...issuer.env, ACTIONS_ID_TOKEN_REQUEST_URL: url };
      const { service, stack } = await github(issuer, env);
      const { out, err } = await stack.run('plan', 1);
      expect(flat(out + err)).toContain('holds no https address, so nothing was sent to it');
      expect([...issuer.requests, ...service.requests]).toEqual([]);
    },
  );

  const bad: [string, (request: Recorded) => Reply, string][] = [
    ['refuses', () => ({ status: 403, body: { message: 'no permission' } }), 'answered 403'],
    ['has another form', () => ({ body: { token: 'x' } }), 'answered 200'],
    ['gives no JWT', () => ({ body: { value: 'HunterTwoPass77' } }), 'is not a JWT'],
    ['is not JSON', () => ({ body: '<html>' }), 'without valid JSON'],
  ];

  it.each(bad)('does not log in if the answer of the provider %s', async (_, answers, words) => {
    const issuer = await openOidcIssuer();
    issuer.answers = answers;
    const { service, stack } = await github(issuer);
    const { out, err } = await stack.run('plan', 1);
    expect(flat(out + err)).toContain(words);
    expect(out + err).not.toContain('HunterTwo');
    expect(service.requests).toEqual([]);
  });

  it('follows no redirect of the provider', async () => {
    const [issuer, elsewhere] = [await openOidcIssuer(), await openOidcIssuer()];
    const location = `${elsewhere.url}/jobs/7/idtoken?api-version=2.0`;
    issuer.answers = () => ({ status: 302, headers: { location } });
    const { service, stack } = await github(issuer);
    const { out, err } = await stack.run('plan', 1);
    expect(out + err).toContain('302');
    expect([...elsewhere.requests, ...service.requests]).toEqual([]);
  });
});

it('a plan logs in as the role for reads, and an apply as the role for writes', async () => {
  const issuer = await openOidcIssuer();
  const reader = { ...ofGithub, bound_subject: 'repo:acme/infra:pull_request' };
  const logins = { oidc_discovery_url: issuer.url, roles: { writer: ofGithub, reader } };
  const jwt = { oidc: { audience } };
  const token = { login: { mount: login.mount, role: 'writer', readRole: 'reader', jwt } };
  const opened = await openMount('vault', { habits: { logins }, target: { token }, env: issuer.env });
  const { service, stack } = opened;
  await stack.declare(role);
  const roles = () =>
    service.requests.flatMap(({ path, body }) =>
      path.endsWith('/login') ? [(body as { role: string }).role] : [],
    );
  issuer.claims = { ...githubClaims('refs/pull/7/merge'), sub: 'repo:acme/infra:pull_request' };
  await stack.run('plan --exit-code', 2);
  await stack.run('drift');
  expect(roles()).toEqual(['reader', 'reader']);
  // The job of a pull request cannot get the token of an apply.
  await stack.run('apply --yes', 1);
  expect(service.writes()).toEqual([]);
  issuer.claims = githubClaims('refs/heads/main');
  await stack.run('apply --yes');
  expect(service.writes()).toEqual(['POST role/payments-api']);
  expect(roles().slice(2)).toEqual(['writer', 'writer']);
});

describe('a job of GitLab CI', () => {
  it('plans and applies with the OIDC token in a variable of the job', async () => {
    const issuer = await openOidcIssuer();
    const jwt = await issuer.sign({ ...gitlabClaims('main', true), aud: audience });
    const env = { TRUEUP_ID_TOKEN: jwt };
    const source = { env: 'TRUEUP_ID_TOKEN' };
    const { service, stack } = await openJob({ issuer, admits: ofGitlab, jwt: source, env });
    const { out, err } = await stack.run('plan --exit-code --trace', 2);
    expect(out + err).not.toContain(jwt);
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.writes()).toEqual(['POST role/payments-api']);
    expect(service.loggedIn.size).toBe(0);
  });

  it('is refused on a branch that is not protected', async () => {
    const issuer = await openOidcIssuer();
    const jwt = await issuer.sign({ ...gitlabClaims('main', false), aud: audience });
    const env = { TRUEUP_ID_TOKEN: jwt };
    const { stack } = await openJob({ issuer, admits: ofGitlab, jwt: { env: 'TRUEUP_ID_TOKEN' }, env });
    const { out, err } = await stack.run('plan', 1);
    expect(flat(out)).toContain('claim "ref_protected" does not match any associated bound claim values');
    expect(out + err).not.toContain(jwt);
  });
});

it('two sources of a JWT, or one without an audience, are an error with its place', async () => {
  const issuer = await openOidcIssuer();
  for (const jwt of [{ oidc: {} }, { oidc: { audience }, env: 'X' }, { oidc: { audience: '' } }]) {
    const { stack } = await openJob({ issuer, admits: ofGithub, jwt, env: {} });
    expect((await stack.run('validate', 7)).err).toContain('spec.targets[0].token.login.jwt');
  }
});
