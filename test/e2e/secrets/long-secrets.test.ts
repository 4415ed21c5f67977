/** A secret of any length is redacted, and no bug prints one (docs/safety.md, "No secret is shown"). */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trueupProcess } from '../../support/cli/process.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { documentsText, stackText, workspacesTarget } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

/** What has the form of a JWT, of some 8,000 characters. */
function longJwt(): string {
  return [30, 5_800, 150].map((bytes) => randomBytes(bytes).toString('base64url')).join('.');
}

const run = (stack: Checkout, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  trueupProcess(args, { cwd: stack.directory, env: { ...secrets, ...env } });

/** No eight characters of the middle of a secret, and no stack trace of ours. */
function expectHidden(text: string, secret: string): void {
  for (const start of [100, 3_000, 7_000]) expect(text).not.toContain(secret.slice(start, start + 8));
  expect(text).not.toMatch(/SyntaxError|^ +at /m);
}

it('a reviewer JWT of 8,000 characters is not printed by an apply beside escapes, nor where a live value repeats it', async () => {
  const jwt = longJwt();
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(workspace('app', { description: 'first' }), clusterAuthConfig());
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

it('a login JWT of 8,000 characters is not printed by a plan as JSON', async () => {
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

it('a JWT of 8,000 characters is not printed by a check of a role', async () => {
  const jwt = longJwt();
  const stack = await (await openBench()).checkout();
  await stack.begin(role('web'));
  await writeFile(join(stack.directory, 'ci.jwt'), jwt);
  const { out, err } = await run(stack, ['role', 'check', 'web', '--jwt', 'ci.jwt', '--format', 'json']);
  expectHidden(out + err, jwt);
  expect(() => JSON.parse(out)).not.toThrow();
});

it('a bug whose message holds a token is printed without it', async () => {
  const server = createServer((_, answer) => {
    answer.statusCode = 503;
    answer.end();
  });
  const { port } = await listenForTest(server);
  const folder = temporaryFolder();
  // The wait before a retry is random: this is the first thing that a run does with chance.
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
