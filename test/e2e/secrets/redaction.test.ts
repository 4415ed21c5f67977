/** No secret that a run knows is printed, regardless of its source and of who repeats it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';

async function readLedger({ directory }: Checkout): Promise<string> {
  return readFile(join(directory, '.trueup', 'payments.ledger.json'), 'utf8');
}

describe('A secret of one target', () => {
  it('is not shown if another target repeats it in an error', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    const body = { errors: [{ status: '422', title: `proxy saw ${secrets.SERVICE_TOKEN} pass` }] };
    bench.wire.add({ method: 'POST', path: /organizations\/acme\/workspaces/, fault: { answer: 422, body } });
    const { code, out, err } = await stack.tryRun(['apply', '--yes']);
    expect(code).toBe(6);
    expect(out).toContain('proxy saw [secret] pass');
    expect(out + err + (await readLedger(stack))).not.toContain(secrets.SERVICE_TOKEN);
    const { out: history } = await stack.run(['history', '--format', 'json'], 0);
    expect(history).not.toContain(secrets.SERVICE_TOKEN);
  });

  it('is not shown if somebody wrote it into a description, and a plan as JSON stays valid', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'ours' }));
    await bench.byHand.update(await bench.idOf('app'), { description: `see ${secrets.SERVICE_TOKEN}` });
    const { out } = await stack.run(['plan'], 0);
    expect(out).toContain('see [secret]');
    const { out: json } = await stack.run(['plan', '--format', 'json'], 0);
    expect(json).not.toContain(secrets.SERVICE_TOKEN);
    expect(JSON.parse(json).changes).toHaveLength(1);
  });

  it('is not shown if a service or a person repeats it in base64, in hex or percent-encoded', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const basic = Buffer.from(`ci:${secrets.SERVICE_TOKEN}`).toString('base64');
    const hex = Buffer.from(secrets.API_TOKEN).toString('hex');
    const percent = hex.toUpperCase().replace(/../g, '%$&');
    await stack.setUp(workspace('app', { description: 'ours' }));
    await bench.byHand.update(await bench.idOf('app'), { description: `Basic ${basic} ${hex}` });
    const body = { errors: [{ status: '422', title: `?token=${percent}&basic=${basic}` }] };
    bench.wire.add({ method: 'PATCH', path: /workspaces/, fault: { answer: 422, body } });
    const planned = await stack.run(['plan'], 0);
    const json = await stack.run(['plan', '--format', 'json'], 0);
    const applied = await stack.run(['apply', '--yes'], 1);
    const printed = planned.out + json.out + applied.out + applied.err;
    expect(planned.out).toContain('Basic Y2k[secret] [secret]');
    expect(applied.out).toContain('?token=[secret]&basic=Y2k[secret]');
    expect(JSON.parse(json.out).changes).toHaveLength(1);
    for (const shown of [basic.slice(4), hex, percent]) expect(printed).not.toContain(shown);
  });

  it('is not shown or stored if a service or a person wraps it into lines', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const token = `hvs.${'CAESIJz0tQ7wAb3dEfGh'.repeat(9)}`;
    const wrapped = (lineBreak: string) => (token.match(/.{1,76}/g) ?? []).join(lineBreak);
    const env = { ...secrets, ...stack.env, REVIEWER_JWT: token };
    const run = (args: readonly string[]) => trueup(args, { cwd: stack.directory, env });
    await stack.setUp(workspace('app', { description: 'ours' }));
    await bench.byHand.update(await bench.idOf('app'), { description: `see ${wrapped('\n> ')}` });
    await stack.declare(
      workspace('app', { description: 'ours' }),
      clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 1 } }),
    );
    const body = { errors: [`invalid token: ${wrapped('\n')}`] };
    bench.wire.add({ method: 'POST', path: /\/config$/, fault: { answer: 400, body } });
    const { out, err } = await run(['apply', '--yes']);
    expect(out).toContain('answered 400: invalid token: [secret]');
    const { out: history } = await run(['history', 'show', 'latest', '--format', 'json']);
    expect(history).toContain('see [secret]');
    for (const text of [out, err, history]) expect(text).not.toContain(token.slice(-20));
  });

  it('that is a short word does not make plans unreadable', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { token: { env: 'SHORT' } } });
    await stack.declare(workspace('app'));
    const { out } = await trueup(['plan'], { cwd: stack.directory, env: { ...secrets, SHORT: 'create' } });
    expect(out).toContain('+ create  Workspace/acme/app');
  });
});

describe('A proxy address', () => {
  it.each([
    'http://ci:planted-proxy-pw@[bad',
    'socks5://ci:planted-proxy-pw@proxy',
    'http://ci:planted-proxy-pw%zz@proxy',
    'http://proxy:9/?pw=planted-proxy-pw',
    'http://proxy:9/planted-proxy-pw',
    'http://proxy:9#planted-proxy-pw',
  ])('that is not valid (%s) is an error that names the variable and not its value', async (proxy) => {
    const stack = await (await openBench()).checkout({ workspaces: { url: 'https://automation.invalid' } });
    await stack.declare(workspace('app'));
    const { code, out, err } = await trueup(['plan'], {
      cwd: stack.directory,
      env: { ...secrets, HTTPS_PROXY: proxy },
    });
    expect(code).toBe(1);
    expect(err).toContain('error: the environment variable "HTTPS_PROXY" is not the address of a proxy');
    expect(out + err).not.toContain('planted-proxy-pw');
    expect(err).not.toMatch(/^ +at /m);
  });
});
