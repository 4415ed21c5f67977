/** A secret of any length is redacted, and no bug prints one (docs/guides/safety.md, "No secret is shown"). */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import {
  clusterAuthTarget,
  documentsText,
  stackText,
  workspacesTarget,
} from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** A text in the form of a JWT, with about 8,000 characters. */
function longJwt(): string {
  return [30, 5_800, 150].map((bytes) => randomBytes(bytes).toString('base64url')).join('.');
}

const run = (stack: Checkout, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  trueupProcess(args, { cwd: stack.directory, env: { ...secrets, ...env } });

/** Expects no eight characters from the middle of a secret, and no stack trace. */
function expectHidden(text: string, secret: string): void {
  for (const start of [100, 3_000, 7_000]) expect(text).not.toContain(secret.slice(start, start + 8));
  expect(text).not.toMatch(/SyntaxError|^ +at /m);
}

it('An apply does not print a reviewer JWT of 8,000 characters, not even one in a live value beside escapes', async () => {
  const jwt = longJwt();
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'first' }), clusterAuthConfig());
  await writeFile(join(stack.directory, 'reviewer.jwt'), jwt);
  await bench.byHand.update(await bench.idOf('app'), { description: `100% "~\\ ${jwt}` });
  await stack.declare(
    workspace('app', { description: '50% "~\\' }),
    clusterAuthConfig({ tokenReviewerJwt: { file: 'reviewer.jwt' } }),
  );
  const { code, out, err } = await run(stack, ['apply', '--yes']);
  expectHidden(out + err, jwt);
  expect(out).toContain(' [secret]"');
  expect(code).toBe(0);
});

it('A plan as JSON does not print a login JWT of 8,000 characters', async () => {
  const jwt = longJwt();
  const bench = await openBench();
  const login = { mount: 'kubernetes', role: 'ci', jwt: { env: 'LOGIN_JWT' } };
  const stack = await bench.checkout({ clusterAuth: { token: { login } } });
  await stack.declare(workspace('app', { description: '100% "~\\' }), role('web'));
  const body = { errors: [`no such account: ${encodeURIComponent(`${jwt}~`)}`] };
  bench.wire.add({ method: 'POST', path: /auth\/kubernetes\/login/, times: 9, fault: { answer: 400, body } });
  const { out, err } = await run(stack, ['plan', '--format', 'json'], { LOGIN_JWT: jwt });
  expectHidden(out + err, jwt);
  expect(JSON.stringify(JSON.parse(out))).toContain('no such account: [secret]');
});

it('"trueup role check" does not print a JWT of 8,000 characters', async () => {
  const jwt = longJwt();
  const stack = await (await openBench()).checkout();
  await stack.setUp(role('web'));
  await writeFile(join(stack.directory, 'ci.jwt'), jwt);
  const { out, err } = await run(stack, ['role', 'check', 'web', '--jwt', 'ci.jwt', '--format', 'json']);
  expectHidden(out + err, jwt);
  expect(() => JSON.parse(out)).not.toThrow();
});

it('The message of a bug that contains a token is printed without the token', async () => {
  const server = createServer((_, answer) => {
    answer.statusCode = 503;
    answer.end();
  });
  const { port } = await listenForTest(server);
  const folder = temporaryFolder();
  // The wait before a retry is the first random value that a run needs.
  const bug = 'Math.random = () => { throw new Error("this is a bug: " + process.env.API_TOKEN); };';
  await writeFile(join(folder, 'bug.mjs'), bug);
  const targets = [workspacesTarget(`http://127.0.0.1:${port}`)];
  await writeFile(join(folder, 'trueup.yaml'), stackText({ targets }));
  await writeFile(join(folder, 'manifests.yaml'), documentsText([workspace('app')]));
  const { code, out, err } = await trueupProcess(['plan'], {
    cwd: folder,
    env: { ...secrets, NODE_OPTIONS: `--import ${join(folder, 'bug.mjs')}` },
  });
  expect(err).toContain('Error: this is a bug: [secret]');
  expect(out + err).not.toContain(secrets.API_TOKEN);
  expect(code).toBe(1);
});

describe('If a text is shortened, no piece of a long secret is printed', () => {
  const formats = {
    validate: ['text', 'json', 'markdown', 'github', 'sarif'],
    plan: ['text', 'json', 'markdown', 'html', 'github'],
  };

  /** Expects no eight consecutive characters of the secret. */
  function expectNoPiece(text: string, secret: string): void {
    const lines = secret.split('\n');
    const pieces = lines.flatMap((line) =>
      Array.from({ length: line.length - 7 }, (_, at) => line.slice(at, at + 8)),
    );
    expect(pieces.filter((piece) => text.includes(piece))).toEqual([]);
  }

  async function outputsFor(secret: string, values: readonly string[]): Promise<string[]> {
    const folder = temporaryFolder();
    const targets = [workspacesTarget('http://127.0.0.1:9'), clusterAuthTarget('http://127.0.0.1:9')];
    await writeFile(join(folder, 'trueup.yaml'), stackText({ targets }));
    const documents = values.flatMap((value, at) => [
      workspace(`app-${at}`, { executionMode: value }),
      workspace(`web-${at}`, { description: value, bad: 1 }),
    ]);
    const text = documentsText([
      clusterAuthConfig({ tokenReviewerJwt: { env: 'JWT' }, clusterHost: 5 }),
      ...documents,
    ]);
    // In a document on one line, the value is beside a wrong field.
    const lines = values.map((value, at) => {
      const spec = `{ executionMode: ${JSON.stringify(value)}, bad: 1, description: ${JSON.stringify(value)} }`;
      return `apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: flow-${at} }\nspec: ${spec}\n`;
    });
    await writeFile(join(folder, 'manifests.yaml'), [text, ...lines].join('---\n'));
    const env = { ...secrets, JWT: secret };
    const outputs: string[] = [];
    for (const [command, all] of Object.entries(formats))
      for (const format of all) {
        const { code, out, err } = await trueup([command, '--format', format], { cwd: folder, env });
        expect(code).toBe(7);
        outputs.push(out + err);
      }
    return outputs;
  }

  it.each([81, 160, 5_000])('of %i characters, at any place in a line', async (length) => {
    const secret = randomBytes(length).toString('base64url').slice(0, length);
    const around = ['', 'before '.repeat(10)];
    const values = around.flatMap((before) => around.map((after) => `${before}${secret}${after}`));
    for (const output of await outputsFor(secret, values)) {
      expectNoPiece(output, secret);
      expect(output).toContain('[secret]');
    }
  });

  it('of several lines, as a whole or one line of it', async () => {
    const lines = [1, 2, 3].map(() => randomBytes(48).toString('base64url'));
    const secret = lines.join('\n');
    const values = [secret, `head\n${secret}\n`, lines[1] ?? '', `a ${lines[2]} b`];
    for (const output of await outputsFor(secret, values)) {
      expectNoPiece(output, secret);
      expect(output).toContain('[secret]');
    }
  });

  it('that a service repeats in an error of several hundred characters, or in a page', async () => {
    const secret = randomBytes(600).toString('base64url');
    const bodies = [
      JSON.stringify({ errors: [{ title: `${'x '.repeat(100)}${secret}`, detail: secret }] }),
      `<html><title>${'x '.repeat(100)}${secret}</title></html>`,
      `${'x '.repeat(120)}${secret}`,
    ];
    for (const body of bodies) {
      const server = createServer((_, answer) => answer.writeHead(403).end(body));
      const { port } = await listenForTest(server);
      const folder = temporaryFolder();
      const targets = [workspacesTarget(`http://127.0.0.1:${port}`), clusterAuthTarget('http://127.0.0.1:9')];
      await writeFile(join(folder, 'trueup.yaml'), stackText({ targets }));
      await writeFile(join(folder, 'manifests.yaml'), documentsText([workspace('app')]));
      for (const format of formats.plan) {
        const env = { ...secrets, SERVICE_TOKEN: secret };
        const { out, err } = await trueup(['plan', '--format', format], { cwd: folder, env });
        expectNoPiece(out + err, secret);
        expect(out + err).toMatch(/(?:x ){90}/);
      }
    }
  });

  it('in the requests of a plan, or beside a value that is cut', async () => {
    const secret = randomBytes(3_000).toString('base64url');
    const stack = await (await openBench()).checkout({ clusterAuth: { token: { env: 'OTHER' } } });
    await stack.declare(workspace('app', { description: `${'x'.repeat(350)}${secret}` }));
    for (const format of formats.plan) {
      const env = { ...secrets, OTHER: secret };
      const { out, err } = await trueup(['plan', '--calls', '--format', format], {
        cwd: stack.directory,
        env,
      });
      expectNoPiece(out + err, secret);
      expect(out + err).toContain('[secret]');
    }
  });
});
