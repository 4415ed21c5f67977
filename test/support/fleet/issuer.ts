/**
 * An OpenID Connect issuer on loopback that logs a user in without a page. It checks requests by OpenID Connect Core and RFC 7636, and
 * tests can make its ID tokens invalid.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { listenForTest } from '../rig/listen.ts';

export interface TestIssuer {
  readonly url: string;
  /** the claims of the next user who logs in */
  claims: JWTPayload;
  /** changes the claims of the next ID tokens */
  forge: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** signs with a key that it does not publish, with the id of the published one */
  hasOtherKey: boolean;
  /** whether all responses are errors */
  isDown: boolean;
  /** the requests of clients, as `GET /authorize` */
  readonly lines: string[];
  /** the parameters of the last request that started a login */
  asked: URLSearchParams | undefined;
  /** all codes and tokens, which only the client may see */
  readonly secrets: string[];
}

export const client = { id: 'trueup-fleet', secret: 'secret-of-the-client-0123456789' };

interface StartedLogin {
  readonly query: URLSearchParams;
  readonly claims: JWTPayload;
}

export async function openIssuer({ isPublic = false } = {}): Promise<TestIssuer> {
  const [shown, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const key = { ...(await exportJWK(shown.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, StartedLogin>();
  const server = createServer(async (request, response) => {
    const body = new URLSearchParams(await bodyOf(request));
    const asked = new URL(request.url ?? '/', url);
    issuer.lines.push(`${request.method} ${asked.pathname}`);
    const answer = issuer.isDown ? { status: 500, body: {} } : await answerTo(asked, body, request);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(JSON.stringify(answer.body ?? {}));
  });
  const { url } = await listenForTest(server);

  async function answerTo(asked: URL, body: URLSearchParams, request: IncomingMessage): Promise<Answer> {
    if (asked.pathname === '/.well-known/openid-configuration')
      return {
        body: {
          issuer: url,
          ...{
            authorization_endpoint: `${url}/authorize`,
            token_endpoint: `${url}/token`,
            jwks_uri: `${url}/keys`,
          },
          scopes_supported: ['openid', 'email', 'groups'],
        },
      };
    if (asked.pathname === '/keys') return { body: { keys: [key] } };
    if (asked.pathname === '/authorize') return startLogin(asked.searchParams);
    if (asked.pathname === '/token') return redeem(body, request.headers.authorization);
    return { status: 404 };
  }

  function startLogin(query: URLSearchParams): Answer {
    issuer.asked = query;
    const code = `code-${randomUUID()}`;
    issuer.secrets.push(code);
    codes.set(code, { query, claims: issuer.claims });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.search = `${new URLSearchParams({ code, state: query.get('state') ?? '', iss: url })}`;
    return { status: 302, headers: { location: back.href } };
  }

  async function redeem(body: URLSearchParams, authorization: string | undefined): Promise<Answer> {
    const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
    const isClient = isPublic ? body.get('client_id') === client.id : authorization === basic;
    if (!isClient) return { status: 401, body: { error: 'invalid_client' } };
    const code = body.get('code') ?? '';
    const login = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    const isSame =
      login?.query.get('code_challenge_method') === 'S256' &&
      login.query.get('code_challenge') === challenge &&
      login.query.get('redirect_uri') === body.get('redirect_uri');
    if (!isSame)
      return { status: 400, body: { error: 'invalid_grant', error_description: `no code ${code}` } };
    const idToken = await sign(login);
    const accessToken = `access-${randomUUID()}`;
    issuer.secrets.push(idToken, accessToken);
    return { body: { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: idToken } };
  }

  function sign({ query, claims }: StartedLogin): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = {
      ...{ iss: url, aud: client.id, iat: now, exp: now + 300, nonce: query.get('nonce') ?? '' },
      ...claims,
    };
    return new SignJWT(issuer.forge?.(usual) ?? usual)
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'JWT' })
      .sign(issuer.hasOtherKey ? other.privateKey : shown.privateKey);
  }

  const issuer: TestIssuer = {
    ...{ url, claims: { sub: 'u-1' }, forge: undefined, hasOtherKey: false, isDown: false },
    ...{ lines: [], asked: undefined, secrets: [] },
  };
  return issuer;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
