/**
 * The issuer that logs users in: its metadata, and its claims about users. Its tokens are verified and not stored. An error message
 * repeats no text of the issuer except a short error word.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OAuth2Namespace } from '@fastify/oauth2';
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { messageOf } from '../../../model/error-message.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { quoted } from '../../../model/quoted.ts';
import { isLoopback } from './networks.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** Milliseconds that an answer of the issuer may take, and bytes that it may have. */
const timeout = 10_000;
const maxBytes = 1024 * 1024;

/** Seconds that the clocks of this machine and of the issuer may differ. */
const clockTolerance = 30;

/** Signature algorithms with a public key. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** The issuer did not log a user in. The message holds no secret. */
export class IssuerError extends Error {
  /** whether the cause is the issuer or its settings in `fleet.yaml`, and not this login */
  readonly isDown: boolean;

  constructor(message: string, isDown: boolean) {
    super(message);
    this.isDown = isDown;
  }
}

/** The claims of an ID token about a user. */
export type Claims = Readonly<Record<string, unknown>>;

interface IssuerOptions {
  readonly settings: OidcSettings;
  readonly clientSecret: string | undefined;
  /** the address to which the issuer sends users back */
  readonly callback: string;
  /** names of the cookies of the flow, and whether they are sent only over TLS */
  readonly cookies: { readonly state: string; readonly verifier: string; readonly secure: boolean };
  /** seconds that a login may take */
  readonly loginSeconds: number;
  /** milliseconds since 1970 */
  now(): number;
}

export class Issuer {
  readonly #options: IssuerOptions;
  readonly #flow: OAuth2Namespace;
  readonly #keys: JWTVerifyGetKey;

  private constructor(options: IssuerOptions, flow: OAuth2Namespace, keys: JWTVerifyGetKey) {
    this.#options = options;
    this.#flow = flow;
    this.#keys = keys;
  }

  /** Reads the metadata of the issuer. @throws IssuerError */
  static async discover(options: IssuerOptions): Promise<Issuer> {
    const { issuer } = options.settings;
    const metadata = await readMetadata(issuer);
    if (metadata['issuer'] !== issuer)
      throw new IssuerError(
        `the issuer ${quoted(issuer)} calls itself ${quoted(shortText(metadata['issuer']))}`,
        true,
      );
    const keys = createRemoteJWKSet(endpoint(metadata, 'jwks_uri'), { timeoutDuration: timeout });
    return new Issuer(options, await openFlow(options, metadata), keys);
  }

  /** The address that the browser must open. The reply gets the cookies that bind the login to this browser. */
  async authorize(
    request: FastifyRequest,
    reply: FastifyReply,
    nonce: string,
  ): Promise<{ readonly address: string; readonly state: string }> {
    const address = new URL(await this.#flow.generateAuthorizationUri(request, reply));
    address.searchParams.set('nonce', nonce);
    return { address: address.href, state: address.searchParams.get('state') ?? '' };
  }

  /**
   * Exchanges the code that the user brought back from the issuer.
   * @returns the claims of the issuer about the user
   * @throws IssuerError
   */
  async redeem(request: FastifyRequest, reply: FastifyReply, nonce: string): Promise<Claims> {
    const idToken = await this.#exchange(request, reply);
    const { issuer, clientId } = this.#options.settings;
    try {
      const { payload } = await jwtVerify(idToken, this.#keys, {
        ...{ issuer, audience: clientId, algorithms, clockTolerance },
        requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
        currentDate: new Date(this.#options.now()),
      });
      if (payload['nonce'] !== nonce) throw new IssuerError('the ID token has another nonce', false);
      const party = payload['azp'];
      const isShared = Array.isArray(payload.aud) && payload.aud.length > 1;
      if (party === undefined ? isShared : party !== clientId)
        throw new IssuerError('the ID token is for another client', false);
      return payload;
    } catch (error) {
      if (error instanceof IssuerError) throw error;
      throw isTokenError(error)
        ? new IssuerError(`the ID token is not valid: ${error.message}`, false)
        : new IssuerError(`the keys of the issuer cannot be read: ${messageOf(error)}`, true);
    }
  }

  async #exchange(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    try {
      const { token } = await this.#flow.getAccessTokenFromAuthorizationCodeFlow(request, reply);
      if (typeof token.id_token === 'string') return token.id_token;
    } catch (error) {
      throw exchangeError(error);
    }
    throw new IssuerError('the issuer sent no ID token', true);
  }
}

/** Whether an error is about the token. Other errors are about reading the keys. */
function isTokenError(error: unknown): error is Error {
  return (
    error instanceof errors.JOSEError &&
    !(error instanceof errors.JWKSTimeout) &&
    !(error instanceof errors.JWKSInvalid) &&
    error.code !== errors.JOSEError.code
  );
}

/** The error of the library has the answer of the issuer and what was sent: only the error word of the answer is shown. */
function exchangeError(error: unknown): IssuerError {
  const { data } = error as {
    readonly data?: { readonly isResponseError?: unknown; readonly payload?: Json } | null;
  };
  if (data?.isResponseError !== true)
    return new IssuerError('the issuer gave no usable answer to the code', true);
  const word = isJsonObject(data.payload) ? shortText(data.payload['error']) : '';
  const isClientError = ['invalid_client', 'unauthorized_client'].includes(word);
  const detail = word === '' ? '' : `: ${word}`;
  return isClientError
    ? new IssuerError(`the issuer does not accept the console as a client${detail}`, true)
    : new IssuerError(`the issuer does not accept the code${detail}`, word === '');
}

async function readMetadata(issuer: string): Promise<JsonObject> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  let read: Json;
  try {
    const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(timeout) });
    if (!answer.ok) throw new IssuerError(`it answers ${answer.status}`, true);
    read = JSON.parse(await boundedText(answer)) as Json;
  } catch (error) {
    throw new IssuerError(`the issuer ${quoted(issuer)} cannot be reached: ${reasonOf(error)}`, true);
  }
  if (!isJsonObject(read)) throw new IssuerError(`the issuer ${quoted(issuer)} has no valid metadata`, true);
  return read;
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'its answer is not JSON';
  const { cause } = error as { readonly cause?: unknown };
  return messageOf(cause instanceof Error && cause.message !== '' ? cause : error);
}

async function boundedText(answer: Response): Promise<string> {
  let [text, size] = ['', 0];
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new IssuerError('its answer is too long', true);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** An endpoint in the metadata of the issuer. It has https, or http on this machine: no plain text crosses a network. */
function endpoint(metadata: JsonObject, name: string): URL {
  const given = metadata[name];
  const address = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isSecure =
    address?.protocol === 'https:' || (address?.protocol === 'http:' && isOnThisMachine(address.hostname));
  if (address === undefined || !isSecure)
    throw new IssuerError(`the issuer names no address with https for ${quoted(name)}`, true);
  return address;
}

function isOnThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/**
 * The library must be registered before a server listens. It gets a Fastify instance of its own, without routes: if the issuer is down
 * now, a later login can make a new instance.
 */
async function openFlow(options: IssuerOptions, metadata: JsonObject): Promise<OAuth2Namespace> {
  const { settings, clientSecret, cookies, loginSeconds } = options;
  const [authorize, token] = [
    endpoint(metadata, 'authorization_endpoint'),
    endpoint(metadata, 'token_endpoint'),
  ];
  const [{ fastify }, { fastifyOauth2 }] = await Promise.all([import('fastify'), import('@fastify/oauth2')]);
  const app = fastify({ logger: false });
  await app.register(fastifyOauth2, {
    name: 'flow',
    scope: scopesOf(settings, metadata),
    credentials: {
      client: { id: settings.clientId, secret: clientSecret ?? '' },
      auth: {
        ...{ authorizeHost: authorize.origin, authorizePath: authorize.pathname + authorize.search },
        ...{ tokenHost: token.origin, tokenPath: token.pathname + token.search },
      },
      http: { timeout, maxBytes },
      options: {
        authorizationMethod: clientSecret !== undefined && takesHeader(metadata) ? 'header' : 'body',
      },
    },
    callbackUri: options.callback,
    pkce: 'S256',
    cookie: { httpOnly: true, sameSite: 'lax', path: '/', secure: cookies.secure, maxAge: loginSeconds },
    ...{ redirectStateCookieName: cookies.state, verifierCookieName: cookies.verifier },
    userAgent: 'trueup',
  });
  await app.ready();
  return app.getDecorator<OAuth2Namespace>('flow');
}

/** Whether the issuer takes the secret in a header. Issuers that do not list their methods do. */
function takesHeader(metadata: JsonObject): boolean {
  const methods = metadata['token_endpoint_auth_methods_supported'];
  return !Array.isArray(methods) || methods.includes('client_secret_basic');
}

/** The scopes to ask for. Issuers refuse a scope that they do not know. */
function scopesOf({ scopes }: OidcSettings, metadata: JsonObject): string[] {
  const known = metadata['scopes_supported'];
  const usual = ['profile', 'email', 'groups'].filter((scope) =>
    Array.isArray(known) ? known.includes(scope) : scope !== 'groups',
  );
  return [...new Set(['openid', ...(scopes ?? usual)])];
}

/** A word or an address; empty for any other text from outside. */
export function shortText(value: unknown): string {
  return typeof value === 'string' && /^[\w:/.@-]{1,200}$/.test(value) ? value : '';
}
