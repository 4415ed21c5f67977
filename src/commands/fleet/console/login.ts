/**
 * Logs users in with OpenID Connect, and knows them by a cookie afterwards: who they are, in which groups, and until when. The console keeps
 * nothing else of them, so that each worker with the same key knows the users of all others.
 */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../../model/error-message.ts';
import type { Refusal } from './access.ts';
import { type Claims, Issuer, IssuerError, shortText } from './issuer.ts';
import { signInPage, signInProblem, signedOutPage } from './login-pages.ts';
import { localPath } from './local-path.ts';
import { type OidcSettings, secretsProblem } from './oidc-settings.ts';
import { Seal } from './sealed-texts.ts';
import type { ConsoleSettings } from './settings.ts';

interface LoginOptions {
  /** as the file of the fleet is now */
  settings(): ConsoleSettings | undefined;
  /** the value of an environment variable; undefined when it has none */
  secret(variable: string): string | undefined;
  /** milliseconds since 1970 */
  now(): number;
  /** a UUID, new with each call */
  newId(): string;
  onFailure(error: unknown): void;
}

interface Session {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Seconds after which users must log in again, and that they have for it. */
const sessionSeconds = 8 * 3600;
const loginSeconds = 600;

/** Bytes of a cookie with which each browser keeps it. */
const maxCookie = 3800;
const maxUser = 256;

const callbackPath = '/login/callback';

/** The claim with the groups, if the settings name none. */
const usualGroups = 'groups';

/** What one request needs of the settings. */
interface Way {
  readonly oidc: OidcSettings;
  readonly teams: ConsoleSettings['teams'];
  /** of `url` */
  readonly origin: string;
  readonly isSecure: boolean;
  readonly seal: Seal;
}

export class Login {
  readonly #options: LoginOptions;
  #warned: string | undefined;
  #found: { readonly key: string; readonly issuer: Promise<Issuer> } | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  serve(app: FastifyInstance): void {
    app.get('/login', (request, reply) =>
      this.#within(request, reply, (way) => this.#begin(way, request, reply)),
    );
    app.get(callbackPath, (request, reply) =>
      this.#within(request, reply, (way) => this.#finish(way, request, reply)),
    );
    app.post('/logout', (request, reply) =>
      this.#within(request, reply, async (way) => this.#end(way, request, reply)),
    );
    app.get('/signed-out', (request, reply) =>
      this.#within(request, reply, async () => send(reply, 200, signedOutPage())),
    );
  }

  /** The user that asks; undefined where it must log in first. */
  async sessionOf(request: FastifyRequest): Promise<Session | Refusal | undefined> {
    const way = this.#way(request);
    if (way === undefined || 'status' in way) return way;
    return this.#session(way, request);
  }

  async #session(way: Way, request: FastifyRequest): Promise<Session | undefined> {
    const read = await way.seal.open('session', request.cookies[cookieName(way, 'session')]);
    if (read === undefined) return undefined;
    return { user: String(read['user']), groups: textsIn(read['groups']) };
  }

  /** Runs what belongs to a login, where the settings have one. */
  async #within(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (way: Way) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const way = this.#way(request);
    if (way === undefined) {
      reply.callNotFound();
      return reply;
    }
    if ('status' in way) return reply.code(way.status).type('text/plain; charset=utf-8').send(`${way.why}\n`);
    return work(way);
  }

  /** Undefined without a login by the console itself. */
  #way({ headers }: FastifyRequest): Way | Refusal | undefined {
    const { oidc, teams = {} } = this.#options.settings() ?? {};
    if (oidc === undefined) return undefined;
    const { origin, host, protocol } = new URL(oidc.url);
    // The cookies are for this name, and so is the address that the issuer sends users back to.
    if (headers.host?.toLowerCase() !== host)
      return {
        status: 403,
        why: `the console is at ${origin}, and the header "Host" of the request has another name: a proxy in front must pass the header on`,
      };
    const problem = secretsProblem(oidc, this.#options.secret);
    if (problem !== undefined) {
      this.#warn(problem);
      return { status: 503, why: 'the console cannot log anybody in: see the log of the worker' };
    }
    const key = this.#options.secret(oidc.sessionKey.env) ?? '';
    const seal = new Seal({
      key,
      issuer: oidc.issuer,
      client: readerOf(oidc, origin),
      now: this.#options.now,
    });
    return { oidc, teams, origin, isSecure: protocol === 'https:', seal };
  }

  /** Once, and not for each request. */
  #warn(problem: string): void {
    if (this.#warned !== problem)
      this.#options.onFailure(new Error(`users cannot log in at the console: ${problem}`));
    this.#warned = problem;
  }

  async #begin(way: Way, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const to = localPath((request.query as Readonly<Record<string, unknown>>)['to'], way.origin);
    if ((await this.#session(way, request)) !== undefined) return reply.redirect(way.origin + to, 303);
    try {
      const issuer = await this.#issuer(way);
      const nonce = this.#options.newId();
      const { address, state } = await issuer.authorize(request, reply, nonce);
      const content = await way.seal.close('login', { state, nonce, to }, this.#seconds() + loginSeconds);
      reply.setCookie(cookieName(way, 'login'), content, cookie(way, loginSeconds));
      return send(reply, 200, signInPage(address));
    } catch (error) {
      return this.#fail(reply, error);
    }
  }

  async #finish(way: Way, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, unknown>>;
    const begun = await way.seal.open('login', request.cookies[cookieName(way, 'login')]);
    reply.clearCookie(cookieName(way, 'login'), cookie(way));
    // The library compares the state with a cookie of its own, and its error does not say that it is another one.
    const states = [query['state'], request.cookies[cookieName(way, 'state')]];
    if (begun === undefined || states.some((state) => state !== begun['state']))
      return send(
        reply,
        400,
        signInProblem('This sign-in was begun in another browser or window, or more than ten minutes ago.'),
      );
    if (query['iss'] !== undefined && query['iss'] !== way.oidc.issuer)
      return send(reply, 400, signInProblem('This answer is not from the issuer that was asked.'));
    if (typeof query['code'] !== 'string') {
      const word = shortText(query['error']);
      return send(
        reply,
        403,
        signInProblem(`The issuer did not sign you in${word === '' ? '' : `: ${word}`}.`),
      );
    }
    try {
      const issuer = await this.#issuer(way);
      const claims = await issuer.redeem(request, reply, String(begun['nonce']));
      return await this.#letIn(way, reply, claims, localPath(begun['to'], way.origin));
    } catch (error) {
      return this.#fail(reply, error);
    }
  }

  async #letIn(way: Way, reply: FastifyReply, claims: Claims, to: string): Promise<FastifyReply> {
    const { groupsClaim = usualGroups } = way.oidc;
    // Others decide nothing, and would make the cookie too large.
    const named = new Set(Object.values(way.teams).flatMap(({ groups }) => groups));
    const groups = [...new Set(textsIn(claims[groupsClaim]))].filter((group) => named.has(group));
    const session = { user: userIn(claims, way.oidc.userClaim), groups };
    const text = await way.seal.close('session', session, this.#seconds() + sessionSeconds);
    if (text.length > maxCookie)
      return send(
        reply,
        403,
        signInProblem(
          'You are in so many groups of teams that a browser cannot keep them. An administrator of the fleet can name one group that has them all.',
        ),
      );
    reply.setCookie(cookieName(way, 'session'), text, cookie(way, sessionSeconds));
    return reply.redirect(way.origin + to, 303);
  }

  #end(way: Way, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    // Pages of others must not sign anybody out. Browsers that do not say whose page it is send no cookie from there, either.
    if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin')
      return reply.code(403).type('text/plain').send('only a page of the console can sign you out\n');
    reply.clearCookie(cookieName(way, 'session'), cookie(way));
    return reply.redirect(`${way.origin}/signed-out`, 303);
  }

  /** As it was found by the first login since it failed, or since the settings changed. */
  #issuer(way: Way): Promise<Issuer> {
    const { oidc, origin, isSecure } = way;
    const key = JSON.stringify(oidc);
    if (this.#found?.key === key) return this.#found.issuer;
    const issuer = Issuer.discover({
      ...{ settings: oidc, callback: origin + callbackPath, loginSeconds, now: this.#options.now },
      clientSecret: oidc.clientSecret && this.#options.secret(oidc.clientSecret.env),
      cookies: {
        ...{ state: cookieName(way, 'state'), verifier: cookieName(way, 'verifier') },
        secure: isSecure,
      },
    });
    this.#found = { key, issuer };
    return issuer;
  }

  #fail(reply: FastifyReply, error: unknown): FastifyReply {
    this.#options.onFailure(new Error(`a login at the console failed: ${messageOf(error)}`));
    if (error instanceof IssuerError && !error.isDown)
      return send(
        reply,
        403,
        signInProblem('What the issuer says of you is not valid, so you are not signed in.'),
      );
    // The next login looks for it again.
    this.#found = undefined;
    return send(
      reply,
      503,
      signInProblem('The issuer that signs users in cannot be used now. The log of the worker says why.'),
    );
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

/**
 * Who takes what from a token. The groups of a session are those of one claim: where another claim counts, in a later `fleet.yaml` or at
 * another console with the same key, they say nothing.
 */
function readerOf({ clientId, groupsClaim = usualGroups, userClaim }: OidcSettings, origin: string): string {
  return JSON.stringify([clientId, origin, groupsClaim, userClaim ?? null]);
}

function send(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

/** Browsers take a name with this prefix only over TLS and from this very host. */
function cookieName({ isSecure }: Way, purpose: string): string {
  return `${isSecure ? '__Host-' : ''}trueup-${purpose}`;
}

function cookie({ isSecure }: Way, maxAge?: number): CookieSerializeOptions {
  const shared = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
  return maxAge === undefined ? shared : { ...shared, maxAge };
}

/** Some issuers write a single group without a list. */
function textsIn(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string');
}

/** An address that is not verified may be that of another person. */
function userIn(claims: Claims, claim: string | undefined): string {
  const email = claims['email_verified'] === false ? undefined : claims['email'];
  const given = claim === undefined ? email : claims[claim];
  const name = typeof given === 'string' && given.trim() !== '' ? given : String(claims['sub']);
  return name.slice(0, maxUser);
}
