/** Whoever listens where a service once was gets no token: only who proves that it serves the very data file does. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { edit } from '../../support/cli/example-copy.ts';
import { serveProcess } from '../../support/cli/process.ts';
import { listenForTest } from '../../support/rig/listen.ts';

interface Stranger {
  readonly url: string;
  /** every byte that came in */
  heard(): string;
}

/** Listens on loopback, keeps all that it hears, and treats each connection so. */
async function listen(treat: (socket: Socket) => void, port = 0): Promise<Stranger> {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
    });
    treat(socket);
  });
  const { url } = await listenForTest(server, port);
  return { url, heard: () => heard };
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

const placeOf = (cwd: string, suffix: string) => join(cwd, '.trueup', `embedded.db${suffix}`);

/** The stack is applied, and the stranger has heard neither token. */
async function expectNoToken(cwd: string, { heard }: Stranger): Promise<void> {
  expect(await trueup(['apply', '--yes'], { cwd })).toMatchObject({ code: 0, err: '' });
  const tokens = JSON.parse(await readFile(placeOf(cwd, '.tokens.json'), 'utf8')) as Record<string, string>;
  for (const token of Object.values(tokens)) expect(heard()).not.toContain(token);
  expect(heard()).not.toMatch(/authorization|x-service-token/i);
  expect((await trueup(['plan', '--exit-code'], { cwd })).code).toBe(0);
}

async function point(cwd: string, url: string): Promise<void> {
  await mkdir(join(cwd, '.trueup'), { recursive: true });
  await writeFile(placeOf(cwd, '.url'), `${url}\n`);
}

it.each([
  ['answers everything with yes', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  [
    'claims to prove',
    `HTTP/1.1 204 No Content\r\nx-served-data-file: ${'0'.repeat(64)}\r\nx-served-dialects: neutral neutral\r\n\r\n`,
  ],
  [
    'never ends its answer',
    `HTTP/1.1 200 OK\r\nx-served-data-file: ff\r\nx-served-dialects: neutral neutral\r\n\r\n${'x'.repeat(65_536)}`,
  ],
  ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['is silent', ''],
])('a stranger at the port of a service that is gone, who %s, hears no token', async (_who, text) => {
  const cwd = embeddedStack();
  const stranger = await listen(answering(text));
  await point(cwd, stranger.url);
  await expectNoToken(cwd, stranger);
  expect(stranger.heard()).toMatch(/^GET /);
});

it('a stranger who passes the question on to the real service hears no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const stranger = await listen(relayingTo(serving.url));
  await point(cwd, stranger.url);
  await expectNoToken(cwd, stranger);
  expect(stranger.heard()).toMatch(/^GET /);
});

it('a stranger who sends the question on to the real service hears no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const location = `${serving.url}/served-data-file?challenge=${'0'.repeat(64)}`;
  const stranger = await listen(
    answering(`HTTP/1.1 307 Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
  );
  await point(cwd, stranger.url);
  await expectNoToken(cwd, stranger);
});

it('a stranger who took the port and repeats what the service said there hears no token', async () => {
  const cwd = embeddedStack();
  const serving = await serveProcess([], { cwd });
  const told = await fetch(`${serving.url}/served-data-file?challenge=${'0'.repeat(64)}`);
  const proof = told.headers.get('x-served-data-file');
  expect(proof).toMatch(/^[0-9a-f]{64}$/);
  await serving.stop('SIGKILL');
  const repeating = answering(
    `HTTP/1.1 204 No Content\r\nx-served-data-file: ${proof}\r\nx-served-dialects: neutral neutral\r\n\r\n`,
  );
  const stranger = await listen(repeating, Number(new URL(serving.url).port));
  expect(stranger.url).toBe((await readFile(placeOf(cwd, '.url'), 'utf8')).trim());
  await expectNoToken(cwd, stranger);
});

it('the service of a folder that was copied is not used by the copy', async () => {
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

it('nothing is asked of an address that is none of this machine', async () => {
  const cwd = embeddedStack();
  const stranger = await listen(answering(''));
  await point(cwd, stranger.url.replace('127.0.0.1', 'localhost'));
  await expectNoToken(cwd, stranger);
  expect(stranger.heard()).toBe('');
});
