/** A given token with too few uses left ends an apply before its first write, not halfway. A login gets another token instead. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role } from '../../support/cli/documents.ts';
import { clusterAuthTarget, stackIn } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import { publicKeyOf } from '../../support/server/cluster-auth/issuing-cluster.ts';
import { serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

/** The rights that a token needs to manage the roles of the mount. */
const managing = (mount: string) => [
  { path: `auth/${mount}/role`, capabilities: ['list'] as const },
  { path: `auth/${mount}/role/*`, capabilities: ['create', 'read', 'update', 'delete'] as const },
];

async function tokenWith(bench: Bench, more: object): Promise<string> {
  const answer = await fetch(`${bench.wire.url}/v1/auth/token/create`, {
    method: 'POST',
    headers: { 'x-service-token': secrets.SERVICE_TOKEN },
    body: JSON.stringify(more),
  });
  const { auth } = (await answer.json()) as { auth: { client_token: string } };
  return auth.client_token;
}

async function applyWith(bench: Bench, stack: Checkout, token: object) {
  const SERVICE_TOKEN = await tokenWith(bench, token);
  bench.wire.reset();
  return trueup(['apply', '--yes'], { cwd: stack.directory, env: { ...secrets, SERVICE_TOKEN } });
}

/** Writes of roles only, because the query for rights is a POST, too. */
function writesOf({ wire }: Bench): number {
  return wire.writes().filter(({ path }) => path.includes('/role/')).length;
}

async function openDeclared() {
  const bench = await openBench({ readOnly: managing('cluster') });
  const stack = await bench.checkout();
  await stack.setUp(role('anchor'), role('changes'), role('goes', { boundServiceAccountNames: ['other'] }));
  await stack.declare(role('anchor'), role('changes', { tokenTtl: '2h' }), role('one'), role('two'));
  return { bench, stack };
}

describe('An apply with a token of limited uses', () => {
  it('ends before the first write if the uses are too few, and says how many it needs', async () => {
    const { bench, stack } = await openDeclared();
    const { code, err } = await applyWith(bench, stack, { num_uses: 9 });
    expect(code).toBe(1);
    expect(err).toMatch(
      /the token of target "prod" may be used for \d+ more requests?, and this apply needs about \d+/,
    );
    expect(bench.wire.writes()).toEqual([]);
  });

  it.each([{}, { policies: ['read-only', 'default'] }])(
    'either ends before the first write or finishes, for each number of uses (%j)',
    async (token) => {
      const { bench, stack } = await openDeclared();
      for (let uses = 1; ; uses += 1) {
        const { code, out, err } = await applyWith(bench, stack, { ...token, num_uses: uses });
        if (code === 0) {
          expect(out).toContain('4 applied');
          expect(uses).toBeGreaterThan(15);
          break;
        }
        expect(code).toBe(1);
        expect(err).toMatch(/the token of target "prod" (may|could) be used for \d+/);
        expect(writesOf(bench)).toBe(0);
      }
    },
  );

  it('counts the requests to both targets if they share the token', async () => {
    const bench = await openBench();
    const targets = ['one', 'two'].map((name) => ({
      ...clusterAuthTarget(bench.wire.url, { owns: [`${name}-*`] }),
      name,
    }));
    const stack = stackIn({ directory: temporaryFolder(), stack: { targets }, env: secrets });
    await stack.declare(
      role('one-a', {}, { target: 'one' }),
      role('one-b', {}, { target: 'one' }),
      role('two-a', {}, { target: 'two' }),
    );
    for (let uses = 8; ; uses += 1) {
      const SERVICE_TOKEN = await tokenWith(bench, { num_uses: uses });
      const env = { ...secrets, SERVICE_TOKEN };
      const { code, err } = await trueup(['apply', '--yes'], { cwd: stack.directory, env });
      if (code === 0) break;
      expect(code).toBe(1);
      expect(err).toMatch(/the token of targets "one", "two" (may|could) be used for \d+/);
      expect(writesOf(bench)).toBe(0);
    }
  });

  it('fails with a hint at missing uses if the token may not read its own limit', async () => {
    const { bench, stack } = await openDeclared();
    const token = { policies: ['read-only'], no_default_policy: true, num_uses: 12 };
    const { code, err, out } = await applyWith(bench, stack, token);
    expect(code).not.toBe(0);
    expect(`${out}${err}`).toContain('check that it is valid, has uses left, and may');
  });
});

describe('A login with tokens of limited uses', () => {
  const policies = [
    { name: 'manager', rules: managing('team/cluster') },
    { name: 'revoker', rules: [{ path: 'auth/token/revoke-self', capabilities: ['update'] as const }] },
  ];

  async function openWithLogin(fields: object) {
    const logins = await serveLogins({ dialect: 'vault', seed: { policies } });
    await logins.configure({ pem_keys: [publicKeyOf('ES256')] });
    await logins.role({ token_policies: ['manager'], audience: 'service', ...fields }, 'ci');
    await logins.send('POST', 'sys/auth/team/cluster', { type: logins.mount });
    const token = { login: { mount: logins.mount, role: 'ci', jwt: { file: 'ci.jwt' } } };
    const more = { dialect: 'vault', mount: 'team/cluster', owns: ['*'], token };
    const stack = stackIn({
      directory: temporaryFolder(),
      stack: { targets: [clusterAuthTarget(logins.url, more)] },
    });
    await stack.write('ci.jwt', `${await logins.cluster.issue()}\n`);
    await stack.declare(role('one'), role('two'), role('three'));
    const accessors = async () =>
      ((await logins.send('LIST', 'auth/token/accessors')).data['keys'] as readonly unknown[]).length;
    return { stack, accessors };
  }

  const warnings = ({ err }: { readonly err: string }) => err.split('it stays valid').length - 1;
  const commands = [['plan'], ['apply', '--yes'], ['plan', '--exit-code'], ['drift']];

  it.each([1, 2, 3, 5])('(%d) works like one without a limit, and leaves no token behind', async (uses) => {
    const revoking = { token_no_default_policy: true, token_policies: ['manager', 'revoker'] };
    for (const fields of [{}, revoking]) {
      const { stack, accessors } = await openWithLogin({ token_num_uses: uses, ...fields });
      const before = await accessors();
      for (const command of commands) expect(warnings(await stack.run(command, 0))).toBe(0);
      expect(await accessors()).toBe(before);
    }
  });

  it.each([0, 2, 3, 5])(
    '(%d) that may not revoke themselves warns about each token that is left behind',
    async (uses) => {
      const fields = { token_no_default_policy: true, token_num_uses: uses };
      const { stack, accessors } = await openWithLogin(fields);
      for (const command of commands) {
        const before = await accessors();
        const ran = await stack.run(command, 0);
        expect((await accessors()) - before).toBe(warnings(ran));
        expect(warnings(ran)).toBeLessThanOrEqual(1);
      }
    },
  );
});
