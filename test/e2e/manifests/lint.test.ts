/** The lint reports values that a service accepts but that are probably mistakes. A stack raises or allows them by code. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Checkout, openBench } from '../../support/cli/bench.ts';
import { clusterAuthConfig, role, workspace } from '../../support/cli/documents.ts';
import { caCert, publicKey, sha1Certs } from '../../support/kinds/cluster-auth-config/pem-samples.ts';

interface Diagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly fix?: string;
}

/** What a command reports as JSON. */
async function printed(stack: Checkout, args: readonly string[], code = 0): Promise<readonly Diagnostic[]> {
  const { out } = await stack.run([...args, '--format', 'json'], code);
  return (JSON.parse(out) as { diagnostics: Diagnostic[] }).diagnostics;
}

const codes = (reported: readonly Diagnostic[]) =>
  reported.map(({ severity, code }) => `${severity} ${code}`);

/** A stack with this lint. */
async function linted(lint?: object): Promise<Checkout> {
  const bench = await openBench();
  return bench.checkout(lint === undefined ? {} : { spec: { lint } });
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the lint', () => {
  it('reports defaults that match no manifest', async () => {
    const defaults = [
      { match: { tags: { env: 'prod' } }, Workspace: { autoApply: false } },
      { match: { tags: { env: 'production' } }, Workspace: { autoApply: true } },
    ];
    const bench = await openBench();
    const stack = await bench.checkout({ spec: { defaults } });
    await stack.declare(workspace('app', { tags: { env: 'prod' } }));
    expect(codes(await printed(stack, ['validate']))).toEqual(['warning unused-default']);
    const raised = await bench.checkout({ spec: { defaults, lint: { raise: ['unused-default'] } } });
    await raised.declare(workspace('app', { tags: { env: 'prod' } }));
    await raised.run(['validate'], 7);
  });

  const careless = {
    boundServiceAccountNames: ['*'],
    boundServiceAccountNamespaces: ['*'],
    audience: '',
    tokenMaxTtl: '8760h',
    tokenPeriod: '1h',
    policies: [],
  };

  it('reports a role that is open, unlimited and without policies, in validate and in plan', async () => {
    const stack = await linted();
    await stack.declare(role('web', careless));
    const found = [
      'warning blank-audience',
      'warning deprecated-field',
      'warning long-lifetime',
      'warning no-policies',
      'warning open-role',
      'warning unlimited-tokens',
    ];
    const reported = await printed(stack, ['validate']);
    expect(codes(reported).toSorted()).toEqual(found);
    expect(reported.filter(({ fix }) => fix === undefined)).toEqual([]);
    expect(reported.find(({ code }) => code === 'deprecated-field')?.fix).toBe('use tokenPolicies');
    expect(codes(await printed(stack, ['plan'])).toSorted()).toEqual(found);
  });

  it('reports names that no cluster can have, in validate and in plan, as warnings', async () => {
    const stack = await linted();
    await stack.declare(role('web', { boundServiceAccountNames: ['Web', 'ci-*'], tokenPolicies: ['read'] }));
    const reported = await printed(stack, ['validate']);
    expect(codes(reported)).toEqual(['warning impossible-name']);
    expect(reported[0]?.message).toBe(
      'no service account of a cluster can be called "Web", so it admits no account',
    );
    expect(codes(await printed(stack, ['plan']))).toEqual(['warning impossible-name']);
  });

  it('is counted in the summary of a plan, in every format', async () => {
    const stack = await linted();
    await stack.declare(role('web', careless));
    const counted = '1 to create, 0 unchanged, 6 warnings';
    expect((await stack.run(['plan'], 0)).out).toContain(counted);
    for (const format of ['markdown', 'html'])
      expect((await stack.run(['plan', '--format', format], 0)).out).toContain(counted);
    await stack.declare(role('web'));
    expect((await stack.run(['plan'], 0)).out).toMatch(/^1 to create, 0 unchanged$/m);
  });

  it('reports nothing about a role without these problems', async () => {
    const stack = await linted();
    await stack.declare(role('web', { tokenMaxTtl: '768h', tokenPeriod: '1h', tokenExplicitMaxTtl: '30d' }));
    expect(await printed(stack, ['validate'])).toEqual([]);
  });

  it('is an error if the stack raises it, and then nothing is planned or applied', async () => {
    const stack = await linted({ raise: ['blank-audience', 'no-policies'] });
    await stack.declare(role('web', { audience: null, tokenPolicies: [] }));
    expect(codes(await printed(stack, ['validate'], 7)).toSorted()).toEqual([
      'error blank-audience',
      'error no-policies',
    ]);
    await stack.run(['plan'], 7);
    await stack.run(['apply', '--yes'], 7);
  });

  it('does not report what the stack allows, but everything else', async () => {
    const stack = await linted({ allow: ['blank-audience', 'deprecated-field'] });
    await stack.declare(
      role('web', { audience: '', policies: ['read'], tokenPeriod: '1h' }),
      clusterAuthConfig({ issuer: 'https://issuer.test' }),
    );
    expect(codes(await printed(stack, ['validate']))).toEqual(['warning unlimited-tokens']);
  });

  it.each([
    [['**'], ['**']],
    [['**', 'api'], ['*']],
    [['*'], ['payments', '***']],
  ])(
    'reports a role that is open by any pattern that matches everything: %j in %j',
    async (names, namespaces) => {
      const stack = await linted();
      await stack.declare(
        role('web', { boundServiceAccountNames: names, boundServiceAccountNamespaces: namespaces }),
      );
      expect(codes(await printed(stack, ['validate']))).toEqual(['warning open-role']);
    },
  );

  it.each(['root', 'Response-Wrapping', ' control-group'])(
    'reports the policy "%s", which no login gives',
    async (policy) => {
      const stack = await linted();
      await stack.declare(role('web', { tokenPolicies: ['read', policy] }));
      expect(codes(await printed(stack, ['validate']))).toEqual(['warning refused-policy']);
    },
  );

  it('reports the policy "control-group" if the service reserves it', async () => {
    for (const [dialect, found] of [
      ['vault', ['warning refused-policy']],
      ['openbao', []],
    ] as const) {
      const stack = await (await openBench()).checkout({ clusterAuth: { dialect } });
      await stack.declare(role('web', { tokenPolicies: ['read', 'control-group'] }));
      expect(codes(await printed(stack, ['validate']))).toEqual(found);
    }
  });

  it('reports an issuer that has to be verified but is not set', async () => {
    const bench = await openBench();
    const lint = { allow: ['deprecated-field'] };
    const neutral = await bench.checkout({ spec: { lint } });
    await neutral.declare(clusterAuthConfig({ disableIssValidation: false }));
    expect(codes(await printed(neutral, ['validate'])), 'the service has a default issuer').toEqual([]);
    const stack = await bench.checkout({ spec: { lint }, clusterAuth: { dialect: 'vault' } });
    await stack.declare(clusterAuthConfig({ disableIssValidation: false }));
    expect(codes(await printed(stack, ['validate']))).toEqual(['warning blank-issuer']);
    await stack.declare(clusterAuthConfig({ disableIssValidation: false, issuer: 'https://issuer.test' }));
    expect(await printed(stack, ['validate'])).toEqual([]);
  });

  it('accepts only its own codes, and none of them in both lists', async () => {
    const stack = await linted({ raise: ['open-role', 'yaml-syntax'], allow: ['open-role'] });
    const { err } = await stack.run(['validate'], 7);
    expect(err).toContain('yaml-syntax');
    expect(err).toContain('the code "open-role" is both raised and allowed');
  });
});

describe('the lint of hosts', () => {
  it.each([
    ['k:6443', 'host-without-scheme', 'has no scheme', 'write "https://k:6443"'],
    ['//k:6443', 'host-without-scheme', 'has no scheme', 'write "https://k:6443"'],
    ['https:6443', 'host-without-scheme', 'has no scheme', 'write "https://https:6443"'],
    [' https://k', 'unusable-host', 'contains white space', 'write "https://k"'],
    ['https://k\n', 'unusable-host', 'contains white space', 'write "https://k"'],
    ['ht\ttp://k', 'unusable-host', 'contains white space', 'write the address of the API server'],
    ['ftp://k', 'unusable-host', 'is not an http(s) address', 'write "https://k"'],
    ['http:127.0.0.1:6443', 'unusable-host', 'has no "//"', 'write "http://127.0.0.1:6443"'],
    ['http:/127.0.0.1', 'unusable-host', 'has no "//"', 'write "http://127.0.0.1"'],
    ['http:\\\\127.0.0.1', 'unusable-host', 'has no "//"', 'write "http://127.0.0.1"'],
    ['https://k?x=1', 'unusable-host', 'has a query or fragment', 'write "https://k"'],
    ['https://k#f', 'unusable-host', 'has a query or fragment', 'write "https://k"'],
    ['https://', 'unusable-host', 'names no valid host', 'write the address of the API server'],
    ['https://k:99999', 'unusable-host', 'names no valid host', 'write the address of the API server'],
    ['https://ann:horse-staple@k', 'login-in-host', 'contains a user name or password', 'write "https://k"'],
    ['ann:horse-staple@k:6443', 'host-without-scheme', 'has no scheme', 'write "https://k:6443"'],
  ])('reports %j, and accepts the corrected host', async (clusterHost, code, message, fix) => {
    const stack = await linted();
    await stack.declare(clusterAuthConfig({ clusterHost }));
    expect(await printed(stack, ['validate'])).toMatchObject([
      {
        code,
        message: expect.stringContaining(`"clusterHost" ${message}`),
        fix: expect.stringContaining(fix),
      },
    ]);
    expect(JSON.stringify(await printed(stack, ['validate']))).not.toContain('horse-staple');
    const sound = /^write "(.*)"$/.exec(fix)?.[1] ?? 'https://k';
    await stack.declare(clusterAuthConfig({ clusterHost: sound }));
    expect(await printed(stack, ['validate'])).toEqual([]);
  });

  it.each(['http://k', 'HTTPS://k/', 'https://[::1]:6443/clusters/a', 'https://k:6443/k8s/clusters/c-1'])(
    'accepts %s',
    async (clusterHost) => {
      const stack = await linted();
      await stack.declare(clusterAuthConfig({ clusterHost }));
      expect(await printed(stack, ['validate'])).toEqual([]);
    },
  );
});

describe('the lint of certificates', () => {
  it('reports each certificate that is signed with SHA-1, of the CA or of a key', async () => {
    const stack = await linted();
    const [ecdsa = '', rsa = ''] = sha1Certs;
    await stack.declare(
      clusterAuthConfig({ clusterCaCert: caCert + ecdsa, pemKeys: [publicKey, rsa, caCert] }),
    );
    expect((await printed(stack, ['validate'])).map(({ code, message }) => [code, message])).toEqual([
      ['certificate-with-sha1', expect.stringContaining('"CN=old-cluster-ca" is signed with SHA-1')],
      ['certificate-with-sha1', expect.stringContaining('"CN=old-signer" is signed with SHA-1')],
    ]);
  });

  it('says how the service of the target treats SHA-1', async () => {
    for (const [dialect, why] of [
      ['vault', 'which services no longer accept'],
      ['openbao', 'which can be forged'],
    ]) {
      const stack = await (await openBench()).checkout({ clusterAuth: { dialect } });
      await stack.declare(clusterAuthConfig({ clusterCaCert: caCert + sha1Certs[0] }));
      expect(await printed(stack, ['validate'])).toMatchObject([
        { message: expect.stringContaining(`${why}`) },
      ]);
    }
  });

  it.each([
    ['2126-09-26T00:00:00Z', []],
    ['2126-10-07T12:00:00Z', ['expires on 2126-10-27, in 19 days']],
    ['2126-10-26T10:00:00Z', ['expires on 2126-10-27, in 1 day']],
    ['2126-10-27T10:00:00Z', ['expires on 2126-10-27, in less than a day']],
    ['2126-10-28T00:00:00Z', ['expired on 2126-10-27']],
    ['2026-11-01T00:00:00Z', ['is not valid before 2026-11-20']],
  ])('checks their dates by the clock of the host: at %s', async (now, expected) => {
    const stack = await linted();
    await stack.declare(clusterAuthConfig({ clusterCaCert: caCert }));
    vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] });
    const reported = await printed(stack, ['validate']);
    expect(reported.map(({ code, message }) => [code, message])).toEqual(
      expected.map((when) => ['certificate-expires', `the certificate of "CN=cluster-ca-1" ${when}`]),
    );
  });
});
