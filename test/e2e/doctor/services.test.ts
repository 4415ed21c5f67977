// What trueup doctor reports about missing features of a service, logins, tokens and namespaces, and how it ends when interrupted.
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { runDoctor } from '../../support/cli/doctor-report.ts';
import { startTrueup } from '../../support/cli/process.ts';
import { openSilentServer } from '../../support/cli/silent-server.ts';
import { listen } from '../../support/http/loopback.ts';
import { clusterAuthTarget, documentsText, stackText } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { publicKeyOf } from '../../support/server/cluster-auth/issuing-cluster.ts';
import { type Logins, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';
import { type Lack, lacking } from '../../support/simulation/limited-service.ts';

describe('trueup doctor reports what a service lacks', () => {
  const open = async (missing: readonly Lack[], target: object = {}) => {
    const bench = await openBench({ organization: { workspaces: [{ name: 'app' }] } });
    bench.wire.setHandler(lacking(...missing));
    const stack = await bench.checkout({ workspaces: target });
    await stack.declare(workspace('app'));
    return runDoctor({ cwd: stack.directory, env: stack.env });
  };

  it('as information, if the stack does not need it', async () => {
    const found = await open(['safe-delete', 'included-tags']);
    const features = found.findings.filter(({ check, target }) => check === 'features' && target === 'acme');
    expect(features.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      expect.stringContaining('info: the service does not include tag bindings'),
      'info: the service has no safe delete',
    ]);
    expect(found.code).toBe(0);
  });

  it('as an error, if the stack needs a setting before it can be applied', async () => {
    const found = await open(['tag-bindings']);
    expect(found.one('feature-needed', 'acme')).toMatchObject({
      level: 'error',
      fix: expect.stringContaining('ownership: ledger'),
    });
    expect(found.of('rights', 'acme')).toEqual(['info unchecked']);
    const kept = await open(['tag-bindings'], { ownership: 'ledger' });
    expect(kept.one('feature-missing', 'acme').message).toContain('the service has no tag bindings');
    expect(kept.code).toBe(0);
  });
});

it('trueup doctor warns that the service refuses the token for the audit trail', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ workspaces: { auditToken: { env: 'AUDIT_TOKEN' } } });
  await stack.declare(workspace('app'));
  const env = { ...stack.env, AUDIT_TOKEN: 'planted-wrong-token-5d21' };
  const found = await runDoctor({ cwd: stack.directory, env });
  const { level, message } = found.one('audit-token-unusable', 'acme');
  expect([level, found.code]).toEqual(['warning', 0]);
  expect(message).toContain('the service refuses this "auditToken"');
  expect(found.written).not.toContain(env.AUDIT_TOKEN);
  expect(bench.wire.writes()).toEqual([]);
});

/** A stack that logs in at the mount that it manages. @param ci more fields of the role that it logs in with */
async function withLogin(ci: object = {}, jwt?: string): Promise<{ logins: Logins; cwd: string }> {
  const rules = [
    { path: 'auth/cluster/config', capabilities: ['read', 'update'] as const },
    { path: 'auth/cluster/role', capabilities: ['list'] as const },
    { path: 'auth/cluster/role/*', capabilities: ['create', 'read', 'update', 'delete'] as const },
  ];
  const logins = await serveLogins({ dialect: 'neutral', seed: { policies: [{ name: 'manager', rules }] } });
  await logins.configure({ pem_keys: [publicKeyOf('ES256')] });
  await logins.role({ token_policies: ['manager'], audience: 'service', ...ci }, 'ci');
  const token = { login: { mount: 'cluster', role: 'ci', jwt: { file: 'ci.jwt' } } };
  const cwd = temporaryFolder({
    'trueup.yaml': stackText({ targets: [clusterAuthTarget(logins.url, { token, owns: ['*'] })] }),
    'manifests.yaml': documentsText([role('web')]),
    'ci.jwt': jwt ?? (await logins.cluster.issue()),
  });
  return { logins, cwd };
}

async function tokensOf(logins: Logins): Promise<number> {
  const { data } = await logins.send('LIST', 'auth/token/accessors');
  return (data['keys'] as readonly unknown[]).length;
}

describe('trueup doctor with a target that logs in', () => {
  it('logs in, checks the rights that the role gives, and leaves no token behind', async () => {
    const { logins, cwd } = await withLogin();
    const before = await tokensOf(logins);
    const found = await runDoctor({ cwd });
    expect(found.of('token')).toEqual(['ok token']);
    expect(found.of('rights')).toEqual(['ok rights']);
    expect(found.code).toBe(0);
    expect(await tokensOf(logins)).toBe(before);
  });

  it('reports that the role refuses the login, without showing the JWT', async () => {
    const { cwd } = await withLogin({ bound_service_account_names: ['somebody-else'] });
    const found = await runDoctor({ cwd });
    expect(found.one('login-refused').message).toContain('the login as role "ci" at mount "cluster"');
    expect(found.one('login-refused').fix).toContain('trueup role check');
    expect(found.written).not.toMatch(/eyJ[\w-]{10,}/);
  });

  it('reports that the file holds no JWT, and does not send its content', async () => {
    const text = 'planted-password-and-no-jwt';
    const { cwd } = await withLogin({}, text);
    const found = await runDoctor({ cwd });
    expect(found.one('token-missing').message).toContain('is not a JWT');
    expect(found.written).not.toContain(text);
  });
});

describe('trueup doctor reports about a secrets service', () => {
  it('that its namespace does not exist', async () => {
    const { url } = await listen(({ path }) =>
      path.includes('health')
        ? { body: { initialized: true, sealed: false, standby: false } }
        : { status: 404, body: { errors: ['namespace not found'] } },
    );
    const cwd = temporaryFolder({
      'trueup.yaml': stackText({
        targets: [clusterAuthTarget(url, { namespace: 'platfrom' })],
        manifests: [],
      }),
    });
    const found = await runDoctor({ cwd, env: { SERVICE_TOKEN: 'planted-token-91' } });
    expect(found.one('namespace-missing')).toMatchObject({
      level: 'error',
      message: expect.stringContaining('there is no namespace "platfrom"'),
      fix: 'correct "namespace" of the target',
    });
  });
});

describe('trueup doctor reports about the token of a secrets service', () => {
  it.each([
    [{ ttl: 120, num_uses: 0 }, 'token-ends-soon', 'is valid for 120 more seconds'],
    [{ ttl: 3600, num_uses: 9 }, 'token-limited', 'may be used for 9 more requests'],
  ])('that it ends soon: %j', async (data, id, message) => {
    const { url } = await listen(({ path }) =>
      path.endsWith('/lookup-self') ? { body: { data } } : { status: 404, body: { errors: [] } },
    );
    const cwd = temporaryFolder({
      'trueup.yaml': stackText({ targets: [clusterAuthTarget(url)], manifests: [] }),
    });
    const found = await runDoctor({ cwd, env: { SERVICE_TOKEN: 'planted-token-91' } });
    expect(found.of('token')).toEqual([`warning ${id}`]);
    expect(found.findings.find(({ check }) => check === 'token')?.message).toContain(message);
  });
});

describe('trueup doctor', () => {
  it('ends at once with 130 when it is interrupted, and answers JSON', async () => {
    const server = await openSilentServer();
    const cwd = temporaryFolder({
      'trueup.yaml': stackText({
        targets: [clusterAuthTarget(`http://127.0.0.1:${server.port}`)],
        manifests: [],
      }),
    });
    const running = startTrueup(['doctor', '--format', 'json'], {
      cwd,
      env: { SERVICE_TOKEN: 'planted-token-91' },
    });
    await server.reached;
    running.kill('SIGINT');
    const { code, out } = await running.ended;
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ diagnostics: [{ code: 'interrupted' }] });
  });

  it('reports at its time limit what it knows', async () => {
    const server = await openSilentServer();
    const cwd = temporaryFolder({
      'trueup.yaml': stackText({
        targets: [clusterAuthTarget(`http://127.0.0.1:${server.port}`)],
        manifests: [],
      }),
    });
    const found = await runDoctor({ cwd, env: { SERVICE_TOKEN: 'planted-token-91' } }, '--timeout', '1s');
    expect(found.one('service-failing').message).toContain('this run has reached its timeout of 1s');
    expect(found.of('lock')).toEqual(['ok lock']);
    expect(found.code).toBe(1);
  });
});
