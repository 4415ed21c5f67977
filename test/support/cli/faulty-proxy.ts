/**
 * An HTTP proxy between the CLI and the service: it records every request, and tests can add rules that cause faults.
 * Without a rule, responses pass unchanged. It parses raw bytes, because the HTTP server of Node does not support LIST.
 */
import { createServer, type Socket } from 'node:net';
import { request as send } from 'undici';
import { onTestFinished } from 'vitest';
import { startListening } from '../rig/listen.ts';

/** A recorded request, and the status of its response; no status if the response was dropped. */
export interface SeenRequest {
  readonly method: string;
  /** with query */
  readonly path: string;
  /** the body; empty when there was none */
  readonly text: string;
  readonly status?: number;
}

/** A fault for matching requests. A rule is used up after `times` requests, by default after one. */
export interface Rule {
  /** any when absent */
  readonly method?: string;
  /** must match the path with its query */
  readonly path: RegExp;
  /** must match the body */
  readonly body?: RegExp;
  readonly times?: number;
  readonly fault: Fault;
}

export type Fault =
  /** breaks the connection before the request reaches the service, or after the service has processed it */
  | { readonly drop: 'before' | 'after' }
  /** responds with this; the request does not reach the service */
  | { readonly answer: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** responds with an error that repeats the request, headers included; the request does not reach the service */
  | { readonly repeat: number }
  /** waits for this before the request is passed on */
  | { readonly first: () => Promise<unknown> }
  /** replaces the JSON of the response */
  | { readonly rewrite: (body: unknown) => unknown };

export interface FaultyProxy {
  readonly url: string;
  /** every request so far, oldest first */
  readonly seen: readonly SeenRequest[];
  /** those that may change something */
  writes(): readonly SeenRequest[];
  /** from now on; later rules after earlier ones */
  add(...rules: readonly Rule[]): void;
  /** sets the handler of requests that no rule matches; undefined removes it */
  setHandler(handler: RequestHandler | undefined): void;
  /** clears the recorded requests, and all rules */
  reset(): void;
}

/**
 * Returns the response to a request; undefined breaks the connection. `pass` forwards the request to the service,
 * optionally with another path or body.
 */
export type RequestHandler = (
  request: SeenRequest,
  pass: (path?: string, text?: string) => Promise<Answer>,
) => Promise<Answer | undefined>;

/** Whether the request changes nothing: reads, and the check of a token's capabilities, which is a POST. */
export function isRead({ method, path }: Pick<SeenRequest, 'method' | 'path'>): boolean {
  return method === 'GET' || method === 'LIST' || path === '/v1/sys/capabilities-self';
}

/** Listens on a free port of 127.0.0.1 until the test has ended. @param upstream the service's URL */
export async function openFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(() => upstream);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** The same until `close`. @param upstream called for every request: a restarted service has another address */
export async function startFaultyProxy(
  upstream: () => string,
): Promise<FaultyProxy & { close(): Promise<void> }> {
  const seen: SeenRequest[] = [];
  let rules: { rule: Rule; left: number }[] = [];
  let handler: RequestHandler | undefined;
  const take = (request: SeenRequest): Fault | undefined => {
    const found = rules.find(({ rule, left }) => left > 0 && matches(rule, request));
    if (found !== undefined) found.left -= 1;
    return found?.rule.fault;
  };
  const server = createServer((socket) => {
    void serve(socket, async (incoming) => {
      const at = seen.push(incoming.request) - 1;
      const fault = take(incoming.request);
      const answer =
        fault === undefined && handler !== undefined
          ? await handler(incoming.request, (path = incoming.request.path, text = incoming.request.text) =>
              passOn({ ...incoming, request: { ...incoming.request, path, text } }, upstream()),
            )
          : await answerTo(incoming, fault, upstream());
      if (answer !== undefined) seen[at] = { ...incoming.request, status: answer.status };
      return answer;
    }).catch(() => {}); // the client went away
  });
  const { url, close } = await startListening(server);
  return {
    url,
    seen,
    writes: () => seen.filter((request) => !isRead(request)),
    add: (...more) => {
      rules.push(...more.map((rule) => ({ rule, left: rule.times ?? 1 })));
    },
    setHandler: (next) => {
      handler = next;
    },
    reset: () => {
      seen.length = 0;
      rules = [];
    },
    close,
  };
}

function matches({ method, path, body }: Rule, request: SeenRequest): boolean {
  const rightMethod = method === undefined || method === request.method;
  return rightMethod && path.test(request.path) && (body === undefined || body.test(request.text));
}

interface Incoming {
  readonly request: SeenRequest;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** undefined breaks the connection */
async function answerTo(
  incoming: Incoming,
  fault: Fault | undefined,
  upstream: string,
): Promise<Answer | undefined> {
  if (fault === undefined) return passOn(incoming, upstream);
  if ('answer' in fault) return fakeAnswer(fault);
  if ('repeat' in fault)
    return fakeAnswer({ answer: fault.repeat, body: { errors: [JSON.stringify(incoming)] } });
  if ('first' in fault) {
    await fault.first();
    return passOn(incoming, upstream);
  }
  if ('rewrite' in fault) {
    const answer = await passOn(incoming, upstream);
    return { ...answer, text: JSON.stringify(fault.rewrite(JSON.parse(answer.text))) };
  }
  if (fault.drop === 'after') await passOn(incoming, upstream);
  return undefined;
}

/** A response that does not come from the service. */
export function fakeAnswer({ answer, headers = {}, body }: Extract<Fault, { answer: number }>): Answer {
  const text = JSON.stringify(
    body ?? { errors: [{ status: `${answer}`, title: 'made up', detail: 'made up by the test' }] },
  );
  return { status: answer, headers: { 'content-type': 'application/json', ...headers }, text };
}

/** Headers of one connection, which are not passed on. */
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'];

async function passOn({ request, headers }: Incoming, upstream: string): Promise<Answer> {
  const answer = await send(`${upstream}${request.path}`, {
    // undici's type lacks LIST, but undici sends it
    method: request.method as 'GET',
    headers: withoutOwn(headers),
    ...(request.text === '' ? {} : { body: request.text }),
  });
  const given = Object.entries(answer.headers).map(([name, value]) => [name, `${value}`] as const);
  return {
    status: answer.statusCode,
    headers: withoutOwn(Object.fromEntries(given)),
    text: await answer.body.text(),
  };
}

function withoutOwn(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)));
}

/** Reads the requests of one kept-alive connection and answers them one after the other. */
async function serve(
  socket: Socket,
  answer: (incoming: Incoming) => Promise<Answer | undefined>,
): Promise<void> {
  socket.on('error', () => {});
  let bytes: Buffer = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (let found = firstRequest(bytes); found !== undefined; found = firstRequest(bytes)) {
      bytes = found.rest;
      const answered = await answer(found.incoming).catch(() => undefined);
      if (answered === undefined) {
        socket.destroy();
        return;
      }
      write(socket, answered);
    }
  }
}

/** undefined while bytes are missing. Bodies need a content-length, which our client always sends. */
function firstRequest(bytes: Buffer): { incoming: Incoming; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const until = end + 4 + Number(headers['content-length'] ?? 0);
  if (bytes.length < until) return undefined;
  const text = bytes.subarray(end + 4, until).toString('utf8');
  return { incoming: { request: { method, path, text }, headers }, rest: bytes.subarray(until) };
}

function write(socket: Socket, { status, headers, text }: Answer): void {
  const body = Buffer.from(status === 204 ? '' : text);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = status === 204 ? [] : [`content-length: ${body.length}`];
  socket.write(`HTTP/1.1 ${status} ${status}\r\n${[...lines, ...length].join('\r\n')}\r\n\r\n`);
  socket.write(body);
}
