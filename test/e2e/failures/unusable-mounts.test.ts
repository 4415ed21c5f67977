/** A mount that cannot be used is reported once, after few requests, with what is wrong and what to do. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role } from '../../support/cli/documents.ts';

const names = Array.from({ length: 30 }, (_, index) => `web-${index}`);
const everything = [clusterAuthConfig(), ...names.map((name) => role(name))];

/** The one problem of a plan, with the number of requests to the mount that it took. */
async function onlyProblem(bench: Bench, stack: Checkout): Promise<{ message: string; requests: number }> {
  bench.wire.reset();
  const { problems, changes } = await stack.plan(1);
  expect(changes).toEqual([]);
  const fix = expect.stringContaining(
    'check that the token of the target is valid and may read mount "kubernetes"',
  );
  expect(problems).toMatchObject([{ code: 'target-unread', fix }]);
  const requests = bench.wire.seen.filter(({ path }) => path.startsWith('/v1/')).length;
  return { message: problems[0]?.message ?? '', requests };
}

const bao = { dialect: 'openbao', mount: 'kubernetes', owns: ['web-*'] };

async function openBao(target: object = {}): Promise<{ bench: Bench; stack: Checkout }> {
  const bench = await openBench({ dialects: ['openbao'], mounts: ['kubernetes'] });
  const stack = await bench.checkout({ clusterAuth: { ...bao, ...target } });
  await stack.declare(...everything);
  return { bench, stack };
}

const sealed = { answer: 503, body: { errors: ['Vault is sealed'] } };

describe('a service that is sealed', () => {
  it('is reported after one request, and apply writes nothing', async () => {
    const { bench, stack } = await openBao();
    bench.wire.add({ path: /^\/v1\//, times: 1000, fault: sealed });
    const { problems } = await stack.plan(1);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^target "prod" could not be read: the service is sealed and must be unsealed before it answers: GET \S+ answered 503: Vault is sealed$/,
      ),
    ]);
    expect(bench.wire.seen.filter(({ path }) => path.startsWith('/v1/'))).toHaveLength(1);
    await stack.run(['apply', '--yes'], 1);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('is reported by the login, too, and nothing is said about its role or JWT', async () => {
    const token = { login: { mount: 'kubernetes', role: 'ci', jwt: { env: 'REVIEWER_JWT' } } };
    const { bench, stack } = await openBao({ token });
    bench.wire.add({ path: /^\/v1\//, times: 1000, fault: sealed });
    const { problems } = await stack.plan(1);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain('the service is sealed');
    expect(problems[0]?.message).not.toContain('JWT');
    expect(bench.wire.seen.filter(({ path }) => path.startsWith('/v1/'))).toHaveLength(1);
  });
});

it('a standby without an active node is reported as one', async () => {
  const { bench, stack } = await openBao();
  const body = { errors: ['local node not active but active cluster node not found'] };
  bench.wire.add({ path: /^\/v1\//, times: 1000, fault: { answer: 503, body } });
  const { problems } = await stack.plan(1);
  expect(problems).toMatchObject([
    { message: expect.stringContaining('this node of the service is a standby without an active node') },
  ]);
});

describe('a namespace that does not exist', () => {
  it('is reported as missing', async () => {
    const { bench, stack } = await openBao({ namespace: 'team-a' });
    const { message, requests } = await onlyProblem(bench, stack);
    expect(message).toMatch(
      /^target "prod" could not be read: there is no namespace "team-a", so correct the target's "namespace": GET \S+ answered 404: namespace not found/,
    );
    expect(requests).toBe(1);
  });
});

describe('a dialect that does not match the service', () => {
  it('is named among the reasons why a token is refused', async () => {
    const { bench, stack } = await openBao({ dialect: 'neutral' });
    const { message } = await onlyProblem(bench, stack);
    expect(message).toContain(
      `check that it is valid, has uses left, and may "list" and "read" below "auth/kubernetes/"`,
    );
    expect(message).toContain(
      `that the target's "dialect" is right ("neutral" sends it as "x-service-token")`,
    );
  });

  it('is noted if the roles have a field that the dialect does not have', async () => {
    const { stack } = await openBao();
    await stack.run(['apply', '--yes'], 0);
    const other = await stack.reconfigure({ clusterAuth: { ...bao, dialect: 'vault' } });
    const { coverage } = await other.plan(0);
    expect(coverage.targets.flatMap(({ notes }) => notes)).toContain(
      'its roles have "tokenStrictlyBindIp", which the dialect "vault" does not: check the target\'s "dialect"',
    );
  });
});

describe('a token without the right', () => {
  it('to list is reported once', async () => {
    const readOnly = [{ path: 'auth/+/role/*', capabilities: ['read'] as const }];
    const bench = await openBench({ dialects: ['openbao'], mounts: ['kubernetes'], readOnly });
    const stack = await bench.checkout({ clusterAuth: { ...bao, token: { env: 'READ_SERVICE_TOKEN' } } });
    await stack.declare(...everything);
    const { message, requests } = await onlyProblem(bench, stack);
    expect(message).toContain('the mount "kubernetes" of target "prod" cannot be read with this token: LIST');
    expect(requests).toBeLessThan(6);
  });

  it('to read any of thirty roles is reported once', async () => {
    const readOnly = [{ path: 'auth/+/role', capabilities: ['list'] as const }];
    const bench = await openBench({ dialects: ['openbao'], mounts: ['kubernetes'], readOnly });
    const owner = await bench.checkout({ clusterAuth: bao });
    await owner.setUp(...everything);
    const stack = await bench.checkout({ clusterAuth: { ...bao, token: { env: 'READ_SERVICE_TOKEN' } } });
    await stack.declare(...everything.slice(1));
    const { message } = await onlyProblem(bench, stack);
    expect(message).toContain('the mount "kubernetes" of target "prod" could not read any of its 30 roles');
  });
});
