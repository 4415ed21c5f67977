/**
 * A live place, opened. What a plan gets has no way to write: no member of it writes, and the connection below it
 * carries GET and LIST alone. Only apply asks for the kind that can open a writer.
 */
import type { Reader, Writer } from '../model/wire.ts';
import { type Authenticator, type Login, openAuthenticator } from './authenticator.ts';
import { type Connection, type ConnectionOptions, openConnection } from './transport/connection.ts';
import { readsOnly, writesOnly } from './transport/restrict.ts';
import { Sender, type TokenProvider } from './transport/sender.ts';

export interface TargetOptions extends ConnectionOptions {
  /** what gives the token, or the login that gets one */
  readonly token: TokenProvider | { readonly login: Login };
}

/** For plans. */
export interface ReaderConnection {
  readonly reader: Reader;
  /** requests sent so far, retries included; those of a login are not counted */
  requests(): number;
  /** Takes back the token of a login and closes all connections; what is still in flight fails. */
  close(): Promise<void>;
}

/** For apply. Reader and writer share connections, rate and token. */
export interface TargetConnection extends ReaderConnection {
  openWriter(): Writer;
}

/** Opens a target for reading. Nothing is sent before the first read. */
export function openReader(options: TargetOptions): ReaderConnection {
  const { reader, requests, close } = openTarget(options);
  return { reader, requests, close };
}

/** Opens a target for reading and, once the writer is asked for, writing. Nothing is sent before the first request. */
export function openTarget(options: TargetOptions): TargetConnection {
  const line = openConnection(options);
  const authenticator = authenticatorOf(line, options);
  const { token } = authenticator;
  const reads = new Sender({ line, token, dispatcher: readsOnly(line.dispatcher) });
  const writes = new Sender({ line, token, dispatcher: writesOnly(line.dispatcher) });
  return {
    reader: {
      get: (path) => reads.send({ method: 'GET', path, repeatable: true }),
      list: (path) => reads.send({ method: 'LIST', path, repeatable: true }),
    },
    requests: () => reads.sent + writes.sent,
    openWriter: () => ({ send: (request) => writes.send(request) }),
    async close() {
      line.stop();
      await authenticator.close();
      await line.close();
    },
  };
}

function authenticatorOf(line: Connection, { token }: TargetOptions): Authenticator {
  return typeof token === 'function'
    ? { token, close: async () => {} }
    : openAuthenticator(line, token.login);
}
