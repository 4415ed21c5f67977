/**
 * Opens the connection to a target. The connection of a plan cannot write: its type has no member that writes, and its dispatcher
 * sends only GET and LIST, besides the one question about the rights of its token. Only apply opens the type that can write.
 */
import type { Reader, TokenRights, Writer } from '../model/wire.ts';
import { openRightsQuestion } from './ask-rights.ts';
import { type Authenticator, type Login, openAuthenticator } from './authenticator.ts';
import { type Connection, type ConnectionOptions, openConnection } from './transport/connection.ts';
import { readsOnly, writesOnly } from './transport/restrict.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';

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
