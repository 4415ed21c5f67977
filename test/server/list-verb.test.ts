// LIST over real sockets. Node's parser refuses this verb, but the request must reach its route as a list, after any other request
// on the connection, and in any packets. Each test runs its own Fastify server and closes it.
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type FastifyInstance, type FastifyHttpOptions, fastify } from 'fastify';
import { request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptListVerb, PARSER_FREEING_LISTENER, verbOf } from '../../src/server/kernel/list-verb.ts';

const LIST_A = 'LIST /a HTTP/1.1\r\nHost: x\r\n\r\n';
const GET_B = 'GET /b HTTP/1.1\r\nHost: x\r\n\r\n';
const POST_C =
  'POST /c HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"n":1}';
const CHUNKED_POST_C =
  'POST /c HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '7\r\n{"n":1}\r\n0\r\n\r\n';

let app: FastifyInstance | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** A server that answers every request with its method and URL, after `?delay=` milliseconds. */
async function startEcho(options: FastifyHttpOptions<Server> = {}): Promise<number> {
  const echo = fastify({ ...acceptListVerb(), ...options });
  echo.route({
    method: ['GET', 'POST'],
    url: '/*',
    handler: async (incoming) => {
      const { delay, size } = incoming.query as { delay?: string; size?: string };
      if (delay !== undefined) await sleep(Number(delay));
      return `<${incoming.method} ${incoming.url}>${'.'.repeat(Number(size ?? 0))}`;
    },
  });
  app = echo;
  await echo.listen({ port: 0, host: '127.0.0.1' });
  return (echo.server.address() as AddressInfo).port;
}

type Conversation = { socket: Socket; heard: () => string; hear: (count: number) => Promise<string[]> };

/** A raw connection; `hear(n)` resolves with all echoes after the server echoed n requests, or closed the connection. */
function converse(port: number): Conversation {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  const echoes = (): string[] => text.match(/<[^>]*>/g) ?? [];
  const hear = (count: number): Promise<string[]> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (echoes().length < count && !socket.closed) return;
        socket.off('data', check).off('close', check);
        resolve(echoes());
      };
      socket.on('data', check).on('close', check);
      check();
    });
  return { socket, heard: () => text, hear };
}

/** The status and the only error of an answer that is a complete refusal with the right length. */
function refusalIn(answer: string): [status: string | undefined, text: unknown] {
  const [, status, length, body = ''] =
    /^HTTP\/1\.1 (.*)\r\nContent-Type: application\/json\r\nContent-Length: (\d+)\r\nConnection: close\r\n\r\n(.*)$/s.exec(
      answer,
    ) ?? [];
  expect(body).toHaveLength(Number(length));
  const { errors } = JSON.parse(body) as { errors: unknown[] };
  expect(errors).toHaveLength(1);
  return [status, errors[0]];
}

describe('one connection', () => {
  it('answers a LIST as a GET with list=true', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(LIST_A);
    expect(await hear(1)).toEqual(['<GET /a?list=true>']);
    socket.destroy();
  });

  it('puts list=true before the query that the client sent', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write('LIST /a?list=false&after=x HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await hear(1)).toEqual(['<GET /a?list=true&list=false&after=x>']);
    socket.destroy();
  });

  it('keeps the connection open for LIST, GET and POST in any order', async () => {
    const { socket, hear } = converse(await startEcho());
    const expected: string[] = [];
    for (const [bytes, echo] of [
      [GET_B, '<GET /b>'],
      [LIST_A, '<GET /a?list=true>'],
      [LIST_A, '<GET /a?list=true>'],
      [POST_C, '<POST /c>'],
      [LIST_A, '<GET /a?list=true>'],
      [CHUNKED_POST_C, '<POST /c>'],
      [LIST_A, '<GET /a?list=true>'],
      [GET_B, '<GET /b>'],
    ] as const) {
      socket.write(bytes);
      expected.push(echo);
      expect(await hear(expected.length)).toEqual(expected);
    }
    socket.destroy();
  });

  it('accepts a body with LIST', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(`LIST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nLIST ${GET_B}`);
    expect(await hear(2)).toEqual(['<GET /a?list=true>', '<GET /b>']);
    socket.destroy();
  });

  it('closes after the answer when the client asks for it', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write('LIST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await hear(2)).toEqual(['<GET /a?list=true>']);
  });
});

describe('pipelining', () => {
  it('answers a LIST after a slow GET, in order', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(`GET /slow?delay=60 HTTP/1.1\r\nHost: x\r\n\r\n${LIST_A}`);
    expect(await hear(2)).toEqual(['<GET /slow?delay=60>', '<GET /a?list=true>']);
    socket.destroy();
  });

  it('answers a GET after a slow LIST, in order', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(`LIST /a?delay=60 HTTP/1.1\r\nHost: x\r\n\r\n${GET_B}${LIST_A}`);
    expect(await hear(3)).toEqual(['<GET /a?list=true&delay=60>', '<GET /b>', '<GET /a?list=true>']);
    socket.destroy();
  });

  it('answers a LIST after a response of several megabytes', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(`GET /big?size=3000000 HTTP/1.1\r\nHost: x\r\n\r\n${LIST_A}`);
    expect(await hear(2)).toEqual(['<GET /big?size=3000000>', '<GET /a?list=true>']);
    socket.destroy();
  });

  it('keeps all requests that a client sends while its LIST waits', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write(`GET /slow?delay=80 HTTP/1.1\r\nHost: x\r\n\r\n${LIST_A}`);
    await sleep(10);
    const long = `GET /b HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(8000)}\r\n\r\n`;
    socket.write(long.repeat(40));
    const echoes = await hear(42);
    expect(echoes.slice(0, 2)).toEqual(['<GET /slow?delay=80>', '<GET /a?list=true>']);
    expect(echoes.slice(2)).toEqual(Array(40).fill('<GET /b>'));
    socket.destroy();
  });

  it('does not time out a waiting LIST when the request before it is slower than the headers timeout', async () => {
    const http = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 };
    const { socket, hear } = converse(await startEcho({ http }));
    socket.write(`GET /slow?delay=250 HTTP/1.1\r\nHost: x\r\n\r\n${LIST_A}`);
    expect(await hear(2)).toEqual(['<GET /slow?delay=250>', '<GET /a?list=true>']);
    socket.destroy();
  });
});

describe('packets', () => {
  const pipeline = GET_B + LIST_A + POST_C + LIST_A + LIST_A + GET_B;
  const echoes = ['/b>', '/a?list=true>', '/c>', '/a?list=true>', '/a?list=true>', '/b>'];

  it('reads a pipeline of six requests cut in two at every byte', async () => {
    const port = await startEcho();
    const cuts = Array.from({ length: pipeline.length - 1 }, (_, index) => index + 1);
    const wrong: number[] = [];
    const tryCut = async (cut: number): Promise<void> => {
      const { socket, hear } = converse(port);
      socket.write(pipeline.slice(0, cut));
      await sleep(8);
      socket.write(pipeline.slice(cut));
      const heard = (await hear(6)).map((echo) => echo.slice(echo.indexOf('/')));
      if (JSON.stringify(heard) !== JSON.stringify(echoes)) wrong.push(cut);
      socket.destroy();
    };
    while (cuts.length > 0) await Promise.all(cuts.splice(0, 40).map(tryCut));
    expect(wrong).toEqual([]);
  });

  it('reads a LIST that arrives byte by byte', async () => {
    const { socket, hear } = converse(await startEcho());
    for (const byte of LIST_A + GET_B) {
      socket.write(byte);
      await sleep(1);
    }
    expect(await hear(2)).toEqual(['<GET /a?list=true>', '<GET /b>']);
    socket.destroy();
  });
});

describe('other clients', () => {
  it('answers curl -X LIST', async () => {
    const port = await startEcho();
    const url = `http://127.0.0.1:${port}/a`;
    const { stdout } = await promisify(execFile)('curl', ['-s', '-X', 'LIST', url, '--next', '-s', url]);
    expect(stdout).toBe('<GET /a?list=true><GET /a>');
  });

  it('answers fetch and undici with many requests at once', async () => {
    const port = await startEcho();
    const texts = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const method = index % 2 === 0 ? 'LIST' : 'GET';
        const url = `http://127.0.0.1:${port}/r${index}`;
        if (index % 3 === 0) return (await fetch(url, { method })).text();
        return (await request(url, { method: method as 'GET' })).body.text();
      }),
    );
    expect(texts).toEqual(
      texts.map((_, index) => (index % 2 === 0 ? `<GET /r${index}?list=true>` : `<GET /r${index}>`)),
    );
  });
});

describe('other verbs', () => {
  it.each(['LISP', 'LI', 'LISTEN', 'FOO', 'list', 'XLIST', 'GETS'])(
    'are answered with 404, and the connection stays open: %s',
    async (verb) => {
      const { socket, hear, heard } = converse(await startEcho());
      socket.write(`${verb} /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{}\n`);
      socket.write(GET_B);
      expect(await hear(1)).toEqual(['<GET /b>']);
      expect(heard()).toContain('HTTP/1.1 404 Not Found');
      socket.destroy();
    },
  );

  it('keep the name that was sent', async () => {
    const port = await startEcho();
    const verbs: string[] = [];
    app?.server.on('request', (incoming) => verbs.push(verbOf(incoming)));
    for (const verb of ['FOO', 'LISTEN', 'X-Y']) {
      const { socket, hear } = converse(port);
      socket.write(`${verb} /a HTTP/1.1\r\nHost: x\r\n\r\n${GET_B}`);
      await hear(1);
      socket.destroy();
    }
    expect(verbs).toEqual(['FOO', 'GET', 'LISTEN', 'GET', 'X-Y', 'GET']);
  });

  it('may arrive letter by letter', async () => {
    const { socket, hear, heard } = converse(await startEcho());
    for (const letter of `FOO /a HTTP/1.1\r\nHost: x\r\n\r\n${GET_B}`) {
      socket.write(letter);
      await sleep(1);
    }
    expect(await hear(1)).toEqual(['<GET /b>']);
    expect(heard()).toContain('HTTP/1.1 404 Not Found');
    socket.destroy();
  });

  it.each(['\u0016\u0003\u0001', 'FOO\t/a HTTP/1.1\r\n\r\n', `${'X'.repeat(65)} /a HTTP/1.1\r\n\r\n`])(
    'are refused if they are not valid verbs: %j',
    async (bytes) => {
      const { socket, hear, heard } = converse(await startEcho());
      socket.write(bytes);
      expect(await hear(1)).toEqual([]);
      expect(refusalIn(heard())).toEqual(['400 Bad Request', 'The verb of the request is not known']);
    },
  );

  it('answers the requests before an unknown verb first', async () => {
    const { socket, hear, heard } = converse(await startEcho());
    socket.write(`GET /slow?delay=40 HTTP/1.1\r\nHost: x\r\n\r\nFOO /a HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await hear(1)).toEqual(['<GET /slow?delay=40>']);
    socket.write(GET_B);
    expect(await hear(2)).toEqual(['<GET /slow?delay=40>', '<GET /b>']);
    expect(heard()).toContain('HTTP/1.1 404 Not Found');
    socket.destroy();
  });

  it('answers headers that are too long with 431', async () => {
    const { socket, hear, heard } = converse(await startEcho());
    socket.write(`LIST /a HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(20_000)}\r\n\r\n`);
    expect(await hear(1)).toEqual([]);
    expect(refusalIn(heard())).toEqual([
      '431 Request Header Fields Too Large',
      'The headers of the request are too long',
    ]);
  });

  it('closes a connection that stops in the middle of the verb', async () => {
    const http = { headersTimeout: 60, requestTimeout: 60, connectionsCheckingInterval: 20 };
    const { socket, hear, heard } = converse(await startEcho({ http }));
    socket.write('LIS');
    expect(await hear(1)).toEqual([]);
    expect(refusalIn(heard())).toEqual(['408 Request Timeout', 'The request did not arrive in time']);
  });

  it.each([
    ['a target with blanks', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n', 'Expected HTTP/'],
    ['another version of HTTP', 'GET /a HTTP/7.1\r\nHost: x\r\n\r\n', 'Invalid HTTP version'],
    ['a header without a name', 'GET /a HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 'Invalid header token'],
    [
      'two lengths',
      'POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      'Content-Length',
    ],
    [
      'a broken chunk',
      'POST /c HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      'Invalid character in chunk size',
    ],
  ])('answers %s with 400 and the reason, and closes', async (_what, bytes, why) => {
    const { socket, hear, heard } = converse(await startEcho());
    socket.write(bytes);
    expect(await hear(1)).toEqual([]);
    expect(refusalIn(heard())).toEqual(['400 Bad Request', expect.stringContaining(why)]);
  });

  it('survives a client that goes away in the middle of the verb', async () => {
    const port = await startEcho();
    const gone = converse(port);
    gone.socket.write('LIS');
    await sleep(10);
    gone.socket.end();
    expect(await gone.hear(1)).toEqual([]);
    expect(await (await fetch(`http://127.0.0.1:${port}/a`)).text()).toBe('<GET /a>');
  });
});

describe('time and memory', () => {
  it('answers a LIST that takes longer than the keep-alive timeout', async () => {
    const { socket, hear } = converse(await startEcho({ keepAliveTimeout: 50 }));
    socket.write(GET_B);
    await hear(1);
    socket.write('LIST /a?delay=1400 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await hear(2)).toEqual(['<GET /b>', '<GET /a?list=true&delay=1400>']);
    socket.destroy();
  });

  it('waits for a LIST in flight when the server is closed', async () => {
    const { socket, hear } = converse(await startEcho());
    socket.write('LIST /a?delay=80 HTTP/1.1\r\nHost: x\r\n\r\n');
    await sleep(30);
    const closed = app?.close();
    expect(await hear(1)).toEqual(['<GET /a?list=true&delay=80>']);
    socket.destroy();
    await closed;
  });

  it('leaves no listeners behind after thousands of LISTs on one connection', async () => {
    const port = await startEcho();
    let peer: Socket | undefined;
    app?.server.on('connection', (connection: Socket) => {
      peer = connection;
    });
    const { socket, hear } = converse(port);
    socket.write(LIST_A);
    await hear(1);
    const listeners = (): Record<string, number> =>
      Object.fromEntries(
        (peer?.eventNames() ?? []).map((name) => [String(name), peer?.listenerCount(name) ?? 0]),
      );
    const before = listeners();
    socket.write(LIST_A.repeat(3000));
    await hear(3001);
    expect(listeners()).toEqual(before);
    socket.destroy();
  });
});

describe('internals of Node', () => {
  it('have the listener that frees the parser, and the response being written, under the expected names', async () => {
    const seen = await new Promise<{ listeners: string[]; response: boolean }>((resolve) => {
      const server = createServer((incoming, response) => {
        const listeners = incoming.socket.listeners('close').map((listener) => listener.name);
        resolve({ listeners, response: Reflect.get(incoming.socket, '_httpMessage') === response });
        response.end(() => server.close());
      }).listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        converse(port).socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      });
    });
    expect(seen.listeners).toContain(PARSER_FREEING_LISTENER);
    expect(seen.response).toBe(true);
  });
});
