/** A foreign server at the port of a former service gets no token: a server has to prove that it serves the same data file. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { edit } from '../../support/cli/example-copy.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { listenForTest } from '../../support/rig/listen.ts';

interface ForeignServer {
  readonly url: string;
  /** all received bytes */
  received(): string;
}

/** Listens on loopback, records all received bytes, and handles each connection with this function. */
async function listen(handle: (socket: Socket) => void, port = 0): Promise<ForeignServer> {
  let received = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    handle(socket);
  });
  const { url } = await listenForTest(server, port);
  return { url, received: () => received };
}

function answering(text: string): (socket: Socket) => void {
  return (socket) => {
    socket.on('data', () => socket.write(text));
  };
}

function relayingTo(url: string): (socket: Socket) => void {
  return (socket) => {
    const onward = connect(Number(new URL(url).port), '127.0.0.1');
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  };
}

const pathOf = (cwd: string, suffix: string) => join(cwd, '.trueup', `embedded.db${suffix}`);

/** Applies the stack, and expects that the foreign server received no token. */
async function expectNoToken(cwd: string, { received }: ForeignServer): Promise<void> {
  expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
  const tokens = JSON.parse(await readFile(pathOf(cwd, '.tokens.json'), 'utf8')) as Record<string, string>;
  for (const token of Object.values(tokens)) expect(received()).not.toContain(token);
  expect(received()).not.toMatch(/authorization|x-service-token/i);
  expect((await trueup(['plan', '--exit-code'], { cwd })).code).toBe(0);
}

async function writeUrl(cwd: string, url: string): Promise<void> {
  await mkdir(join(cwd, '.trueup'), { recursive: true });
  await writeFile(pathOf(cwd, '.url'), `${url}\n`);
}

it.each([
  ['answers 200 to everything', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  [
    'claims to have a proof',
    `HTTP/1.1 204 No Content\r\nx-served-data-file: ${'0'.repeat(64)}\r\nx-served-dialects: neutral neutral\r\n\r\n`,
  ],
  [
    'never ends its answer',
    `HTTP/1.1 200 OK\r\nx-served-data-file: ff\r\nx-served-dialects: neutral neutral\r\n\r\n${'x'.repeat(65_536)}`,
  ],
  ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['is silent', ''],
])('A foreign server at the port of a former service that %s gets no token', async (_who, text) => {
  const cwd = embeddedStack();
  const foreign = await listen(answering(text));
  await writeUrl(cwd, foreign.url);
  await expectNoToken(cwd, foreign);
  expect(foreign.received()).toMatch(/^GET /);
});

it('A foreign server that relays the challenge to the real service gets no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const foreign = await listen(relayingTo(serving.url));
  await writeUrl(cwd, foreign.url);
  await expectNoToken(cwd, foreign);
  expect(foreign.received()).toMatch(/^GET /);
});

it('A foreign server that redirects the challenge to the real service gets no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const location = `${serving.url}/served-data-file?challenge=${'0'.repeat(64)}`;
  const foreign = await listen(
    answering(`HTTP/1.1 307 Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
  );
  await writeUrl(cwd, foreign.url);
  await expectNoToken(cwd, foreign);
});

it('A foreign server that took the port and replays a former proof gets no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const answer = await fetch(`${serving.url}/served-data-file?challenge=${'0'.repeat(64)}`);
  const proof = answer.headers.get('x-served-data-file');
  expect(proof).toMatch(/^[0-9a-f]{64}$/);
  await serving.stop('SIGKILL');
  const repeating = answering(
    `HTTP/1.1 204 No Content\r\nx-served-data-file: ${proof}\r\nx-served-dialects: neutral neutral\r\n\r\n`,
  );
  const foreign = await listen(repeating, Number(new URL(serving.url).port));
  expect(foreign.url).toBe((await readFile(pathOf(cwd, '.url'), 'utf8')).trim());
  await expectNoToken(cwd, foreign);
});

it('A copied folder does not use the service of the original folder', async () => {
  const original = embeddedStack();
  const serving = await serveProcess([], { cwd: original });
  expect((await trueup(['apply', '--yes'], { cwd: original })).code).toBe(0);
  const copy = `${original}-copy`;
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp(original, copy, { recursive: true });
  await edit(join(copy, 'manifests', 'all.yaml'), '"env":"prod"', '"env":"copied"');
  expect((await trueup(['apply', '--yes'], { cwd: copy })).code).toBe(0);
  await serving.stop();
  expect((await trueup(['plan', '--exit-code'], { cwd: original })).code).toBe(0);
});

it('No request is sent to an address that is not the loopback address', async () => {
  const cwd = embeddedStack();
  const foreign = await listen(answering(''));
  await writeUrl(cwd, foreign.url.replace('127.0.0.1', 'localhost'));
  await expectNoToken(cwd, foreign);
  expect(foreign.received()).toBe('');
});
