/**
 * The verb LIST on an ordinary Fastify server, and SCAN where the service has it. Node's HTTP parser does not know them and gives
 * up the connection. The two options made here hand the connection back to the server with `GET` in place of the verb, and put
 * `list=true` or `scan=true` into the query, so that routes see one spelling of each. At paths without these verbs, routes see a
 * verb that nothing serves, and `verbOf` returns the verb that was sent.
 *
 * client ──"LIST /v1/x"──▶ parser ✗ ──clientError──▶ hold the bytes ─▶ wait for the answers still owed
 * │
 * route  ◀──"GET /v1/x?list=true"── parser ◀──"connection" once more── "GET " + the rest of the bytes
 *
 * Invariant: no byte of the client is lost or read twice, and answers leave in the order of their requests.
 * It relies on two internals of Node, both asserted by test/server/list-verb.test.ts: the name of the close listener
 * that frees a parser, and `socket._httpMessage`, the response being written.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

interface Verb {
  readonly word: string;
  /** How many of its first letters the parser accepts as the beginning of another verb (LINK, SEARCH). */
  readonly accepted: number;
  readonly query: string;
}

const LIST: Verb = { word: 'LIST', accepted: 2, query: 'list=true' };
const SCAN: Verb = { word: 'SCAN', accepted: 1, query: 'scan=true' };

/** What a verb may consist of. */
const LETTERS = /^[!#$%&'*+.^_`|~\w-]*/;
const LAST_LETTERS = /[!#$%&'*+.^_`|~\w-]*$/;
const LONGEST_VERB = 64;

/** How many bytes after a waiting LIST are buffered before the socket is paused. */
const HELD_BYTES = 64 * 1024;

/** Node's listener that frees a connection's parser; a Node internal (decision 0002). */
export const PARSER_FREEING_LISTENER = 'bound socketOnClose';

/** The events that Node's HTTP server listens to on a connection; it adds its listeners again when it gets the socket back. */
const HTTP_LISTENERS = ['data', 'end', 'close', 'drain', 'error', 'timeout', 'pause', 'resume'];

/** A verb that the parser knows and no route serves. */
const UNSERVED = 'LINK';

/** The answers to parser errors with a specific status: the status and the text. */
const REFUSAL_OF_ERROR: Readonly<Record<string, readonly [status: string, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers of the request are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    '413 Payload Too Large',
    'The chunk extensions of the request are too long',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};

const BAD_REQUEST = '400 Bad Request';

type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** An error of the parser, as Node gives it to `clientError`. `reason`, `bytesParsed` and `rawPacket` are absent for other errors. */
type ClientError = Error & { code?: string; reason?: string; bytesParsed?: number; rawPacket?: unknown };

/** The two Fastify options that together make LIST work. */
type ListVerbOptions = {
  clientErrorHandler: (this: { server: Server }, error: ClientError, socket: Socket) => void;
  rewriteUrl: (request: IncomingMessage) => string;
};

const sentVerbs = new WeakMap<IncomingMessage, string>();

/** The verb of a request as it was sent, also where LIST and SCAN are not served. */
export function verbOf(request: IncomingMessage): string {
  return sentVerbs.get(request) ?? request.method ?? 'GET';
}

/**
 * Makes the Fastify options that accept LIST on every path below `below` as a GET with `list=true` in front of its query,
 * and SCAN likewise where the service has it.
 * Any other verb that Node does not know reaches the routes as one that nothing serves. All other errors of the parser are
 * answered with `{"errors":["…"]}` and the reason: the path is not known yet, so neither API's form applies. An unknown verb is
 * answered after the earlier requests of that connection. Source: decision 0002, wire/cluster-auth 2.1.
 */
export function acceptListVerb({ scans = false, below = '/' } = {}): ListVerbOptions {
  const verbs = scans ? [LIST, SCAN] : [LIST];
  const relabelled = new WeakMap<Socket, SentVerb>();
  const waiting = new WeakSet<Socket>();

  return {
    clientErrorHandler(error, socket) {
      // Errors of a held request, such as a timeout, do not count: a new parser reads it once the earlier answers are sent.
      if (waiting.has(socket)) return;
      const opening = openingOfUnknownVerb(error, verbs);
      if (opening === undefined) {
        refuse(socket, ...refusalOf(error));
        return;
      }
      collect(socket, opening, (takeHeld) => {
        waiting.add(socket);
        whenIdle(socket, () => {
          waiting.delete(socket);
          const held = takeHeld();
          const word = verbIn(held);
          if (word === undefined) return refuse(socket, BAD_REQUEST, 'The verb of the request is not known');
          const sent: SentVerb = { word, verb: verbs.find((verb) => verb.word === word) };
          releaseFromServer(socket);
          relabelled.set(socket, sent);
          this.server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
          const written = sent.verb === undefined ? UNSERVED : 'GET';
          socket.unshift(Buffer.concat([Buffer.from(written), held.subarray(word.length)]));
          socket.resume();
        });
      });
    },

    rewriteUrl(request) {
      const url = request.url ?? '/';
      const sent = relabelled.get(request.socket);
      relabelled.delete(request.socket);
      if (sent === undefined) return url;
      if (sent.verb !== undefined && url.startsWith(below)) return withQuery(url, sent.verb);
      sentVerbs.set(request, sent.word);
      request.method = UNSERVED;
      return url;
    },
  };
}

/** A verb that the parser does not know; `verb` is undefined where this service does not know it either. */
interface SentVerb {
  readonly word: string;
  readonly verb: Verb | undefined;
}

/**
 * The bytes from the start of the request whose verb the parser refused, or undefined for any other error.
 * The parser refuses the first letter that continues none of its verbs. Letters of the verb in an earlier packet are lost;
 * for LIST and SCAN they are known.
 */
function openingOfUnknownVerb(error: ClientError, verbs: readonly Verb[]): Buffer | undefined {
  const { code, bytesParsed, rawPacket } = error;
  if (code !== 'HPE_INVALID_METHOD' || bytesParsed === undefined || !Buffer.isBuffer(rawPacket))
    return undefined;
  const refused = rawPacket.toString('latin1', bytesParsed, bytesParsed + 1);
  const likely = verbs.find(({ word, accepted }) => word[accepted] === refused);
  const fromLikely = likely && bytesFrom(rawPacket, bytesParsed - likely.accepted, likely.word);
  if (fromLikely !== undefined) return fromLikely;
  const before = rawPacket.toString('latin1', Math.max(0, bytesParsed - LONGEST_VERB), bytesParsed);
  return rawPacket.subarray(bytesParsed - (LAST_LETTERS.exec(before)?.[0].length ?? 0));
}

/** The bytes of a request from its start, which may be before the packet; undefined if they cannot begin with this verb. */
function bytesFrom(packet: Buffer, start: number, word: string): Buffer | undefined {
  if (start < 0) return Buffer.concat([Buffer.from(word.slice(0, -start)), packet]);
  const bytes = packet.subarray(start);
  return word.startsWith(bytes.toString('latin1', 0, word.length)) ? bytes : undefined;
}

/** The verb that a request begins with: undefined without a verb, empty while more letters may follow. */
function verbIn(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, LONGEST_VERB + 1);
  const [word = ''] = LETTERS.exec(head) ?? [];
  if (word.length === head.length && head.length <= LONGEST_VERB) return '';
  return word !== '' && head[word.length] === ' ' ? word : undefined;
}

/**
 * Takes the socket's input away from the dead parser and calls `decided` once the whole verb has arrived. Further bytes are held
 * until `takeHeld` is called. Listeners for the output stay, because responses use them.
 */
function collect(socket: Socket, opening: Buffer, decided: (takeHeld: () => Buffer) => void): void {
  const chunks = [opening];
  let length = opening.length;
  let isDecided = false;

  const takeHeld = (): Buffer => {
    socket.removeListener('data', hold);
    return Buffer.concat(chunks);
  };
  const hold = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > HELD_BYTES) socket.pause();
    decideOnce();
  };
  const decideOnce = (): void => {
    if (isDecided || verbIn(Buffer.concat(chunks)) === '') return;
    isDecided = true;
    decided(takeHeld);
  };

  socket.removeAllListeners('data').removeAllListeners('end');
  socket.on('data', hold);
  // As Node's own server does: when the client ends its side, the socket is closed after the answer that is being written.
  socket.once('end', () => whenIdle(socket, () => socket.end()));
  decideOnce();
}

/** Runs `act` once no response is being written to the socket, and never if the socket closes first. */
function whenIdle(socket: HttpSocket, act: () => void): void {
  if (!socket.writable) return;
  const response = socket._httpMessage;
  if (response) response.once('close', () => whenIdle(socket, act));
  else act();
}

/** Undoes what the HTTP server did to the socket, so that it can be given to the server as a new connection. */
function releaseFromServer(socket: Socket): void {
  for (const listener of socket.listeners('close')) {
    if (listener.name === PARSER_FREEING_LISTENER) Reflect.apply(listener, socket, []);
  }
  for (const event of HTTP_LISTENERS) socket.removeAllListeners(event);
  // Otherwise the keep-alive timer of the last response would abort a LIST that takes longer.
  socket.setTimeout(0);
}

/** The answer to an error of the parser. It includes the parser's text, which names the problem and repeats nothing of the request. */
function refusalOf({ code, reason }: ClientError): readonly [status: string, text: string] {
  const why = reason === undefined ? '' : `: ${reason}`;
  return REFUSAL_OF_ERROR[code ?? ''] ?? [BAD_REQUEST, `The request cannot be read${why}`];
}

/** Answers a request that cannot be parsed and closes; sends nothing in the middle of another response. */
function refuse(socket: HttpSocket, status: string, text: string): void {
  const body = JSON.stringify({ errors: [text] });
  if (socket.writable && isOurTurn(socket)) {
    socket.write(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

/** Whether an answer sent now would belong to the refused request, whose body may be the problem. */
function isOurTurn({ _httpMessage: response }: HttpSocket): boolean {
  return !response || (!response.headersSent && !response.req.complete);
}

/** Puts the parameter of the verb in front of the query, where it takes precedence over one that the client sent. */
function withQuery(url: string, { query }: Verb): string {
  const question = url.indexOf('?');
  if (question < 0) return `${url}?${query}`;
  return `${url.slice(0, question)}?${query}&${url.slice(question + 1)}`;
}
