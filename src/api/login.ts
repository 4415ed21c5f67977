/**
 * The login of a target: gets a token for a JWT, keeps it in memory, renews it in time, and revokes it at the end. Its channel
 * can send only to the three paths for login, renewal and revocation.
 */
import type { Dispatcher } from 'undici';
import { messageOf } from '../model/error-message.ts';
import { type Answer, describeAnswer, WireError } from '../model/http.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { Connection } from './transport/connection.ts';
import { loginsOnly } from './transport/dispatcher.ts';
import type { Outgoing } from './transport/retry.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';
import { explainRefusal } from './transport/service-conventions.ts';

export interface Login {
  /** without leading or trailing slash; may have slashes inside */
  readonly mount: string;
  readonly role: string;
  /** called for each login, because the file with the JWT is replaced from time to time */
  readonly jwt: () => Promise<string>;
  /** called after each login with the id of the user, which stays when the token changes; undefined if the service names none */
  readonly onUser?: ((id: string | undefined) => void) | undefined;
}

export interface Authenticator {
  readonly token: TokenProvider;
  /**
   * Revokes all tokens of logins, after waiting a few seconds for a login in flight. Never throws: it warns about a token that cannot
   * be revoked.
   */
  close(): Promise<void>;
}

/** For this many milliseconds after a successful use of a token, a 403 is about permissions, and not about the token. */
const trustFor = 60_000;

const advice =
  '; a policy of its role with "update" on "auth/token/revoke-self" would let this run revoke it';

/** Requests that do not use up a use of a token (wire/cluster-auth 2.9). The count matters: only a token with uses left is revoked. */
const uncounted = /^\/sys\/internal\/ui\/mounts(?:\/|$)/;

/** The current token and its use. */
interface HeldToken extends DatedGrant {
  /** the number of uses left; `Infinity` without a limit */
  usesLeft: number;
  /** when a renewal or a login last showed that the token is valid */
  verifiedAt: number;
}

interface DatedGrant extends Grant {
  /** when the lease began, in milliseconds since 1970 */
  readonly since: number;
}

export function openAuthenticator(connection: Connection, login: Login): Authenticator {
  return new LoginSession(connection, login);
}

class LoginSession implements Authenticator {
  readonly #connection: Connection;
  readonly #login: Login;
  readonly #channel: LoginChannel;
  #held: HeldToken | undefined;
  /** tokens that another login has replaced. They are revoked at the end, because requests in flight may use them. */
  readonly #replaced: HeldToken[] = [];
  #refusal: WireError | undefined;
  /** the last step: steps run one at a time, so that concurrent reads log in once */
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, login: Login) {
    this.#connection = connection;
    this.#login = login;
    this.#channel = new LoginChannel(connection, login.mount);
  }

  readonly token: TokenProvider = (path, refused) => {
    const next = this.#last.then(() => this.#supply(path, refused));
    this.#last = next.catch(() => undefined);
    return next;
  };

  async close(): Promise<void> {
    await this.#last;
    const held = this.#held;
    this.#retireHeld();
    const tokens = this.#replaced.splice(0);
    this.#held = undefined;
    // A token without uses left is usually gone by now, so an error is not worth a warning.
    const usedUp = held?.usesLeft === 0 ? this.#channel.revoke(held.token).catch(() => undefined) : undefined;
    await Promise.all([usedUp, ...tokens.map((replaced) => this.#revoke(replaced))]);
  }

  async #revoke({ token, lease, usesLeft }: HeldToken): Promise<void> {
    const revoked = await this.#channel.revoke(token).catch((error: unknown) => messageOf(error));
    const isAnswer = typeof revoked !== 'string';
    const why = !isAnswer ? revoked : revoked.status < 300 ? undefined : describeAnswer(revoked);
    // A refused request also counts as a use, so a token with one use left is gone. Some services report it as invalid.
    const isGone =
      isAnswer && revoked.status === 403 && (usesLeft <= 1 || revoked.words.includes('invalid token'));
    if (why === undefined || isGone) return;
    const { target, warn } = this.#connection;
    const end = lease > 0 ? `until it expires, ${lease} s after its login or last renewal` : 'without expiry';
    warn(
      `the token that target ${quoted(target.name)} got by its login could not be revoked: ${why}; it stays valid ${end}${isAnswer && revoked.status === 403 ? advice : ''}`,
    );
  }

  async #supply(path: string, refused: string | undefined): Promise<string> {
    const held = await this.#current(refused);
    if (refused === undefined && !uncounted.test(path)) held.usesLeft -= 1;
    return held.token;
  }

  async #current(refused: string | undefined): Promise<HeldToken> {
    const held = this.#held;
    if (held === undefined || held.usesLeft === 0) return this.#logIn();
    if (held.token === refused) return (await this.#isAlive(held)) ? (this.#held ?? held) : this.#logIn(true);
    if (!this.#endsSoon(held)) return held;
    return (await this.#renew(held)) ?? this.#logIn();
  }

  /** Whether the token is valid, so that a 403 is about permissions. Checked by a renewal, which fails for an invalid token. */
  async #isAlive(held: HeldToken): Promise<boolean> {
    const isTrusted = this.#connection.clock.now() - held.verifiedAt < trustFor;
    if (isTrusted && !this.#endsSoon(held)) return true;
    held.usesLeft -= 1;
    const answer = await this.#channel.renew(held.token);
    if (answer.status === 403) return false;
    const grant = this.#grantOf(answer);
    this.#held = { ...held, ...grant, token: held.token, verifiedAt: this.#connection.clock.now() };
    return true;
  }

  #endsSoon({ lease, since }: HeldToken): boolean {
    return lease > 0 && this.#connection.clock.now() >= since + (lease * 1000 * 2) / 3;
  }

  /** @returns undefined if a new login is needed: the token is not renewable, the renewal was refused, or its maximal life nearly ends */
  async #renew(held: HeldToken): Promise<HeldToken | undefined> {
    // Keeps the last use for the revocation.
    if (!held.renewable || held.usesLeft <= 1) return undefined;
    held.usesLeft -= 1;
    const grant = this.#grantOf(await this.#channel.renew(held.token));
    if (grant === undefined || (grant.lease > 0 && grant.lease < held.lease / 2)) return undefined;
    this.#held = { ...held, since: grant.since, lease: grant.lease };
    return this.#held;
  }

  async #logIn(countsAsVerified = false): Promise<HeldToken> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const { mount, role } = this.#login;
    const jwt = (await this.#login.jwt()).trim();
    const answer = await this.#channel.logIn(role, jwt);
    const grant = this.#grantOf(answer);
    if (grant === undefined) {
      const { method, url } = answer;
      // The login is not repeated: it would be refused again, and some services lock an account after several refusals.
      const why =
        explainRefusal(this.#connection.target, answer) ??
        `the login as role ${quoted(role)} at mount ${quoted(mount)} was refused: ${describeAnswer(answer)}; check role, mount and JWT of the target's "token"`;
      this.#refusal = new WireError(why, { method, url, sent: false });
      throw this.#refusal;
    }
    this.#login.onUser?.(grant.user);
    this.#retireHeld();
    // Without the policy "default" a token usually cannot renew itself. A failed renewal would prove nothing, so the login counts as proof.
    const isTrusted = countsAsVerified || lacksDefaultPolicy(grant);
    this.#held = {
      ...grant,
      verifiedAt: isTrusted ? this.#connection.clock.now() : Number.NEGATIVE_INFINITY,
      usesLeft: grant.uses > 0 ? grant.uses : Number.POSITIVE_INFINITY,
    };
    return this.#held;
  }

  /** Notes the current token for revocation at the end. A token without uses left is usually gone, so it is left out. */
  #retireHeld(): void {
    const held = this.#held;
    if (held !== undefined && held.usesLeft > 0) this.#replaced.push(held);
  }

  #grantOf(answer: Answer): DatedGrant | undefined {
    const grant = grantIn(answer);
    return grant && { ...grant, since: this.#connection.clock.now() };
  }
}

/** Whether the login lists the policies of its token, and none of them lets the token renew and revoke itself. */
function lacksDefaultPolicy({ policies }: Grant): boolean {
  return policies.length > 0 && !policies.some((policy) => policy === 'default' || policy === 'root');
}

// The requests of a login: get a token for a JWT, renew it, and revoke it. The channel can send to these three paths only, and shares
// the connection with the requests of a plan.

const renewPath = '/auth/token/renew-self';
const revokePath = '/auth/token/revoke-self';

/**
 * Maximum milliseconds for a revocation, and for a login after the end of the run. The run waits for both so that no token remains,
 * but not for long.
 */
const extraTime = 5_000;

/** The result of a login or a renewal. */
interface Grant {
  readonly token: string;
  /** seconds until the token expires; 0 if it never does */
  readonly lease: number;
  readonly renewable: boolean;
  /** how often the token may be sent; 0 is no limit */
  readonly uses: number;
  readonly policies: readonly string[];
  /** id of the entity that the token belongs to; undefined if the service names none */
  readonly user: string | undefined;
}

export class LoginChannel {
  readonly #connection: Connection;
  readonly #loginPath: string;
  readonly #dispatcher: Dispatcher;

  /** @param mount without leading or trailing slash; may have slashes inside */
  constructor(connection: Connection, mount: string) {
    this.#connection = connection;
    this.#loginPath = `/auth/${mount.split('/').map(encodeURIComponent).join('/')}/login`;
    const paths = [this.#loginPath, renewPath, revokePath].map((path) => `${connection.prefix}${path}`);
    this.#dispatcher = loginsOnly(connection.dispatcher, paths);
  }

  /**
   * Sends no token. Messages do not show the JWT, even if the service returns it. No login starts after the end of the run; one in
   * flight has some more time, because its token can be revoked only when the answer with it has arrived.
   * @param options.repeatable whether the login is sent again after a failure
   */
  async logIn(role: string, jwt: string, { repeatable = true } = {}): Promise<Answer> {
    const { signal: stop } = this.#connection;
    const { signal, dispose } = this.#withExtraTime();
    const request = { path: this.#loginPath, body: { role, jwt }, secrets: [jwt], signal, stop, repeatable };
    return this.#post(request).finally(dispose);
  }

  renew(token: string): Promise<Answer> {
    return this.#post({ path: renewPath, body: {}, repeatable: true }, token);
  }

  /** The end of the run does not abort it, so that no token is left. */
  revoke(token: string): Promise<Answer> {
    const signal = AbortSignal.any([AbortSignal.timeout(extraTime), this.#connection.abandonWaits]);
    return this.#post({ path: revokePath, signal, repeatable: true }, token);
  }

  /** A signal that aborts some time after the end of the run, or when waits are abandoned. */
  #withExtraTime(): { readonly signal: AbortSignal; dispose(): void } {
    const { signal: runEnd, abandonWaits, clock } = this.#connection;
    const [late, disposed] = [new AbortController(), new AbortController()];
    const onRunEnd = () => {
      const abort = () => late.abort(runEnd.reason);
      void clock.wait(extraTime, disposed.signal).then(abort, () => {});
    };
    if (runEnd.aborted) onRunEnd();
    else runEnd.addEventListener('abort', onRunEnd, { once: true });
    const dispose = () => {
      runEnd.removeEventListener('abort', onRunEnd);
      disposed.abort();
    };
    return { signal: AbortSignal.any([late.signal, abandonWaits]), dispose };
  }

  #post(request: Omit<Outgoing, 'method'>, token?: string): Promise<Answer> {
    const sender = new Sender({
      connection: this.#connection,
      dispatcher: this.#dispatcher,
      ...(token === undefined ? {} : { token: async () => token }),
    });
    return sender.send({ method: 'POST', ...request });
  }
}

/** The token in the answer to a login or a renewal; undefined if there is none. Source: wire/cluster-auth 3. */
export function grantIn({ status, body }: Pick<Answer, 'status' | 'body'>): Grant | undefined {
  const auth = isJsonObject(body) ? body['auth'] : undefined;
  const token = isJsonObject(auth) ? auth['client_token'] : undefined;
  if (status !== 200 || !isJsonObject(auth) || typeof token !== 'string' || token === '') return undefined;
  const { policies, entity_id: entity } = auth;
  return {
    token,
    lease: asNumber(auth['lease_duration']),
    renewable: auth['renewable'] === true,
    uses: asNumber(auth['num_uses']),
    policies: Array.isArray(policies) ? policies.map(String) : [],
    user: typeof entity === 'string' && entity !== '' ? entity : undefined,
  };
}

function asNumber(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
