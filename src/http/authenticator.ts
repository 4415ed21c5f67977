/**
 * The login of a target: gets a token for a JWT, keeps it in memory, renews it in time, and revokes it at the end, with every
 * token that it has replaced meanwhile. All its requests go through the login channel.
 */
import { messageOf } from '../model/message-of.ts';
import { type Answer, describeAnswer, WireError } from '../model/wire.ts';
import { quoted } from '../model/quoted.ts';
import { explainRefusal } from './explain-refusal.ts';
import { type Grant, grantIn, LoginChannel } from './login-channel.ts';
import type { Connection } from './transport/connection.ts';
import type { TokenProvider } from './transport/sender.ts';

export interface Login {
  /** without leading or trailing slash; may have slashes inside */
  readonly mount: string;
  readonly role: string;
  /** called for each login, because the file with the JWT is replaced from time to time */
  readonly jwt: () => Promise<string>;
}

export interface Authenticator {
  readonly token: TokenProvider;
  /**
   * Revokes the tokens that logins have given; a login that is under way is waited for first, for a few seconds. Never throws: of a
   * token that cannot be revoked it warns.
   */
  close(): Promise<void>;
}

/** Milliseconds after a successful use of a token in which a 403 is not taken as a sign that the token is invalid. */
const trustFor = 60_000;

const advice =
  '; a policy of its role with "update" on "auth/token/revoke-self" would let this run revoke it';

/** The current token and its use. */
interface HeldToken extends DatedGrant {
  /** how often it may still be sent; `Infinity` when there is no limit */
  usesLeft: number;
  provenAt: number;
}

interface DatedGrant extends Grant {
  /** milliseconds since 1970 */
  readonly since: number;
}

export function openAuthenticator(connection: Connection, login: Login): Authenticator {
  return new KeptLogin(connection, login);
}

class KeptLogin implements Authenticator {
  readonly #connection: Connection;
  readonly #login: Login;
  readonly #channel: LoginChannel;
  #held: HeldToken | undefined;
  /** tokens that another login has replaced. They are revoked at the end, for requests that are under way may bear them. */
  readonly #replaced: HeldToken[] = [];
  #refusal: WireError | undefined;
  /** the last step: steps run one after the other, so that a hundred reads that begin together log in once */
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, login: Login) {
    this.#connection = connection;
    this.#login = login;
    this.#channel = new LoginChannel(connection, login.mount);
  }

  readonly token: TokenProvider = (refused) => {
    const next = this.#last.then(() => this.#supply(refused));
    this.#last = next.catch(() => undefined);
    return next;
  };

  async close(): Promise<void> {
    await this.#last;
    const held = this.#held;
    this.#giveUpHeld();
    const tokens = this.#replaced.splice(0);
    this.#held = undefined;
    // A token that was given out as often as it may be used is mostly gone by now, so that no refusal is worth a warning.
    const usedUp = held?.usesLeft === 0 ? this.#channel.revoke(held.token).catch(() => undefined) : undefined;
    await Promise.all([usedUp, ...tokens.map((replaced) => this.#revoke(replaced))]);
  }

  async #revoke({ token, lease, usesLeft }: HeldToken): Promise<void> {
    const revoked = await this.#channel.revoke(token).catch((error: unknown) => messageOf(error));
    const isAnswer = typeof revoked !== 'string';
    const why = !isAnswer ? revoked : revoked.status < 300 ? undefined : describeAnswer(revoked);
    // A refusal is a use, too, so that nothing is left of a token that had one. Some services say that it is no token any more.
    const isGone =
      isAnswer && revoked.status === 403 && (usesLeft <= 1 || revoked.words.includes('invalid token'));
    if (why === undefined || isGone) return;
    const { target, warn } = this.#connection;
    const end = lease > 0 ? `until it expires, ${lease} s after its login or last renewal` : 'without an end';
    warn(
      `the token that target ${quoted(target.name)} got by its login is left behind, because it could not be revoked: ${why}; it stays valid ${end}${isAnswer && revoked.status === 403 ? advice : ''}`,
    );
  }

  async #supply(refused: string | undefined): Promise<string> {
    const held = await this.#current(refused);
    if (refused === undefined) held.usesLeft -= 1;
    return held.token;
  }

  async #current(refused: string | undefined): Promise<HeldToken> {
    const held = this.#held;
    if (held === undefined || held.usesLeft === 0) return this.#logIn();
    if (held.token === refused) return (await this.#isAlive(held)) ? (this.#held ?? held) : this.#logIn(true);
    if (!this.#endsSoon(held)) return held;
    return (await this.#renew(held)) ?? this.#logIn();
  }

  /** Whether the token is valid, and a 403 is about permissions. It is checked by a renewal, which an invalid token cannot do. */
  async #isAlive(held: HeldToken): Promise<boolean> {
    const isTrusted = this.#connection.clock.now() - held.provenAt < trustFor;
    if (isTrusted && !this.#endsSoon(held)) return true;
    held.usesLeft -= 1;
    const answer = await this.#channel.renew(held.token);
    if (answer.status === 403) return false;
    const grant = this.#grantOf(answer);
    this.#held = { ...held, ...grant, token: held.token, provenAt: this.#connection.clock.now() };
    return true;
  }

  #endsSoon({ lease, since }: HeldToken): boolean {
    return lease > 0 && this.#connection.clock.now() >= since + (lease * 1000 * 2) / 3;
  }

  /** @returns undefined when a new login is needed: the token is not renewable, the renewal was refused, or its maximal life is nearly over */
  async #renew(held: HeldToken): Promise<HeldToken | undefined> {
    // The last use is better kept for the revocation.
    if (!held.renewable || held.usesLeft <= 1) return undefined;
    held.usesLeft -= 1;
    const grant = this.#grantOf(await this.#channel.renew(held.token));
    if (grant === undefined || (grant.lease > 0 && grant.lease < held.lease / 2)) return undefined;
    this.#held = { ...held, since: grant.since, lease: grant.lease };
    return this.#held;
  }

  async #logIn(proven = false): Promise<HeldToken> {
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
    this.#giveUpHeld();
    // Without the policy "default" a token can mostly not renew itself, so that a refused renewal would not show whether it is valid.
    const isTrusted = proven || lacksDefaultPolicy(grant);
    this.#held = {
      ...grant,
      provenAt: isTrusted ? this.#connection.clock.now() : Number.NEGATIVE_INFINITY,
      usesLeft: grant.uses > 0 ? grant.uses : Number.POSITIVE_INFINITY,
    };
    return this.#held;
  }

  /** A token that was used as often as it may be is gone by itself. */
  #giveUpHeld(): void {
    const held = this.#held;
    if (held !== undefined && held.usesLeft > 0) this.#replaced.push(held);
  }

  #grantOf(answer: Answer): DatedGrant | undefined {
    const grant = grantIn(answer);
    return grant && { ...grant, since: this.#connection.clock.now() };
  }
}

/** Whether the login says which policies its token has, and none of them lets every token renew and revoke itself. */
function lacksDefaultPolicy({ policies }: Grant): boolean {
  return policies.length > 0 && !policies.some((policy) => policy === 'default' || policy === 'root');
}
