// Plan and apply through the dialects of secrets services, against a mount that answers like the real ones.
import { describe, expect, it } from 'vitest';
import { caCert, publicKey } from '../support/kinds/cluster-auth-config/pem-samples.ts';
import { habitsOf, openMount } from '../support/dialects/open-mount.ts';
import { tokens } from '../support/dialects/secrets-service.ts';
import { manifest, openStack } from '../support/dialects/stack-folder.ts';

const config = {
  clusterHost: 'https://k8s.internal:6443',
  clusterCaCert: caCert,
  pemKeys: [publicKey],
  disableLocalCaJwt: true,
  tokenReviewerJwt: { env: 'REVIEWER_JWT' },
};

const role = {
  boundServiceAccountNames: ['api', 'worker'],
  boundServiceAccountNamespaces: ['payments'],
  boundServiceAccountNamespaceSelector: '{"matchLabels":{"team":"payments"}}',
  audience: 'payments',
  aliasNameSource: 'serviceaccount_name',
  tokenTtl: '1h30m',
  tokenMaxTtl: '7d',
  tokenExplicitMaxTtl: 864_000,
  tokenPeriod: '90m',
  tokenPolicies: ['Payments-Read', 'audit'],
  tokenBoundCidrs: ['10.1.2.3/32', '192.168.215.230/24', '2001:db8::1/128'],
  tokenNoDefaultPolicy: true,
  tokenNumUses: 10,
  tokenType: 'service',
};

const manifests =
  manifest('ClusterAuthConfig', 'config', config) + manifest('ClusterAuthRole', 'payments-api', role);

const env = { REVIEWER_JWT: 'reviewer.jwt.value' };

/** Names of other dialects, which must not be sent through a dialect. */
const foreign = {
  neutral: /kubernetes_|vault|bao|terraform|github/i,
  vault: /cluster_|x-service|auth\/cluster|openbao|terraform|github/i,
  openbao: /cluster_|x-service|auth\/cluster|openbao|terraform|github/i,
};

describe.each(['vault', 'openbao', 'neutral'] as const)('a stack through %s', (dialect) => {
  const { host, ca, tokenHeader, mount } = habitsOf[dialect];

  it('is applied with every field, and then has no changes', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(manifests);
    expect(service.writes()).toEqual(['POST config', 'POST role/payments-api']);
    expect(service.bodies('config')).toEqual([
      {
        [host]: 'https://k8s.internal:6443',
        [ca]: caCert,
        pem_keys: [publicKey.trim()],
        token_reviewer_jwt: 'reviewer.jwt.value',
        disable_local_ca_jwt: true,
        disable_iss_validation: true,
        issuer: '',
      },
    ]);
    expect(service.bodies('role/payments-api')).toEqual([
      {
        bound_service_account_names: ['api', 'worker'],
        bound_service_account_namespaces: ['payments'],
        bound_service_account_namespace_selector: '{"matchLabels":{"team":"payments"}}',
        audience: 'payments',
        alias_name_source: 'serviceaccount_name',
        token_ttl: 5400,
        token_max_ttl: 604_800,
        token_explicit_max_ttl: 864_000,
        token_period: 5400,
        token_policies: ['Payments-Read', 'audit'],
        token_bound_cidrs: ['10.1.2.3', '192.168.215.230/24', '2001:db8::1'],
        token_no_default_policy: true,
        token_num_uses: 10,
        token_type: 'service',
        ...(dialect === 'openbao' ? { token_strictly_bind_ip: false } : {}),
      },
    ]);
  });

  it('sends no names of another dialect, and nothing that the service would drop silently', async () => {
    const { service, stack } = await openMount(dialect, { env });
    const shown = await stack.make(manifests);
    expect(service.unknownMembers).toEqual([]);
    const sent = service.requests.map((request) => JSON.stringify(request));
    expect(sent.filter((request) => foreign[dialect].test(request))).toEqual([]);
    expect(shown).toContain(`"${host}": "https://k8s.internal:6443"`);
    expect(shown).toContain(`POST /v1/auth/${mount}/role/payments-api`);
    expect(shown).not.toMatch(dialect === 'neutral' ? /kubernetes_host/ : /cluster_host|cluster_ca_cert/);
  });

  it('does not show the secret in outputs, files and paths', async () => {
    const { service, stack } = await openMount(dialect, { env });
    const shown = await stack.make(manifests);
    expect(shown).toContain('{secret from env REVIEWER_JWT}');
    const { out: json } = await stack.run('plan --format json');
    expect([shown, json, await stack.ledger()].join()).not.toContain(env.REVIEWER_JWT);
    expect(service.requests.map(({ path }) => path).join()).not.toContain(env.REVIEWER_JWT);
  });

  it('sends its own token header, a content type only with bodies, and LIST to list roles', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(manifests);
    for (const { method, headers } of service.requests) {
      expect(headers).toMatchObject({ [tokenHeader]: tokens.writer, accept: 'application/json' });
      expect(headers).not.toHaveProperty('authorization');
      expect(headers['content-type']).toBe(method === 'POST' ? 'application/json' : undefined);
      expect(headers['x-vault-request']).toBe(dialect === 'neutral' ? undefined : 'true');
    }
    const reads = service.requests
      .filter(({ method }) => method !== 'POST')
      .map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(reads)].sort()).toEqual([
      `GET /v1/auth/${mount}/config`,
      `GET /v1/auth/${mount}/role/payments-api`,
      // An apply reads how often its token may still be used.
      'GET /v1/auth/token/lookup-self',
      // A token without permission for the first way to read the type uses the second.
      `GET /v1/sys/auth/${mount}`,
      `GET /v1/sys/internal/ui/mounts/auth/${mount}`,
      `LIST /v1/auth/${mount}/role`,
    ]);
  });

  it('finds manual changes, and reverts them', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(manifests);
    service.roles.get('payments-api')?.write({ audience: '', token_ttl: '2h', policies: 'root' });
    const config = service.config() ?? {};
    config[host] = 'https://elsewhere:6443';
    const { changes } = await stack.plan();
    expect(
      changes.map(({ address, fields }) => [address, fields.map(({ path, before }) => [path, before])]),
    ).toEqual([
      ['ClusterAuthConfig/prod/config', [['/clusterHost', 'https://elsewhere:6443']]],
      [
        'ClusterAuthRole/prod/payments-api',
        [
          ['/boundServiceAccountNamespaceSelector', ''],
          ['/audience', ''],
          ['/tokenTtl', 7200],
          ['/tokenPolicies', ['root']],
        ],
      ],
    ]);
    service.clear();
    await stack.run('apply --yes');
    await stack.run('plan --exit-code');
    expect(service.writes()).toEqual(['POST config', 'POST role/payments-api']);
    expect(service.config()?.['token_reviewer_jwt']).toBe(env.REVIEWER_JWT);
  });

  it('treats a mount without roles as an empty list, and deletes a role that is not declared any more', async () => {
    const { service, stack } = await openMount(dialect);
    const one = manifest('ClusterAuthRole', 'payments-api', role);
    await stack.declare(one);
    const { coverage } = await stack.plan();
    // Two reads of the type, one list, one read of permissions. If the type is unknown, the config is read, too.
    const requests = dialect === 'neutral' ? 5 : 4;
    expect(coverage).toMatchObject({ complete: true, targets: [{ requests }] });
    await stack.make(one + manifest('ClusterAuthRole', 'payments-db', role));
    service.clear();
    await stack.make(one);
    expect(service.writes()).toEqual(['DELETE role/payments-db']);
    await stack.make(manifest('ClusterAuthRole', 'payments-other', role));
    expect([...service.roles.keys()]).toEqual(['payments-other']);
  });

  it('reports a mount that does not exist, and never treats it as empty', async () => {
    const { stack } = await openMount(dialect, { target: { mount: 'nowhere' } });
    await stack.declare(manifest('ClusterAuthRole', 'payments-api', role));
    const { coverage, problems } = await stack.plan();
    expect(coverage.complete).toBe(false);
    expect(problems[0]?.message).toContain(
      'the mount "nowhere" of target "prod" does not exist or serves no cluster authentication',
    );
    const { out } = await stack.run('plan', 1);
    expect(out).not.toMatch(/no changes/i);
  });

  it('needs only a read-only token for a plan', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(manifests);
    service.clear();
    const reader = openStack({ targets: [stack.target], env: { SECRETS_TOKEN: tokens.reader } });
    await reader.declare(manifest('ClusterAuthRole', 'payments-new', role));
    await reader.run('plan --exit-code', 2);
    expect(service.writes()).toEqual([]);
    const { err, out } = await reader.run('apply --yes', 1);
    expect(out + err).toContain('permission denied');
    expect(service.roles.has('payments-new')).toBe(false);
  });

  it('can have a mount with slashes in its name, and a namespace', async () => {
    const habits = { mount: 'team/blue/k8s', namespace: 'admin/payments' };
    const { service, stack } = await openMount(dialect, {
      habits,
      env,
      target: { namespace: 'admin/payments' },
    });
    await stack.make(manifests);
    expect(
      new Set(service.requests.map(({ headers }) => headers[habitsOf[dialect].namespaceHeader])),
    ).toEqual(new Set(['admin/payments']));
    expect(service.asked().filter((line) => !/^\w+ auth\/team\/blue\/k8s\//.test(line))).toEqual(
      service
        .asked()
        .filter((line) =>
          /^GET sys\/(internal\/ui\/mounts\/)?auth\/team\/blue\/k8s$|^GET auth\/token\/lookup-self$|^POST sys\/capabilities-self$/.test(
            line,
          ),
        ),
    );
  });

  it('lists with GET through a proxy without the verb LIST, and reports that in the plan', async () => {
    const { service, stack } = await openMount(dialect, { habits: { refusesList: true } });
    await stack.make(manifest('ClusterAuthRole', 'payments-api', role));
    const { coverage } = await stack.plan();
    expect(coverage).toMatchObject({
      complete: true,
      targets: [{ notes: ['the verb LIST was refused (405): roles were listed with GET'] }],
    });
    expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toContain(
      `GET /v1/auth/${mount}/role?list=true`,
    );
  });
});

describe('the strict binding of tokens to an address', () => {
  const strict = { ...role, tokenBoundCidrs: [], tokenStrictlyBindIp: true };
  const bound = manifest('ClusterAuthRole', 'payments-api', strict);

  it('is set, restored after a manual change, and removed, if the service has it', async () => {
    const { service, stack } = await openMount('openbao');
    await stack.make(bound);
    expect(service.bodies('role/payments-api')).toMatchObject([{ token_strictly_bind_ip: true }]);
    service.roles.get('payments-api')?.write({
      token_strictly_bind_ip: false,
      bound_service_account_namespace_selector: role.boundServiceAccountNamespaceSelector,
    });
    const { changes } = await stack.plan();
    expect(
      changes.map(({ fields }) => fields.map(({ path, before, after }) => [path, before, after])),
    ).toEqual([[['/tokenStrictlyBindIp', false, true]]]);
    await stack.run('apply --yes');
    await stack.make(manifest('ClusterAuthRole', 'payments-api', { ...strict, tokenStrictlyBindIp: null }));
    expect(service.roles.get('payments-api')?.answer()).toMatchObject({ token_strictly_bind_ip: false });
  });

  it.each(['vault', 'neutral'] as const)('is an error in %s, and nothing is sent', async (dialect) => {
    const { service, stack } = await openMount(dialect);
    await stack.declare(bound);
    const { err } = await stack.run('validate', 7);
    expect(err).toContain('error[not-in-dialect]');
    expect(err).toContain(`"tokenStrictlyBindIp" is not a field of the dialect "${dialect}"`);
    await stack.run('apply --yes', 7);
    expect(service.requests).toEqual([]);
  });

  it('that replaced the declared addresses is reset when they are restored, as wider access', async () => {
    const { service, stack } = await openMount('openbao');
    const { tokenStrictlyBindIp: _, ...others } = { ...strict, tokenBoundCidrs: ['10.0.0.0/8'] };
    await stack.make(manifest('ClusterAuthRole', 'payments-api', others));
    service.roles.get('payments-api')?.write({
      token_bound_cidrs: [],
      token_strictly_bind_ip: true,
      bound_service_account_namespace_selector: role.boundServiceAccountNamespaceSelector,
    });
    service.clear();
    const { changes, guards, digest } = await stack.plan();
    expect(
      changes.map(({ fields }) => fields.map(({ path, before, after }) => [path, before, after])),
    ).toEqual([
      [
        ['/tokenBoundCidrs', [], ['10.0.0.0/8']],
        ['/tokenStrictlyBindIp', true, false],
      ],
    ]);
    expect(guards.map(({ id }) => id)).toContain('widening');
    await stack.run(`apply --approve ${digest}`);
    expect(service.bodies('role/payments-api')).toMatchObject([
      { token_bound_cidrs: ['10.0.0.0/8'], token_strictly_bind_ip: false },
    ]);
    await stack.run('plan --exit-code');
  });

  it('that was already live at the last apply is an error with new addresses, and nothing is sent', async () => {
    const { service, stack } = await openMount('openbao');
    const { tokenStrictlyBindIp: _, ...others } = strict;
    await stack.make(manifest('ClusterAuthRole', 'payments-api', others));
    service.roles.get('payments-api')?.write({ token_strictly_bind_ip: true });
    await stack.run('apply --yes');
    service.clear();
    await stack.declare(
      manifest('ClusterAuthRole', 'payments-api', { ...others, tokenBoundCidrs: ['10.0.0.0/8'] }),
    );
    const { out } = await stack.run('plan', 7);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'set only one, and one of them is a live value that is not declared',
    );
    expect(service.writes()).toEqual([]);
  });
});

describe('a namespace selector', () => {
  it.each([
    [
      '{"matchLabels":{"team":"payments","tier":"1"}}',
      'matchLabels:\n  tier: 1\n  # ours\n  team: payments\n',
    ],
    ['{}', '{"matchLabels":null}'],
  ])('with another text of the same meaning is not a difference (case %#)', async (mine, theirs) => {
    const { service, stack } = await openMount('openbao');
    const withSelector = (boundServiceAccountNamespaceSelector: string) =>
      manifest('ClusterAuthRole', 'payments-api', { ...role, boundServiceAccountNamespaceSelector });
    await stack.make(withSelector(mine));
    service.roles.get('payments-api')?.write({ bound_service_account_namespace_selector: theirs });
    await stack.run('plan --exit-code');
    await stack.declare(withSelector(theirs));
    await stack.run('plan --exit-code');
  });

  it('with another label is a difference', async () => {
    const { service, stack } = await openMount('openbao');
    await stack.make(manifest('ClusterAuthRole', 'payments-api', role));
    service.roles
      .get('payments-api')
      ?.write({ bound_service_account_namespace_selector: 'matchLabels: {team: "no"}' });
    await stack.run('plan --exit-code', 2);
  });
});
