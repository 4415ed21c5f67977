/** `--trace` shows requests and answers on stderr, and no secret: neither one of the run, nor one that only the service knows. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../../support/captured-host.ts';
import { trueup } from '../../support/captured-host.ts';
import { serveTrail, servedEvent } from '../../support/audit/trail-service.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';

const loginJwt = 'eyJhbGciOiJub25lIn0.cGxhbnRlZC1sb2dpbi1qd3Q.c2lnbmF0dXJl';
// They begin differently from the secrets of the run, because a common beginning would be redacted.
const cookie = 'cookie-of-the-service-0f3d';
const link = 'signature-of-the-service-77aa';
const given = 'token-of-the-service-18d2';
const planted = [...Object.values(secrets), loginJwt, cookie, link, given];

function expectNoSecret({ out, err }: Pick<CommandResult, 'out' | 'err'>): void {
  for (const secret of planted) expect(out + err).not.toContain(secret);
}

/** Adds secrets that only the service knows to an answer. */
function withPlanted(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return {
    ...body,
    auth: { client_token: given, accessor: given },
    wrap_info: { token: given },
    'hosted-state-download-url': `https://store/${given}?signature=${link}`,
    note: `see https://store/object?X-Signature=${link}`,
    items: [{ token: given }, { sensitive: true, value: given }],
  };
}

async function tracedRun(stack: Checkout, args: readonly string[], code: number): Promise<CommandResult> {
  const ran = await stack.run([...args, '--trace'], code);
  expectNoSecret(ran);
  expect(ran.err).toMatch(/^\d\d:\d\d:\d\d\.\d{3} → 1 (GET|POST|LIST) http:/m);
  expect(ran.err).toMatch(/← 1 200 in \d+(\.\d)? m?s \(\d+(\.\d)? k?B\)/);
  return ran;
}

function plantIn({ wire }: Bench): void {
  const set = { 'set-cookie': `session=${cookie}`, 'x-vault-token': given };
  wire.add({
    path: /cluster\/role/,
    times: 1,
    fault: { answer: 404, headers: set, body: withPlanted({ errors: [] }) },
  });
  wire.add({ method: 'GET', path: /./, times: 1000, fault: { rewrite: withPlanted } });
}

describe('A trace', () => {
  it('of plan, apply, drift, export and graph shows requests and answers, and no secret', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(
      workspace('app', { tags: { env: 'prod' } }),
      clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }),
      role('web'),
    );
    plantIn(bench);
    const planned = await tracedRun(stack, ['plan'], 0);
    expect(planned.err).toContain('authorization: [secret]');
    expect(planned.err).toContain('set-cookie: [secret]');
    expect(planned.err).toContain('"client_token": "[secret]"');
    const applied = await tracedRun(stack, ['apply', '--yes'], 0);
    expect(applied.err).toContain('"token_reviewer_jwt": "[secret]"');
    expect(applied.err).toMatch(/→ \d+ POST .*\/organizations\/acme\/workspaces$/m);
    expect(applied.err).toContain('"name": "app"');
    await tracedRun(stack, ['drift'], 0);
    await tracedRun(stack, ['export', '--all'], 0);
    await tracedRun(stack, ['graph'], 0);
  });

  it('of a target with a login hides the JWT and the token that it gets', async () => {
    const bench = await openBench();
    const login = { login: { mount: 'cluster', role: 'ci', jwt: { file: 'ci.jwt' } } };
    const stack = await bench.checkout({ clusterAuth: { token: login } });
    await writeFile(join(stack.directory, 'ci.jwt'), `${loginJwt}\n`);
    await stack.declare(role('web'));
    const auth = {
      client_token: secrets.SERVICE_TOKEN,
      accessor: given,
      lease_duration: 3600,
      renewable: false,
    };
    bench.wire.add({ method: 'POST', path: /\/login$/, fault: { answer: 200, body: { auth } } });
    bench.wire.add({ method: 'POST', path: /\/revoke-self$/, fault: { answer: 204 } });
    const { err } = await tracedRun(stack, ['plan'], 0);
    expect(err).toMatch(/→ \d+ POST .*\/auth\/cluster\/login$/m);
    expect(err).toContain('"jwt": "[secret]"');
    expect(err).toContain('"lease_duration": 3600');
    expect(err).toMatch(/→ \d+ POST .*\/auth\/token\/revoke-self$/m);
  });

  it('of an audit trail hides its token, and tokens in events', async () => {
    const more = { request: { id: 'r', token: given } };
    const trail = await serveTrail([servedEvent('e1', { more })], { token: secrets.READ_API_TOKEN });
    const bench = await openBench();
    const auditToken = { env: 'READ_API_TOKEN' };
    const stack = await bench.checkout({ workspaces: { url: trail.url, auditToken } });
    const { out, err } = await tracedRun(stack, ['audit', 'list'], 0);
    expect(out).toContain('workspace');
    expect(err).toMatch(/→ 1 GET .*\/organization\/audit-trail\?/);
    expect(err).toContain('"token": "[secret]"');
  });

  it('hides secrets of any target that a service repeats in a refusal', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), clusterAuthConfig({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    bench.wire.add({ method: 'POST', path: /./, times: 100, fault: { repeat: 400 } });
    const ran = await stack.run(['apply', '--yes', '--trace'], 1);
    expectNoSecret(ran);
    expect(ran.err).toContain('← ');
  });

  it.each([
    [`upstream failed: client_token=${given}`, 'upstream failed: client_token=[secret]'],
    [
      `<html><title>Bad gateway, password: ${given}</title></html>`,
      'a page "Bad gateway, password: [secret]"',
    ],
    [`<form>Log in <input name="csrf" value="${given}"></form>`, '<form>Log in <input></form>'],
  ])(
    'of an answer that is not JSON hides what may be a secret, and so does the error: %s',
    async (text, shown) => {
      const bench = await openBench();
      const stack = await bench.checkout();
      await stack.declare(workspace('app'));
      bench.wire.setHandler(async () => ({ status: 403, headers: { 'content-type': 'text/plain' }, text }));
      const ran = await stack.run(['plan', '--trace'], 1);
      expectNoSecret(ran);
      expect(ran.err).toContain(`(no JSON: ${shown})`);
    },
  );

  it('leaves JSON on stdout as it is', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    const plain = await stack.run(['plan', '--format', 'json'], 0);
    const traced = await stack.run(['plan', '--format', 'json', '--trace'], 0);
    expect(JSON.parse(traced.out).digest).toBe(JSON.parse(plain.out).digest);
    expect(plain.err).toBe('');
    expect(traced.err).toContain('→ 1 ');
  });

  it('shows each retry, and the reason for each wait', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'));
    bench.wire.add({ path: /acme\/workspaces/, fault: { answer: 429, headers: { 'retry-after': '0' } } });
    bench.wire.add({ path: /acme\/projects/, fault: { drop: 'before' } });
    const { err } = await stack.run(['plan', '--trace'], 0);
    expect(err).toContain('… waits 100 ms: "acme" answered 429');
    expect(err).toMatch(/→ \d+ GET .*\/acme\/workspaces\S* {2}\(try 2/);
    expect(err).toMatch(/← \d+ no answer after \d+ ms: /);
    expect(err).toMatch(/→ \d+ GET .*\/acme\/projects\S* {2}\(try 2/);
  });

  it('shows only the first items of a long list, and the beginning of a long text', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(
      ...Array.from({ length: 30 }, (_, at) => workspace(`app-${at}`, { description: 'x'.repeat(900) })),
    );
    const { err } = await stack.run(['plan', '--trace'], 0);
    const longest = Math.max(...err.split('\n').map(({ length }) => length));
    expect(longest).toBeLessThan(500);
    expect(err).toMatch(/… \d+ lines more/);
  });

  it('is written with TRUEUP_TRACE as well, unless it is empty or 0', async () => {
    const stack = await (await openBench()).checkout();
    await stack.declare(workspace('app'));
    const withTrace = (value: string) =>
      trueup(['plan'], { cwd: stack.directory, env: { ...secrets, TRUEUP_TRACE: value } });
    expect((await withTrace('1')).err).toContain('→ 1 GET');
    expect((await withTrace('0')).err).not.toContain('→');
    expect((await withTrace('')).err).not.toContain('→');
  });
});
