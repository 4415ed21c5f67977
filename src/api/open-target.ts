/**
 * Opens the connections to a target. A plan's connection cannot write: it sends only GET and LIST, and one query of the token's
 * permissions. Only apply opens one that can write. The audit trail has a separate connection and token.
 */
import type { TrailChannel } from '../model/audit-trail.ts';
import {
  type Answer,
  describeAnswer,
  type Reader,
  type TokenRights,
  WireError,
  type Writer,
} from '../model/http.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { type Authenticator, type Login, openAuthenticator } from './login.ts';
import { type Connection, type ConnectionOptions, openConnection } from './transport/connection.ts';
import { asksRightsOnly, auditsOnly, readsOnly, writesOnly } from './transport/dispatcher.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';
import { services } from './transport/service-conventions.ts';
import { DialectSigns, type SpokenDialect } from './spoken-dialect.ts';

export interface TargetOptions extends ConnectionOptions {
  /** provides the token, or the login to get one */
  readonly token: TokenProvider | { readonly login: Login };
}

/** For plans. */
export interface ReaderConnection {
  readonly reader: Reader;
  /** Queries the token's permissions on paths below the API root; absent if the service has no such query. Changes nothing. */
  readonly askRights?: (paths: readonly string[]) => Promise<TokenRights>;
  /** requests sent so far, retries included; those of a login are not counted */
  requests(): number;
  /** by how many milliseconds the target's clock is ahead, negative if behind; undefined before a response with a `Date` */
  clockAhead(): number | undefined;
  /** The dialect that the answers so far show; undefined if they show none. Sends nothing. */
  spokenDialect(): SpokenDialect | undefined;
  /** Revokes the token of a login and closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** For apply. Reader and writer share connections, rate and token. */
export interface TargetConnection extends ReaderConnection {
  openWriter(): Writer;
}

/** Opens a target for reading. Opening sends nothing. */
export function openReader(options: TargetOptions): ReaderConnection {
  const { openWriter: _, ...reading } = openTarget(options);
  return reading;
}

/** Opens a target for reading and writing. Opening sends nothing. */
export function openTarget(options: TargetOptions): TargetConnection {
  const signs = new DialectSigns(options.target, options.dialect);
  const connection = openConnection({ ...options, inspect: (answer) => signs.learn(answer) });
  const authenticator = authenticatorOf(connection, options);
  const { token } = authenticator;
  const reads = new Sender({ connection, token, dispatcher: readsOnly(connection.dispatcher) });
  const writes = new Sender({ connection, token, dispatcher: writesOnly(connection.dispatcher) });
  const rights = openRightsQuery(connection, token);
  return {
    ...(rights === undefined ? {} : { askRights: (paths: readonly string[]) => rights.ask(paths) }),
    reader: {
      get: (path, begins) =>
        reads.send({ method: 'GET', path, repeatable: true, permit: async () => begins?.() }),
      list: (path) => reads.send({ method: 'LIST', path, repeatable: true }),
    },
    requests: () => reads.sent + writes.sent + (rights?.sent ?? 0),
    clockAhead: () => connection.difference.ahead,
    spokenDialect: () => signs.spoken(),
    openWriter: () => ({ send: (request) => writes.sendOnce({ ...request, isUrgent: true }) }),
    async close() {
      connection.stop();
      await authenticator.close();
      await connection.close();
    },
  };
}

function authenticatorOf(connection: Connection, { token }: TargetOptions): Authenticator {
  return typeof token === 'function'
    ? { token, close: async () => {} }
    : openAuthenticator(connection, token.login);
}

// Queries the permissions of a target's token on paths: one POST, through a channel that can send nothing else. If the service
// refuses it, the permissions are unknown, which is not an error.

/** Maximum paths of one query: the service limits its body (wire/cluster-auth 2.1). Permissions on other paths stay unknown. */
const maxPaths = 900;

interface RightsQuery {
  ask(paths: readonly string[]): Promise<TokenRights>;
  readonly sent: number;
}

/** @returns undefined for a service without such a query */
function openRightsQuery(connection: Connection, token: TokenProvider): RightsQuery | undefined {
  const { rightsPath: path } = services[connection.target.service];
  if (path === undefined) return undefined;
  const dispatcher = asksRightsOnly(connection.dispatcher, `${connection.prefix}${path}`);
  const sender = new Sender({ connection, token, dispatcher });
  return {
    async ask(paths) {
      try {
        // Not repeatable: the plan does not need the answer, and does not wait for the service to recover.
        const body = { paths: paths.slice(0, maxPaths) };
        return readRights(await sender.send({ method: 'POST', path, body, repeatable: false }), body.paths);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        return { is: 'unknown', why: error.message };
      }
    },
    get sent() {
      return sender.sent;
    },
  };
}

/** The answer has a list of capabilities for each path, in `data` or next to it. */
function readRights(answer: Answer, paths: readonly string[]): TokenRights {
  const { status, body } = answer;
  const data = isJsonObject(body) && isJsonObject(body['data']) ? body['data'] : body;
  if (status !== 200 || !isJsonObject(data)) return { is: 'unknown', why: describeAnswer(answer) };
  const lists = Object.entries(data).flatMap(([path, list]) =>
    isTexts(list) ? [[path, new Set(list)] as const] : [],
  );
  const on = new Map(lists);
  if (paths.some((path) => on.has(path))) return { is: 'known', on };
  const { method, url } = answer;
  return {
    is: 'unknown',
    why: `${method} ${url} answered ${status} without a list of permissions for any path`,
  };
}

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

// Opens the connection to the audit trail of a target's organization. It has a separate token, and can send GET to that one path only:
// a token for audit trails needs no other permission (wire/audit-trails 1.3).

/** The token determines the organization (wire/audit-trails 1.1). */
const trailPath = '/organization/audit-trail';

export interface AuditConnection extends TrailChannel {
  /** requests sent so far, retries included */
  requests(): number;
  /** Closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** Opens the connection, which sends nothing yet. */
export function openAuditTrail({
  token,
  ...options
}: ConnectionOptions & { readonly token: TokenProvider }): AuditConnection {
  // Names are not translated: an archive keeps the response as it is. The trail is plain JSON, unlike other responses of this service.
  const headers = { ...options.dialect.headers, accept: 'application/json' };
  const connection = openConnection({ ...options, dialect: { ...options.dialect, rename: {}, headers } });
  const dispatcher = auditsOnly(connection.dispatcher, `${connection.prefix}${trailPath}`);
  const sender = new Sender({ connection, dispatcher, token });
  return {
    get: (query) => sender.send({ method: 'GET', path: `${trailPath}?${query}`, repeatable: true }),
    requests: () => sender.sent,
    clockAhead: () => connection.difference.ahead,
    async close() {
      connection.stop();
      await connection.close();
    },
  };
}
