/**
 * Logs users in with OpenID Connect. Afterwards, an encrypted cookie has their name, their groups and the end of the session. The console
 * stores nothing else about them, so each worker with the same key knows the users of all others.
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
  /** of the fleet file as it is now */
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

/** Seconds after which users must log in again, and seconds that a login may take. */
const sessionSeconds = 8 * 3600;
const loginSeconds = 600;

/** Bytes of a cookie, at most: every browser keeps one of this size. */
const maxCookie = 3800;
const maxUser = 256;

const callbackPath = '/login/callback';

/** The claim with the groups, if the settings name none. */
const usualGroups = 'groups';

/** What one request needs from the settings. */
interface LoginSetup {
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
      this.#withSetup(request, reply, (setup) => this.#begin(setup, request, reply)),
    );
    app.get(callbackPath, (request, reply) =>
      this.#withSetup(request, reply, (setup) => this.#finish(setup, request, reply)),
    );
    app.post('/logout', (request, reply) =>
      this.#withSetup(request, reply, async (setup) => this.#end(setup, request, reply)),
    );
    app.get('/signed-out', (request, reply) =>
      this.#withSetup(request, reply, async () => send(reply, 200, signedOutPage())),
    );
  }

  /** The session of the user; undefined if the user must log in first. */
  async sessionOf(request: FastifyRequest): Promise<Session | Refusal | undefined> {
    const setup = this.#setup(request);
    if (setup === undefined || 'status' in setup) return setup;
    return this.#session(setup, request);
  }

  async #session(setup: LoginSetup, request: FastifyRequest): Promise<Session | undefined> {
    const read = await setup.seal.open('session', request.cookies[cookieName(setup, 'session')]);
    if (read === undefined) return undefined;
    return { user: String(read['user']), groups: textsIn(read['groups']) };
  }

  /** Does the work of a login page. Without a login in the settings, the page is not found. */
  async #withSetup(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (setup: LoginSetup) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const setup = this.#setup(request);
    if (setup === undefined) {
      reply.callNotFound();
      return reply;
    }
    if ('status' in setup)
      return reply.code(setup.status).type('text/plain; charset=utf-8').send(`${setup.why}\n`);
    return work(setup);
  }

  /** Undefined if the console does not log users in itself. */
  #setup({ headers }: FastifyRequest): LoginSetup | Refusal | undefined {
    const { oidc, teams = {} } = this.#options.settings() ?? {};
    if (oidc === undefined) return undefined;
    const { origin, host, protocol } = new URL(oidc.url);
    // The cookies are for this host name, and so is the address that the issuer sends users back to.
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
      audience: audienceOf(oidc, origin),
      now: this.#options.now,
    });
    return { oidc, teams, origin, isSecure: protocol === 'https:', seal };
  }

  /** Reports a problem once, and not for each request. */
  #warn(problem: string): void {
    if (this.#warned !== problem)
      this.#options.onFailure(new Error(`users cannot log in at the console: ${problem}`));
    this.#warned = problem;
  }

  async #begin(setup: LoginSetup, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const to = localPath((request.query as Readonly<Record<string, unknown>>)['to'], setup.origin);
    if ((await this.#session(setup, request)) !== undefined) return reply.redirect(setup.origin + to, 303);
    try {
      const issuer = await this.#issuer(setup);
      const nonce = this.#options.newId();
      const { address, state } = await issuer.authorize(request, reply, nonce);
      const content = await setup.seal.close('login', { state, nonce, to }, this.#seconds() + loginSeconds);
      reply.setCookie(cookieName(setup, 'login'), content, cookie(setup, loginSeconds));
      return send(reply, 200, signInPage(address));
    } catch (error) {
      return this.#fail(reply, error);
    }
  }

  async #finish(setup: LoginSetup, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = request.query as Readonly<Record<string, unknown>>;
    const begun = await setup.seal.open('login', request.cookies[cookieName(setup, 'login')]);
    reply.clearCookie(cookieName(setup, 'login'), cookie(setup));
    // Compared here, too: the library compares the state with a cookie of its own, and its error does not say that they differ.
    const states = [query['state'], request.cookies[cookieName(setup, 'state')]];
    if (begun === undefined || states.some((state) => state !== begun['state']))
      return send(
        reply,
        400,
        signInProblem('This sign-in was begun in another browser or window, or more than ten minutes ago.'),
      );
    if (query['iss'] !== undefined && query['iss'] !== setup.oidc.issuer)
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
      const issuer = await this.#issuer(setup);
      const claims = await issuer.redeem(request, reply, String(begun['nonce']));
      return await this.#letIn(setup, reply, claims, localPath(begun['to'], setup.origin));
    } catch (error) {
      return this.#fail(reply, error);
    }
  }

  async #letIn(setup: LoginSetup, reply: FastifyReply, claims: Claims, to: string): Promise<FastifyReply> {
    const { groupsClaim = usualGroups } = setup.oidc;
    // Groups of no team have no effect, and would make the cookie too large.
    const named = new Set(Object.values(setup.teams).flatMap(({ groups }) => groups));
    const groups = [...new Set(textsIn(claims[groupsClaim]))].filter((group) => named.has(group));
    const session = { user: userIn(claims, setup.oidc.userClaim), groups };
    const text = await setup.seal.close('session', session, this.#seconds() + sessionSeconds);
    if (text.length > maxCookie)
      return send(
        reply,
        403,
        signInProblem(
          'You are in so many groups of teams that a browser cannot keep them. An administrator of the fleet can name one group that has them all.',
        ),
      );
    reply.setCookie(cookieName(setup, 'session'), text, cookie(setup, sessionSeconds));
    return reply.redirect(setup.origin + to, 303);
  }

  #end(setup: LoginSetup, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    // Foreign pages must not sign anybody out. Browsers that do not send this header send no cookie from foreign pages, either.
    if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin')
      return reply.code(403).type('text/plain').send('only a page of the console can sign you out\n');
    reply.clearCookie(cookieName(setup, 'session'), cookie(setup));
    return reply.redirect(`${setup.origin}/signed-out`, 303);
  }

  /** The issuer, which is discovered once, and again after it failed or the settings changed. */
  #issuer(setup: LoginSetup): Promise<Issuer> {
    const { oidc, origin, isSecure } = setup;
    const key = JSON.stringify(oidc);
    if (this.#found?.key === key) return this.#found.issuer;
    const issuer = Issuer.discover({
      ...{ settings: oidc, callback: origin + callbackPath, loginSeconds, now: this.#options.now },
      clientSecret: oidc.clientSecret && this.#options.secret(oidc.clientSecret.env),
      cookies: {
        ...{ state: cookieName(setup, 'state'), verifier: cookieName(setup, 'verifier') },
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
    // The next login discovers the issuer again.
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
 * The audience of sessions: the client, the console and the claims that it reads. A session is valid only for the same audience: for
 * another claim of groups, in a later `fleet.yaml` or at another console with the same key, its groups mean nothing.
 */
function audienceOf(
  { clientId, groupsClaim = usualGroups, userClaim }: OidcSettings,
  origin: string,
): string {
  return JSON.stringify([clientId, origin, groupsClaim, userClaim ?? null]);
}

function send(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(page);
}

/** Browsers accept a name with this prefix only over TLS and from this exact host. */
function cookieName({ isSecure }: LoginSetup, purpose: string): string {
  return `${isSecure ? '__Host-' : ''}trueup-${purpose}`;
}

function cookie({ isSecure }: LoginSetup, maxAge?: number): CookieSerializeOptions {
  const shared = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
  return maxAge === undefined ? shared : { ...shared, maxAge };
}

/** The texts of a list, or a single text: some issuers write a single group without a list. */
function textsIn(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string');
}

/** The name of the user. An email address that is not verified is not used, because it may belong to another person. */
function userIn(claims: Claims, claim: string | undefined): string {
  const email = claims['email_verified'] === false ? undefined : claims['email'];
  const given = claim === undefined ? email : claims[claim];
  const name = typeof given === 'string' && given.trim() !== '' ? given : String(claims['sub']);
  return name.slice(0, maxUser);
}
