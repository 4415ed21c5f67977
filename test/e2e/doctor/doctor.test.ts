// trueup doctor for a healthy stack, and what it reports about tokens, addresses, dialects and rights.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { runDoctor } from '../../support/cli/doctor-report.ts';
import { isRead } from '../../support/cli/faulty-proxy.ts';

const at = ({ directory, env }: Checkout, more: Record<string, string> = {}) => ({
  cwd: directory,
  env: { ...env, ...more },
});

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`)
    .sort();
}

describe('trueup doctor', () => {
  it('prints one line for each check and exits with 0 if the stack is healthy', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('new'), role('web'));
    const { out } = await stack.run(['doctor'], 0);
    expect(out).toMatch(/^Stack payments\n✓ node +Node v\d+/);
    expect(out).toMatch(/^✓ lock +not held$/m);
    expect(out).toMatch(/^Target acme: workspaces of acme at http:\S+ \(\S+\)\n✓ address /m);
    for (const label of ['proxy', 'tls', 'service', 'clock', 'token', 'organization', 'mount', 'rights'])
      expect(out).toMatch(new RegExp(`^✓ ${label} `, 'm'));
    expect(out).toMatch(/^Nothing found that would stop an apply$/m);
    expect(out).not.toMatch(/✗|!/);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  });

  it('sends only reads and the query for rights, takes no lock and writes no file', async () => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    const stack = await bench.checkout();
    await stack.setUp(workspace('new'), role('web'));
    const before = filesOf(stack.directory);
    await runDoctor(at(stack));
    expect(bench.wire.seen.length).toBeGreaterThan(8);
    expect(bench.wire.seen.filter((request) => !isRead(request))).toEqual([]);
    expect(bench.wire.seen.some(({ path }) => path.endsWith('/capabilities-self'))).toBe(true);
    expect(filesOf(stack.directory)).toEqual(before);
  });

  it('does not start the embedded service, and leaves its folder as it is', async () => {
    const directory = embeddedStack();
    const before = filesOf(directory);
    const found = await runDoctor({ cwd: directory });
    expect(found).toMatchObject({ code: 0, healthy: true });
    expect(found.of('address', 'acme')).toEqual(['info unchecked']);
    expect(filesOf(directory)).toEqual(before);
  });

  it('checks what needs no stack if there is no stack file', async () => {
    const bench = await openBench();
    const { directory } = await bench.checkout();
    const found = await runDoctor({ cwd: directory }, 'gone.yaml');
    expect(found).toMatchObject({ code: 1, healthy: false, summary: { errors: 1 } });
    expect(found.one('stack-invalid').message).toContain('gone.yaml');
    expect(found.of('node')).toEqual(['ok node']);
    expect(found.of('git')).toEqual(['info git-no-repository']);
    expect(found.of('ci')).toEqual(['ok ci']);
    expect(found.of('ledger')).toEqual(['info unchecked']);
    expect(found.stack).toBeUndefined();
  });

  it('reports mistakes in the stack file, and checks the other targets', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ workspaces: { dialect: 'klingon' } });
    await stack.declare(role('web'));
    const found = await runDoctor(at(stack));
    expect(found.one('stack-invalid').message).toMatch(/^trueup\.yaml:1: .*dialect/);
    expect(found.findings.some(({ target }) => target === 'acme')).toBe(false);
    expect(found.of('rights', 'prod')).toEqual(['ok rights']);
    expect(found.of('lock')).toEqual(['ok lock']);
    expect(found.code).toBe(1);
  });

  it('reports mistakes in manifests, and checks the rest', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(role('web'), { ...workspace('app'), spec: { unheard: 1 } });
    const found = await runDoctor(at(stack));
    expect(found.one('manifests-invalid').message).toContain('unheard');
    expect(found.of('token', 'acme')).toEqual(['ok token']);
    expect(found.code).toBe(1);
  });
});

describe('trueup doctor reports about the token of a target', () => {
  it('that it is missing, and still checks the other targets', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    const { API_TOKEN: _, ...env } = secrets;
    const found = await runDoctor({ cwd: stack.directory, env });
    const { message, fix } = found.one('token-missing', 'acme');
    expect(message).toContain('the environment variable "API_TOKEN" is not set');
    expect(fix).toContain('set the variable');
    expect(found.of('service', 'acme')).toEqual(['ok service']);
    expect(found.of('rights', 'acme')).toEqual(['info unchecked']);
    expect(found.of('rights', 'prod')).toEqual(['ok rights']);
    expect(found.code).toBe(1);
  });

  it('that the service refuses it, without showing it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), role('web'));
    const wrong = { API_TOKEN: 'wrong-token-of-workspaces', SERVICE_TOKEN: 'wrong-token-of-secrets' };
    const found = await runDoctor(at(stack, wrong));
    expect(found.one('token-refused', 'acme')).toMatchObject({
      level: 'error',
      fix: 'put a token that is valid into the environment variable "API_TOKEN"',
    });
    expect(found.one('token-refused', 'prod').message).toContain('403');
    for (const token of Object.values(wrong)) expect(found.written).not.toContain(token);
  });

  it('that the service refuses it, and masks a token that the answer repeats', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    bench.wire.add({ path: /\/organizations\/acme\/workspaces/, times: 9, fault: { repeat: 401 } });
    const { code, out, err } = await trueup(['doctor'], at(stack));
    expect(code).toBe(1);
    expect(out).toContain('the service does not accept the token');
    for (const secret of Object.values(secrets)) expect(out + err).not.toContain(secret);
  });
});

describe('trueup doctor reports about the organization or mount of a target', () => {
  it('that the organization does not exist, with the nearest name', async () => {
    const bench = await openBench({ others: ['acme-labs'] });
    const stack = await bench.checkout({ workspaces: { organization: 'acme-lab' } });
    const found = await runDoctor(at(stack));
    const { message, fix } = found.one('organization-missing');
    expect(found.findings.find(({ check }) => check === 'rights')?.message).toContain('"organization"');
    expect(message).toContain('there is no organization "acme-lab"');
    expect(fix).toContain('did you mean "acme-labs"?');
    expect(found.of('token', 'acme')).toEqual(['ok token']);
  });

  it('that the mount does not exist, with the nearest name', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ clusterAuth: { mount: 'clutser' } });
    const found = await runDoctor(at(stack));
    const rights = found.findings.find(({ check, target }) => check === 'rights' && target === 'prod');
    expect(rights?.message).toContain('"mount"');
    expect(found.one('mount-missing').fix).toContain('did you mean "cluster"?');
    expect(found.of('token', 'prod')).toEqual(['ok token']);
  });
});

describe('trueup doctor recognizes the dialect of a service', () => {
  it('by the names in a workspace', async () => {
    const bench = await openBench({
      dialects: ['hcp-terraform'],
      organization: { workspaces: [{ name: 'app' }] },
    });
    const stack = await bench.checkout({ workspaces: { dialect: 'neutral' } });
    const { message, fix } = (await runDoctor(at(stack))).one('dialect-differs', 'acme');
    expect(message).toContain('"neutral", and the service speaks "hcp-terraform"');
    expect(fix).toBe('write "dialect: hcp-terraform" into the target');
  });

  it('by the header in which a secrets service takes the token', async () => {
    const bench = await openBench({ dialects: ['vault'], mounts: ['cluster'] });
    const stack = await bench.checkout({ clusterAuth: { dialect: 'neutral' } });
    const found = await runDoctor(at(stack));
    expect(found.one('dialect-differs', 'prod').message).toContain('the service speaks "vault"');
  });

  it('by the config of a mount, if two dialects have the same names', async () => {
    const bench = await openBench({ dialects: ['vault'] });
    const vault = await bench.checkout({ clusterAuth: { dialect: 'vault' } });
    await vault.setUp(clusterAuthConfig());
    expect((await runDoctor(at(vault))).of('dialect', 'prod')).toEqual(['ok dialect']);
    const openbao = await vault.reconfigure({ clusterAuth: { dialect: 'openbao' } });
    const found = await runDoctor(at(openbao));
    expect(found.one('dialect-differs', 'prod').fix).toContain('dialect: vault');
  });

  it('but not of an old release that looks like another service', async () => {
    const bench = await openBench({ dialects: ['openbao'] });
    const stack = await bench.checkout({ clusterAuth: { dialect: 'openbao' } });
    await stack.setUp(clusterAuthConfig());
    expect((await runDoctor(at(stack))).of('dialect', 'prod')).toEqual(['ok dialect']);
    const vault = await stack.reconfigure({ clusterAuth: { dialect: 'vault' } });
    const found = await runDoctor(at(vault));
    expect(found.one('dialect-unknown', 'prod')).toMatchObject({ level: 'info' });
    expect(found.one('dialect-unknown', 'prod').message).toContain('"openbao"');
  });

  it('but not without a workspace, and says so', async () => {
    const bench = await openBench({ dialects: ['neutral'] });
    const stack = await bench.checkout({ workspaces: { dialect: 'neutral' } });
    const found = await runDoctor(at(stack));
    expect(found.one('dialect-unknown', 'acme')).toMatchObject({ level: 'info' });
    expect(found.code).toBe(0);
  });
});

describe('trueup doctor finds which rights a token lacks', () => {
  it('for each kind', async () => {
    const bench = await openBench({
      organization: { workspaces: [{ name: 'app' }] },
      readOnly: [
        { path: 'auth/*', capabilities: ['read', 'list'] },
        { path: 'sys/capabilities-self', capabilities: ['update'] },
      ],
    });
    const stack = await bench.checkout({
      workspaces: { token: { env: 'READ_API_TOKEN' } },
      clusterAuth: { token: { env: 'READ_SERVICE_TOKEN' } },
    });
    await stack.declare(
      workspace('app', { tags: { env: 'prod' } }),
      workspace('new'),
      role('web'),
      clusterAuthConfig(),
    );
    const found = await runDoctor(at(stack));
    const missing = found.findings.filter(({ id }) => id === 'right-missing').map(({ message }) => message);
    expect(missing).toEqual([
      'this token lacks "can-update", which an apply needs for Workspace "app"',
      'this token lacks "can-manage-tags", which an apply needs for TagBindings "app"',
      'this token lacks "can-create-workspace", which an apply needs for Workspace "new"',
      'this token lacks "create", which an apply needs for ClusterAuthRole "web"',
      expect.stringMatching(/^this token lacks "update", .* ClusterAuthConfig /),
    ]);
    expect(found.code).toBe(1);
  });

  it('before any manifest is written', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { manifests: [] } });
    const found = await runDoctor(at(stack));
    expect(found.findings.find(({ check }) => check === 'rights')).toMatchObject({
      level: 'ok',
      message: 'may create workspaces',
    });
  });
});

describe('trueup doctor reports about secrets', () => {
  it('that a source is missing which an apply needs', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(clusterAuthConfig({ tokenReviewerJwt: { env: 'NOT_THERE' } }));
    const found = await runDoctor(at(stack));
    const { message, level } = found.one('secret-missing');
    expect(level).toBe('error');
    expect(message).toContain('"NOT_THERE" is not set');
    expect(message).toContain('ClusterAuthConfig/prod');
  });
});
