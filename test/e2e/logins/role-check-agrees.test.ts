// `trueup role check --try` at the embedded service, which asks a cluster about each login: the prediction matches the login,
// in each dialect.
import { describe, expect, it } from 'vitest';
import { role } from '../../support/cli/documents.ts';
import { clusterAuthTarget, type StackFolder, stackIn } from '../../support/rig/stack-folder.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';
import {
  withLifetime,
  legacyClaims,
  projectedClaims,
  publicKeyOf,
  sign,
  signWithHeader,
} from '../../support/server/cluster-auth/issuing-cluster.ts';
import { DIALECTS, type Logins, ROOT, serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';

interface CheckReport {
  readonly succeeds: boolean;
  readonly checks: readonly { readonly name: string; readonly result: string; readonly message: string }[];
  readonly trial: { readonly granted: boolean; readonly why?: string; readonly unrevoked?: string };
}

async function openStack(logins: Logins, dialect: string): Promise<StackFolder> {
  const directory = temporaryFolder();
  const target = clusterAuthTarget(logins.url, { dialect, mount: logins.mount });
  const stack = stackIn({ directory, stack: { targets: [target] }, env: { SERVICE_TOKEN: ROOT } });
  await stack.declare();
  return stack;
}

/** Checks the live role `app` with a JWT, and tries it. */
async function check(
  stack: StackFolder,
  jwt: string,
): Promise<CheckReport & { code: number; failed?: string }> {
  await stack.write('app.jwt', jwt);
  const args = [
    'role',
    'check',
    'app',
    '--jwt',
    'app.jwt',
    '--from',
    '127.0.0.1',
    '--try',
    '--format',
    'json',
  ];
  const { code, out, err } = await stack.tryRun(args);
  expect(out + err).not.toContain(jwt);
  const report = JSON.parse(out) as CheckReport;
  const failed = report.checks.find(({ result }) => result === 'failed')?.name;
  return { ...report, code, ...(failed === undefined ? {} : { failed }) };
}

describe.each(DIALECTS)('trueup role check at a service that speaks %s', (dialect) => {
  it('predicts the login if the cluster host has no scheme', async () => {
    const logins = await serveLogins({ dialect });
    const stack = await openStack(logins, dialect);
    const key = dialect === 'neutral' ? 'cluster_host' : 'kubernetes_host';
    await logins.configure({ tls: true, [key]: new URL(logins.cluster.tlsUrl).host });
    const { failed, trial } = await check(stack, await logins.cluster.issue());
    expect([failed, trial.granted]).toEqual(dialect === 'neutral' ? [undefined, true] : ['review', false]);
  });

  it('predicts each login, and names the check that refuses it', async () => {
    const logins = await serveLogins({ dialect });
    const { cluster } = logins;
    const stack = await openStack(logins, dialect);
    await logins.configure({ pem_keys: [publicKeyOf('ES256'), publicKeyOf('RS256')] });
    await logins.role({ audience: 'service' });

    const admitted = [
      await cluster.issue(),
      await cluster.issue({}, withLifetime(projectedClaims()), 'RS384'),
    ];
    for (const jwt of admitted)
      expect(await check(stack, jwt)).toMatchObject({ code: 0, succeeds: true, trial: { granted: true } });

    const now = Math.trunc(Date.now() / 1000);
    const { exp: _end, ...unending } = withLifetime(projectedClaims());
    const { aud: _audience, ...forAnyone } = withLifetime(projectedClaims());
    const refused: [string, string][] = [
      ['signature', await cluster.issue({}, withLifetime(projectedClaims()), 'ES384')],
      ['audience', await cluster.issue({}, withLifetime({ ...projectedClaims(), aud: ['other'] }))],
      ['audience', await cluster.issue({}, legacyClaims())],
      ['times', await cluster.issue({}, { ...withLifetime(projectedClaims()), exp: now - 100 })],
      ['times', await cluster.issue({}, { ...unending, EXP: now - 100 })],
      ['claims', await cluster.issue({}, { ...forAnyone, Aud: 1 })],
      ['name', await cluster.issue({ name: 'worker' })],
      ['namespace', await cluster.issue({ namespace: 'orders' })],
      ['alias', await cluster.issue({ uid: '' })],
    ];
    for (const [failed, jwt] of refused)
      expect(await check(stack, jwt)).toMatchObject({ code: 2, failed, trial: { granted: false } });
  });

  it('predicts what an empty issuer means', async () => {
    const logins = await serveLogins({ dialect });
    const stack = await openStack(logins, dialect);
    const { cluster } = logins;
    await logins.configure({ pem_keys: [publicKeyOf('ES256')], disable_iss_validation: false });
    const other = await check(stack, await cluster.issue());
    expect(other).toMatchObject(
      dialect === 'neutral'
        ? { failed: 'issuer', trial: { granted: false } }
        : { succeeds: true, trial: { granted: true } },
    );
    const own = { ...withLifetime(projectedClaims()), iss: 'cluster/serviceaccount' };
    expect(await check(stack, await cluster.issue({}, own))).toMatchObject({ trial: { granted: true } });
  });

  it('checks policies, addresses and the form of a JWT as the service does', async () => {
    const logins = await serveLogins({ dialect });
    const { cluster } = logins;
    const stack = await openStack(logins, dialect);
    const good = await cluster.issue();
    const [header = '', claims = '', signature = ''] = good.split('.');
    const rewritten = (part: string, add: string) =>
      Buffer.from(Buffer.from(part, 'base64url').toString().replace('{', `{${add},`)).toString('base64url');
    const vouched = (jwt: string) => {
      cluster.vouchFor(jwt);
      return jwt;
    };
    const cases: readonly [failed: string | undefined, role: object, jwt: string][] = [
      [undefined, {}, good],
      ['policies', { token_policies: ['web', 'Root'] }, good],
      ['policies', { token_policies: ['response-wrapping'] }, good],
      [dialect === 'openbao' ? undefined : 'policies', { token_policies: ['control-group'] }, good],
      [undefined, { token_bound_cidrs: ['127.0.0.1:80'] }, good],
      [undefined, { token_bound_cidrs: ['::ffff:127.0.0.0/104'] }, good],
      ['address', { token_bound_cidrs: ['127.0.0.2:80', '::1'] }, good],
      ['jwt', {}, vouched([header, rewritten(claims, '"aud":["service"]'), signature].join('.'))],
      ['jwt', {}, vouched([rewritten(header, '"alg":"ES256"'), claims, signature].join('.'))],
      ['jwt', {}, vouched([rewritten(header, '"kid":1'), claims, signature].join('.'))],
      [undefined, {}, vouched([rewritten(header, '"b64":true'), claims, signature].join('.'))],
      [undefined, {}, vouched([rewritten(header, '"crit":["x"]'), claims, signature].join('.'))],
      [undefined, {}, vouched([rewritten(header, '"cty":"JWT"'), claims, signature].join('.'))],
      ['jwt', {}, vouched(JSON.stringify({ protected: header, payload: claims, signature }))],
      [
        'jwt',
        {},
        vouched([header, rewritten(claims, `"pad":"${'x'.repeat(270_000)}"`), signature].join('.')),
      ],
    ];
    for (const [failed, fields, jwt] of cases) {
      await logins.role({ token_policies: [], token_bound_cidrs: [], ...fields });
      const report = await check(stack, jwt);
      expect({ fields, failed: report.failed, granted: report.succeeds }).toEqual({
        fields,
        failed,
        granted: (await logins.login(jwt)).status === 200,
      });
    }
  });

  it('checks the headers and forms that need keys as the service does', async () => {
    const logins = await serveLogins({ dialect });
    const { cluster } = logins;
    await logins.configure({ pem_keys: [publicKeyOf('ES256')], token_reviewer_jwt: 'reviewer' });
    const stack = await openStack(logins, dialect);
    const vouched = (header: object, form = (jwt: string) => jwt) => {
      const jwt = form(signWithHeader(header, withLifetime(projectedClaims())));
      cluster.vouchFor(jwt);
      return jwt;
    };
    const asJson = (jwt: string) => {
      const [head, payload, signature] = jwt.split('.');
      return JSON.stringify({ payload, signatures: [{ protected: head, signature }] });
    };
    const cases: readonly [failed: string | undefined, jwt: string][] = [
      [undefined, vouched({ crit: [] })],
      [undefined, vouched({ crit: ['b64'], b64: true })],
      [undefined, vouched({ b64: true })],
      ['signature', vouched({ crit: ['exp'] })],
      [undefined, vouched({}, asJson)],
      [undefined, vouched({}, (jwt) => jwt.replaceAll('.', '=.'))],
    ];
    for (const [failed, jwt] of cases) {
      const report = await check(stack, jwt);
      expect({ jwt, failed: report.failed, granted: report.succeeds }).toEqual({
        jwt,
        failed,
        granted: (await logins.login(jwt)).status === 200,
      });
    }
  });

  it('leaves checks open that only the cluster can make', async () => {
    const logins = await serveLogins({ dialect });
    const stack = await openStack(logins, dialect);
    const unknown = await sign(withLifetime(projectedClaims()));
    const report = await check(stack, unknown);
    expect(report).toMatchObject({ code: 2, succeeds: false, trial: { granted: false } });
    expect(report.trial.why).toContain('permission denied');
    expect(report).not.toHaveProperty('failed');
    const open = report.checks.filter(({ result }) => result === 'open').map(({ name }) => name);
    expect(open).toEqual(['signature', 'review']);
  });

  it('says if the cluster is asked for annotations, too', async () => {
    const logins = await serveLogins({ dialect });
    await logins.configure({ use_annotations_as_alias_metadata: true });
    const stack = await openStack(logins, dialect);
    const { checks } = await check(stack, await logins.cluster.issue());
    const review = checks.find(({ name }) => name === 'review')?.message ?? '';
    expect(review.includes('annotations')).toBe(dialect === 'vault');
  });

  it('reports a token that cannot be revoked', async () => {
    const logins = await serveLogins({ dialect });
    const stack = await openStack(logins, dialect);
    await logins.role({ token_type: 'batch' });
    const { code, trial } = await check(stack, await logins.cluster.issue());
    expect({ code, granted: trial.granted }).toEqual({ code: 0, granted: true });
    expect(trial.unrevoked).toContain('/auth/token/revoke-self answered 400');
  });
});

describe('A role that is only declared', () => {
  it('admits the login after an apply, as role check predicted', async () => {
    const logins = await serveLogins();
    const stack = await openStack(logins, 'neutral');
    await stack.declare(
      role('next', { boundServiceAccountNames: ['ap*'], audience: 'service', tokenTtl: '10m' }),
    );
    await stack.write('app.jwt', await logins.cluster.issue());
    const args = ['role', 'check', 'next', '--jwt', 'app.jwt'];
    await stack.run(args, 2);
    await stack.run([...args, '--against', 'declared'], 0);
    await stack.run(['apply', '--yes'], 0);
    const { out } = await stack.run([...args, '--try'], 0);
    expect(out).toContain('the service gave a token for 10m');
  });
});
