/**
 * Opens the connections to a target. That of a plan cannot write: it sends only GET and LIST, and one question about the rights
 * of its token (rules 30, 31). Only apply opens one that can write. The audit trail has a connection and a token of its own.
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

export interface TargetOptions extends ConnectionOptions {
  /** provides the token, or the login to get one */
  readonly token: TokenProvider | { readonly login: Login };
}

/** For plans. */
export interface ReaderConnection {
  readonly reader: Reader;
  /** Asks what the token may do on paths below the API root; absent where the service does not tell it. Changes nothing. */
  readonly askRights?: (paths: readonly string[]) => Promise<TokenRights>;
  /** requests sent so far, retries included; those of a login are not counted */
  requests(): number;
  /** how many milliseconds its clock is ahead of the one here, as its answers prove, below 0 when it is behind; undefined while none told its time */
  clockAhead(): number | undefined;
  /** Revokes the token of a login and closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** For apply. Reader and writer share connections, rate and token. */
export interface TargetConnection extends ReaderConnection {
  openWriter(): Writer;
}

/** Opens a target for reading. Nothing is sent before the first read. */
export function openReader(options: TargetOptions): ReaderConnection {
  const { reader, askRights, requests, clockAhead, close } = openTarget(options);
  return { reader, ...(askRights === undefined ? {} : { askRights }), requests, clockAhead, close };
}

/** Opens a target for reading and writing. Nothing is sent before the first request. */
export function openTarget(options: TargetOptions): TargetConnection {
  const connection = openConnection(options);
  const authenticator = authenticatorOf(connection, options);
  const { token } = authenticator;
  const reads = new Sender({ connection, token, dispatcher: readsOnly(connection.dispatcher) });
  const writes = new Sender({ connection, token, dispatcher: writesOnly(connection.dispatcher) });
  const rights = openRightsQuestion(connection, token);
  return {
    ...(rights === undefined ? {} : { askRights: (paths: readonly string[]) => rights.ask(paths) }),
    reader: {
      get: (path) => reads.send({ method: 'GET', path, repeatable: true }),
      list: (path) => reads.send({ method: 'LIST', path, repeatable: true }),
    },
    requests: () => reads.sent + writes.sent + (rights?.sent ?? 0),
    clockAhead: () => connection.difference.ahead,
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

// Asks a service what the token of a target may do on paths: one POST, through a channel that can send nothing else
// (rules 30, 31). A refusal is no error: then nothing is known.

/** The most paths of one question: a body has a limit of its own (wire/cluster-auth 2.1). Rights on others stay unknown. */
const maxPaths = 900;

interface RightsQuestion {
  ask(paths: readonly string[]): Promise<TokenRights>;
  readonly sent: number;
}

/** @returns undefined for a service that has no such question */
function openRightsQuestion(connection: Connection, token: TokenProvider): RightsQuestion | undefined {
  const { rightsPath: path } = services[connection.target.service];
  if (path === undefined) return undefined;
  const dispatcher = asksRightsOnly(connection.dispatcher, `${connection.prefix}${path}`);
  const sender = new Sender({ connection, token, dispatcher });
  return {
    async ask(paths) {
      try {
        // Not repeatable: the plan can do without the answer, and waits for nobody to recover.
        const body = { paths: paths.slice(0, maxPaths) };
        return readRights(await sender.send({ method: 'POST', path, body, repeatable: false }), body.paths);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        return { is: 'untold', why: error.message };
      }
    },
    get sent() {
      return sender.sent;
    },
  };
}

/** The answer holds a list of capabilities for each path, beside or below `data`. One without any of these was not understood. */
function readRights(answer: Answer, paths: readonly string[]): TokenRights {
  const { status, body } = answer;
  const data = isJsonObject(body) && isJsonObject(body['data']) ? body['data'] : body;
  if (status !== 200 || !isJsonObject(data)) return { is: 'untold', why: describeAnswer(answer) };
  const lists = Object.entries(data).flatMap(([path, list]) =>
    isTexts(list) ? [[path, new Set(list)] as const] : [],
  );
  const on = new Map(lists);
  if (paths.some((path) => on.has(path))) return { is: 'told', on };
  const { method, url } = answer;
  return { is: 'untold', why: `${method} ${url} answered ${status} without a list of rights for any path` };
}

function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

// Opens the way to the audit trail of a target's organization. It has a token of its own, and can send GET to that one path and
// nothing else, whatever code uses it: a token that was made for audit trails needs no other right (wire/audit-trails 1.3).

/** There is no organization in the path: the token says which (wire/audit-trails 1.1). */
const path = '/organization/audit-trail';

export interface AuditConnection extends TrailChannel {
  /** requests sent so far, retries included */
  requests(): number;
  /** Closes all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** Nothing is sent before the first question. */
export function openAuditTrail({
  token,
  ...options
}: ConnectionOptions & { readonly token: TokenProvider }): AuditConnection {
  // No name is translated: an archive keeps what the service said. The trail is plain JSON, unlike all else of this service.
  const headers = { ...options.dialect.headers, accept: 'application/json' };
  const connection = openConnection({ ...options, dialect: { ...options.dialect, rename: {}, headers } });
  const dispatcher = auditsOnly(connection.dispatcher, `${connection.prefix}${path}`);
  const sender = new Sender({ connection, dispatcher, token });
  return {
    get: (query) => sender.send({ method: 'GET', path: `${path}?${query}`, repeatable: true }),
    requests: () => sender.sent,
    clockAhead: () => connection.difference.ahead,
    async close() {
      connection.stop();
      await connection.close();
    },
  };
}
