/**
 * The login of a target: trades a JWT for a token, keeps the token in memory and fresh, and takes it back at the end.
 * It sends to exactly three paths and shares nothing with the plan's transport but the line (rule 31).
 */
import type { Dispatcher } from 'undici';
import { isJsonObject, type Json } from '../model/json/json.ts';
import { type Answer, describeAnswer, WireError } from '../model/wire.ts';
import type { Connection } from './transport/connection.ts';
import { loginsOnly } from './transport/restrict.ts';
import { type Outgoing, Sender, type TokenProvider } from './transport/sender.ts';

export interface Login {
  /** without leading or trailing slash; may have slashes inside */
  readonly mount: string;
  readonly role: string;
  /** read again for each login, as the file behind it is replaced from time to time */
  readonly jwt: () => Promise<string>;
}

export interface Authenticator {
  readonly token: TokenProvider;
  /** Revokes the token, if there is one. Never throws: a token that stays runs out by itself. */
  close(): Promise<void>;
}

const renewPath = '/auth/token/renew-self';
const revokePath = '/auth/token/revoke-self';

/** How long a token that was proven alive is not doubted again: a 403 then means what it says. */
const trustFor = 60_000;

/** Milliseconds that the end of a run may take to revoke its token. */
const revokeWithin = 5_000;

interface Grant {
  readonly token: string;
  /** milliseconds since 1970 */
  readonly since: number;
  /** seconds; 0 never ends */
  readonly lease: number;
  readonly renewable: boolean;
}

/** What is held, and what has been done with it. */
interface Held extends Grant {
  /** how often it may still be sent; absent without limit */
  uses?: number;
  provenAt: number;
}

export function openAuthenticator(line: Connection, login: Login): Authenticator {
  return new KeptLogin(line, login);
}

class KeptLogin implements Authenticator {
  readonly #connection: Connection;
  readonly #login: Login;
  readonly #loginPath: string;
  readonly #dispatcher: Dispatcher;
  #held: Held | undefined;
  #refusal: WireError | undefined;
  /** one thing at a time: a hundred reads that begin together log in once */
  #last: Promise<unknown> = Promise.resolve();

  constructor(line: Connection, login: Login) {
    this.#connection = line;
    this.#login = login;
    this.#loginPath = `/auth/${login.mount.split('/').map(encodeURIComponent).join('/')}/login`;
    const paths = [this.#loginPath, renewPath, revokePath].map((path) => `${line.prefix}${path}`);
    this.#dispatcher = loginsOnly(line.dispatcher, paths);
  }

  readonly token: TokenProvider = (refused) => {
    const next = this.#last.then(() => this.#supply(refused));
    this.#last = next.catch(() => undefined);
    return next;
  };

  async close(): Promise<void> {
    await this.#last;
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    const signal = AbortSignal.timeout(revokeWithin);
    await this.#post({ path: revokePath, signal }, held.token).catch(() => undefined);
  }

  async #supply(refused: string | undefined): Promise<string> {
    const held = await this.#current(refused);
    if (held.uses !== undefined) held.uses -= 1;
    return held.token;
  }

  async #current(refused: string | undefined): Promise<Held> {
    const held = this.#held;
    if (held === undefined || held.uses === 0) return this.#logIn();
    if (held.token === refused) return (await this.#isAlive(held)) ? (this.#held ?? held) : this.#logIn(true);
    if (!this.#endsSoon(held)) return held;
    return (await this.#renew(held)) ?? this.#logIn();
  }

  /** Whether a 403 is about permissions, not about the token: a dead token cannot be renewed either. */
  async #isAlive(held: Held): Promise<boolean> {
    if (this.#connection.clock.now() - held.provenAt < trustFor) return true;
    const answer = await this.#post({ path: renewPath, body: {} }, held.token);
    if (answer.status === 403) return false;
    const grant = this.#grantOf(answer);
    this.#held = { ...held, ...grant, token: held.token, provenAt: this.#connection.clock.now() };
    return true;
  }

  #endsSoon({ lease, since }: Held): boolean {
    return lease > 0 && this.#connection.clock.now() >= since + (lease * 1000 * 2) / 3;
  }

  /** undefined when a new login is the better way: not renewable, refused, or its life is nearly used up */
  async #renew(held: Held): Promise<Held | undefined> {
    if (!held.renewable) return undefined;
    const grant = this.#grantOf(await this.#post({ path: renewPath, body: {} }, held.token));
    if (grant === undefined || (grant.lease > 0 && grant.lease < held.lease / 2)) return undefined;
    this.#held = { ...held, since: grant.since, lease: grant.lease };
    return this.#held;
  }

  async #logIn(proven = false): Promise<Held> {
    if (this.#refusal !== undefined) throw this.#refusal;
    const { mount, role } = this.#login;
    const jwt = (await this.#login.jwt()).trim();
    const answer = await this.#post({ path: this.#loginPath, body: { role, jwt }, secrets: [jwt] });
    const grant = this.#grantOf(answer);
    if (grant === undefined) {
      const { method, url } = answer;
      // Asked again it would answer the same, and some services lock out who insists.
      this.#refusal = new WireError(
        `the login as role "${role}" at mount "${mount}" was refused: ${describeAnswer(answer)}; check role, mount and JWT of the target's "token"`,
        { method, url, sent: false },
      );
      throw this.#refusal;
    }
    const uses = numberIn(answer.body, 'num_uses');
    this.#held = {
      ...grant,
      provenAt: proven ? this.#connection.clock.now() : Number.NEGATIVE_INFINITY,
      ...(uses > 0 ? { uses } : {}),
    };
    return this.#held;
  }

  #post(request: Pick<Outgoing, 'path' | 'body' | 'secrets' | 'signal'>, token?: string): Promise<Answer> {
    const sender = new Sender({
      line: this.#connection,
      dispatcher: this.#dispatcher,
      ...(token === undefined ? {} : { token: async () => token }),
    });
    return sender.send({ method: 'POST', repeatable: true, ...request });
  }

  #grantOf({ status, body }: Answer): Grant | undefined {
    const auth = authOf(body);
    const token = auth?.['client_token'];
    if (status !== 200 || typeof token !== 'string' || token === '') return undefined;
    return {
      token,
      since: this.#connection.clock.now(),
      lease: numberIn(body, 'lease_duration'),
      renewable: auth?.['renewable'] === true,
    };
  }
}

function authOf(body: Json): Readonly<Record<string, Json>> | undefined {
  const auth = isJsonObject(body) ? body['auth'] : undefined;
  return isJsonObject(auth) ? auth : undefined;
}

function numberIn(body: Json, member: string): number {
  const value = authOf(body)?.[member];
  return typeof value === 'number' ? value : 0;
}
