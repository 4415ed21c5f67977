/**
 * A server for tests that parses raw bytes: it accepts any verb (Node's parser refuses LIST), records requests, and
 * responds, drops connections or stays silent as a test wants. It shares no code with the embedded service.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listenForTest } from '../rig/listen.ts';

export interface Recorded {
  readonly method: string;
  /** the request target as sent: path and query, or a whole URL for a proxy */
  readonly path: string;
  /** by lower-case name */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** `text` as JSON; undefined when empty */
  readonly body: unknown;
}

export type Reply =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** closes the connection without a response */
  | 'drop'
  /** closes the connection in the middle of the response */
  | 'cut'
  /** never responds, and keeps the connection open */
  | 'silence'
  /** sends a response byte by byte that never ends */
  | 'trickle';

export interface Loopback {
  readonly url: string;
  readonly port: number;
  readonly requests: Recorded[];
  /** `GET /v1/x` for each request, in order */
  readonly lines: string[];
  /** connections opened so far */
  connections(): number;
  close(): Promise<void>;
}

export type Answering = (request: Recorded, count: number) => Reply | Promise<Reply>;

/** Answers with these replies in turn; the last one is repeated. */
export function inTurn(...replies: [Reply, ...Reply[]]): Answering {
  return (_, count) => replies[Math.min(count, replies.length) - 1] ?? replies[0];
}

/** Listens until the test has finished. `count` is 1 for the first request. */
export async function listen(
  answer: Answering,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Loopback> {
  const requests: Recorded[] = [];
  const lines: string[] = [];
  let connections = 0;
  const accept = (socket: Socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    readRequests(socket, async (request) => {
      requests.push(request);
      lines.push(`${request.method} ${request.path}`);
      write(socket, await answer(request, requests.length));
    });
  };
  const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  server.on('tlsClientError', () => undefined);
  const { port, url: plain, close } = await listenForTest(server);
  const url = tls === undefined ? plain : `https://localhost:${port}`;
  return { url, port, requests, lines, connections: () => connections, close };
}

function readRequests(socket: Socket, handle: (request: Recorded) => void): void {
  let held = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    held += chunk;
    for (;;) {
      const end = held.indexOf('\r\n\r\n');
      if (end < 0) return;
      const [opening = '', ...fields] = held.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        fields.map((field) => [
          field.slice(0, field.indexOf(':')).toLowerCase(),
          field.slice(field.indexOf(':') + 1).trim(),
        ]),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (held.length < end + 4 + length) return;
      const text = Buffer.from(held.slice(end + 4, end + 4 + length), 'latin1').toString('utf8');
      held = held.slice(end + 4 + length);
      const [method = '', path = ''] = opening.split(' ');
      handle({ method, path, headers, text, body: text === '' ? undefined : JSON.parse(text) });
    }
  });
}

function write(socket: Socket, reply: Reply): void {
  if (reply === 'silence') return;
  if (reply === 'drop') {
    socket.destroy();
    return;
  }
  if (reply === 'cut') {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"data":', () => socket.destroy());
    return;
  }
  if (reply === 'trickle') {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const dripping = setInterval(() => socket.write('1\r\n[\r\n'), 2);
    socket.on('close', () => clearInterval(dripping));
    return;
  }
  const { status = 200, headers = {}, body } = reply;
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const fields = Object.entries({ 'content-length': `${Buffer.byteLength(text)}`, ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`HTTP/1.1 ${status} X\r\n${head}\r\n${text}`);
}
