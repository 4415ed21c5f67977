/**
 * The requests of a login: to get a token for a JWT, to renew the token, and to revoke it. The channel can send to exactly these
 * three paths, and shares only the connection with the requests of a plan (rule 31).
 */
import type { Dispatcher } from 'undici';
import { isJsonObject, type Json } from '../model/json/json.ts';
import type { Answer } from '../model/wire.ts';
import type { Outgoing } from './transport/attempt.ts';
import type { Connection } from './transport/connection.ts';
import { loginsOnly } from './transport/restrict.ts';
import { Sender } from './transport/sender.ts';

const renewPath = '/auth/token/renew-self';
const revokePath = '/auth/token/revoke-self';

/**
 * Milliseconds that a revocation may take, and a login after the end of the run. Both are waited for so that no token is left, and
 * the end of a run must not wait for long.
 */
const extraTime = 5_000;

/** What a login, or a renewal, gives. */
export interface Grant {
  readonly token: string;
  /** seconds; 0 never ends */
  readonly lease: number;
  readonly renewable: boolean;
  /** how often the token may be sent; 0 is no limit */
  readonly uses: number;
  readonly policies: readonly string[];
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
   * Sends no token. Messages do not show the JWT, even where the service returns it. After the end of the run none is begun, and
   * one that was sent has some more time: its token can only be revoked once it is known.
   * @param about.repeatable whether the login is sent again after a failure
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
    const signal = AbortSignal.any([AbortSignal.timeout(extraTime), this.#connection.leave]);
    return this.#post({ path: revokePath, signal, repeatable: true }, token);
  }

  /** A signal that is aborted some time after the end of the run, or as soon as nobody waits any longer. */
  #withExtraTime(): { readonly signal: AbortSignal; dispose(): void } {
    const { signal: over, leave, clock } = this.#connection;
    const [late, disposed] = [new AbortController(), new AbortController()];
    const onOver = () => {
      const abort = () => late.abort(over.reason);
      void clock.wait(extraTime, disposed.signal).then(abort, () => {});
    };
    if (over.aborted) onOver();
    else over.addEventListener('abort', onOver, { once: true });
    const dispose = () => {
      over.removeEventListener('abort', onOver);
      disposed.abort();
    };
    return { signal: AbortSignal.any([late.signal, leave]), dispose };
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

/** The token in the answer to a login or a renewal; undefined when it holds none. Source: wire/cluster-auth 3. */
export function grantIn({ status, body }: Pick<Answer, 'status' | 'body'>): Grant | undefined {
  const auth = isJsonObject(body) ? body['auth'] : undefined;
  const token = isJsonObject(auth) ? auth['client_token'] : undefined;
  if (status !== 200 || !isJsonObject(auth) || typeof token !== 'string' || token === '') return undefined;
  const { policies } = auth;
  return {
    token,
    lease: asNumber(auth['lease_duration']),
    renewable: auth['renewable'] === true,
    uses: asNumber(auth['num_uses']),
    policies: Array.isArray(policies) ? policies.map(String) : [],
  };
}

function asNumber(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
