/**
 * The OIDC provider of a code host, on loopback: it publishes its keys, signs JWTs of jobs, and issues them at an endpoint like that
 * of GitHub Actions. Written from wire/code-hosts 12 alone.
 */
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { listen, type Loopback, type Recorded, type Reply } from '../http/loopback.ts';

export interface OidcIssuer {
  readonly url: string;
  readonly requests: Loopback['requests'];
  /** the JWTs that jobs have requested */
  readonly issued: string[];
  /** the environment of a GitHub Actions job that may request a JWT */
  readonly env: Readonly<Record<string, string>>;
  /** the claims of the next requested JWT; at first those of a job on the protected branch */
  claims: JWTPayload;
  /** replaces the response to a job */
  answers: ((request: Recorded) => Reply) | undefined;
  /** signs a JWT, as GitLab puts it into a variable of a job */
  sign(claims: JWTPayload): Promise<string>;
}

/** The claims of a job of GitHub Actions on a branch. */
export const githubClaims = (ref: string): JWTPayload => ({
  sub: `repo:acme/infra:ref:${ref}`,
  repository: 'acme/infra',
  ref,
  event_name: 'push',
});

/** The claims of a job of GitLab CI on a branch. */
export const gitlabClaims = (branch: string, isProtected: boolean): JWTPayload => ({
  sub: `project_path:acme/infra:ref_type:branch:ref:${branch}`,
  project_path: 'acme/infra',
  ref: branch,
  ref_type: 'branch',
  ref_protected: String(isProtected),
});

export async function openOidcIssuer(): Promise<OidcIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const requestToken = `request-token-${randomUUID()}`;
  const answer = async (request: Recorded): Promise<Reply> => {
    const { pathname, searchParams } = new URL(request.path, url);
    if (pathname === '/.well-known/openid-configuration')
      return { body: { issuer: url, jwks_uri: `${url}/keys` } };
    if (pathname === '/keys') return { body: { keys: [key] } };
    if (pathname !== '/jobs/7/idtoken' || searchParams.get('api-version') !== '2.0') return { status: 404 };
    if (issuer.answers !== undefined) return issuer.answers(request);
    if (request.headers['authorization'] !== `Bearer ${requestToken}`) return { status: 401 };
    const value = await sign({
      ...issuer.claims,
      aud: searchParams.get('audience') ?? 'https://github.example',
    });
    issuer.issued.push(value);
    return { body: { count: value.length, value } };
  };
  const { url, requests } = await listen(answer);
  const sign = (claims: JWTPayload) =>
    new SignJWT({ ...claims, jti: randomUUID() })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'JWT' })
      .setIssuer(url)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
  const issuer: OidcIssuer = {
    url,
    requests,
    issued: [],
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/jobs/7/idtoken?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
    },
    claims: githubClaims('refs/heads/main'),
    answers: undefined,
    sign,
  };
  return issuer;
}
