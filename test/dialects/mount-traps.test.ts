// What a correct comparison with a secrets service needs (wire/cluster-auth 4), point by point, in requests.
import { describe, expect, it } from 'vitest';
import { caCert, otherPublicKey, publicKey } from '../support/kinds/cluster-auth-config/pem-samples.ts';
import { openMount } from '../support/dialects/open-mount.ts';
import { RoleRecord } from '../support/dialects/role-record.ts';
import { manifest, type StackFolder } from '../support/dialects/stack-folder.ts';
import { bareRole } from '../support/services/cluster-auth/bare-role.ts';

const plain = {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'payments',
};

const roleOf = (spec: object, metadata: object = {}) =>
  manifest('ClusterAuthRole', 'payments-api', { ...plain, ...spec }, metadata);

const configOf = (spec: object) =>
  manifest('ClusterAuthConfig', 'config', {
    clusterHost: 'https://k8s:6443',
    clusterCaCert: caCert,
    ...spec,
  });

const env = { REVIEWER_JWT: 'reviewer.jwt.value', OTHER_JWT: 'other.jwt.value' };

describe.each(['vault', 'openbao'] as const)('1: desired values are normalised, in %s', (dialect) => {
  const spellings: [string, object, object][] = [
    ['durations', { tokenTtl: '1h30m', tokenMaxTtl: '7d' }, { tokenTtl: 5400, tokenMaxTtl: '604800' }],
    [
      'addresses',
      { tokenBoundCidrs: ['10.1.2.3/32', '10.0.0.0/8'] },
      { tokenBoundCidrs: '10.0.0.0/8,10.1.2.3' },
    ],
    ['an IPv6 host', { tokenBoundCidrs: ['2001:db8::1/128'] }, { tokenBoundCidrs: ['2001:db8::1'] }],
    ['order', { tokenPolicies: ['b', 'a'] }, { tokenPolicies: ['a', 'b'] }],
    ['repetition', { boundServiceAccountNames: ['a', 'b', 'a'] }, { boundServiceAccountNames: ['b', 'a'] }],
    ['deprecated names', { policies: ['Read', 'audit'] }, { tokenPolicies: ['audit', 'read'] }],
    ['the type', { tokenType: '' }, { tokenType: 'default' }],
    ['the alias', { aliasNameSource: null }, { aliasNameSource: 'serviceaccount_uid' }],
  ];

  it.each(spellings)('%s in two spellings are equal', async (_, one, other) => {
    const { stack } = await openMount(dialect);
    await stack.make(roleOf(one));
    await stack.declare(roleOf(other));
    await stack.run('plan --exit-code');
  });

  it('a name in capitals becomes the lower-case name that the service stores', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(manifest('ClusterAuthRole', 'Payments-API', plain));
    expect(service.writes()).toEqual(['POST role/payments-api']);
  });

  it('keys are compared without their line ends, in any order', async () => {
    const { stack } = await openMount(dialect);
    await stack.make(configOf({ pemKeys: [publicKey, otherPublicKey] }));
    await stack.declare(
      configOf({ pemKeys: [otherPublicKey.trim(), `\n${publicKey}\n`], clusterCaCert: `${caCert}\n` }),
    );
    await stack.run('plan --exit-code');
  });
});

describe.each(['vault', 'openbao'] as const)('2: missing values have a meaning, in %s', (dialect) => {
  it('a role without an audience has the audience ""', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(roleOf({ audience: '' }));
    await stack.declare(roleOf({ audience: null }));
    await stack.run('plan --exit-code');
    expect(service.roles.get('payments-api')?.answer()).not.toHaveProperty('audience');
    await stack.make(roleOf({}));
    await stack.make(roleOf({ audience: null }));
    expect(service.bodies('role/payments-api').at(-1)).toMatchObject({ audience: '' });
  });

  it('namespaces that were never written are null, which equals the empty list', async () => {
    const { service, stack } = await openMount(dialect);
    const live = new RoleRecord();
    const selector = '{"matchLabels":{"team":"payments"}}';
    live.write({
      bound_service_account_names: ['api'],
      bound_service_account_namespace_selector: selector,
      audience: 'payments',
    });
    service.roles.set('payments-api', live);
    expect(live.answer()['bound_service_account_namespaces']).toBeNull();
    const { boundServiceAccountNamespaces: _, ...open } = plain;
    const selected = { ...open, boundServiceAccountNamespaceSelector: selector };
    await stack.declare(manifest('ClusterAuthRole', 'payments-api', selected));
    await stack.run('apply --yes');
    expect(service.bodies('role/payments-api')).toEqual([]);
    await stack.run('plan --exit-code');
    await stack.declare(roleOf({ ...selected, boundServiceAccountNamespaces: [] }));
    await stack.run('plan --exit-code');
    await stack.run('apply --yes');
    await stack.make(roleOf({ ...selected, boundServiceAccountNamespaces: [], tokenTtl: '1h' }));
    expect(service.bodies('role/payments-api')).toMatchObject([
      {
        bound_service_account_namespaces: [],
        bound_service_account_namespace_selector: selector,
        token_ttl: 3600,
      },
    ]);
  });

  it('deprecated names that a person wrote are not a difference', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(roleOf({ tokenTtl: '1h', tokenPolicies: ['a', 'b'] }));
    const role = service.roles.get('payments-api');
    role?.write({ ttl: '1h', policies: 'b,a', bound_cidrs: [] });
    expect(role?.answer()).toMatchObject({ ttl: 3600, token_ttl: 3600, policies: ['b', 'a'] });
    await stack.run('plan --exit-code');
    await stack.make(roleOf({ tokenTtl: '2h', tokenPolicies: ['a', 'b'] }));
    expect(role?.answer()).not.toHaveProperty('ttl');
    expect(role?.answer()).toMatchObject({ token_ttl: 7200 });
  });
});

describe.each(['vault', 'openbao'] as const)('3: every write of a role is complete, in %s', (dialect) => {
  it('zeros, empty lists and the selector are sent', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(roleOf({ tokenTtl: '1h', tokenBoundCidrs: ['10.0.0.0/8'], tokenNumUses: 5 }));
    await stack.make(roleOf({ tokenTtl: 0, tokenBoundCidrs: [], tokenNumUses: 0 }));
    expect(service.bodies('role/payments-api').at(-1)).toEqual({
      ...bareRole,
      audience: 'payments',
      ...(dialect === 'openbao' ? { token_strictly_bind_ip: false } : {}),
    });
  });

  it('an undeclared selector survives a change of another field', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(roleOf({}));
    const selector = 'matchLabels: { team: blue }';
    service.roles.get('payments-api')?.write({ bound_service_account_namespace_selector: selector });
    await stack.make(roleOf({ tokenTtl: '1h' }));
    expect(service.roles.get('payments-api')?.answer()).toMatchObject({
      bound_service_account_namespace_selector: selector,
      token_ttl: 3600,
    });
  });

  it('the list of namespaces is emptied when a selector replaces it', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(roleOf({}));
    const selector = '{"matchLabels":{"team":"payments"}}';
    const selected = { boundServiceAccountNamespaces: [], boundServiceAccountNamespaceSelector: selector };
    await stack.make(roleOf(selected));
    expect(service.roles.get('payments-api')?.answer()['bound_service_account_namespaces']).toEqual([]);
  });
});

describe.each(['vault', 'openbao'] as const)('4: every write of the config is complete, in %s', (dialect) => {
  it('a change of another field sends the reviewer JWT again', async () => {
    const { service, stack } = await openMount(dialect, { env });
    const jwt = { tokenReviewerJwt: { env: 'REVIEWER_JWT' } };
    await stack.make(configOf(jwt));
    await stack.make(configOf({ ...jwt, clusterHost: 'https://other:6443' }));
    expect(service.config()?.['token_reviewer_jwt']).toBe(env.REVIEWER_JWT);
    await stack.make(
      configOf({ tokenReviewerJwt: { env: 'OTHER_JWT', version: 2 }, clusterHost: 'https://other:6443' }),
    );
    expect(service.config()?.['token_reviewer_jwt']).toBe(env.OTHER_JWT);
    await stack.make(configOf({ tokenReviewerJwt: null, clusterHost: 'https://other:6443' }));
    expect(service.config()?.['token_reviewer_jwt']).toBe('');
  });

  it('a write that would wipe a stored reviewer JWT is refused', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(configOf({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    await stack.declare(configOf({ clusterHost: 'https://other:6443' }));
    service.clear();
    const { problems } = await stack.plan();
    expect(problems.map(({ code }) => code)).toEqual(['reviewer-jwt-would-be-wiped']);
    await stack.run('apply --yes', 7);
    expect(service.writes()).toEqual([]);
    expect(service.config()?.['token_reviewer_jwt']).toBe(env.REVIEWER_JWT);
  });

  it('a reviewer JWT that was removed is set again', async () => {
    const { service, stack } = await openMount(dialect, { env });
    await stack.make(configOf({ tokenReviewerJwt: { env: 'REVIEWER_JWT' } }));
    Object.assign(service.config() ?? {}, { token_reviewer_jwt: '' });
    await stack.run('plan --exit-code', 2);
    await stack.run('apply --yes');
    expect(service.config()?.['token_reviewer_jwt']).toBe(env.REVIEWER_JWT);
  });

  it('a field that is no longer declared goes back to its default', async () => {
    const { service, stack } = await openMount(dialect);
    await stack.make(
      configOf({ pemKeys: [publicKey], issuer: 'https://issuer', disableIssValidation: false }),
    );
    await stack.make(configOf({}));
    expect(service.config()).toMatchObject({ pem_keys: [], issuer: '', disable_iss_validation: true });
  });
});

it('4: a setting of vault without a manifest field is repeated, and never sent to openbao', async () => {
  const vault = await openMount('vault');
  await vault.stack.make(configOf({}));
  Object.assign(vault.service.config() ?? {}, { use_annotations_as_alias_metadata: true });
  await vault.stack.make(configOf({ clusterHost: 'https://other:6443' }));
  expect(vault.service.config()).toMatchObject({ use_annotations_as_alias_metadata: true });
  const openbao = await openMount('openbao');
  await openbao.stack.make(configOf({}));
  await openbao.stack.make(configOf({ clusterHost: 'https://other:6443' }));
  expect(openbao.service.unknownMembers).toEqual([]);
});

describe.each(['vault', 'openbao'] as const)(
  '5: a mount is read with one list and one read a role, in %s',
  (dialect) => {
    it('and roles that the stack does not own are not read', async () => {
      const { service, stack } = await openMount(dialect);
      const names = Array.from({ length: 12 }, (_, index) => `payments-${index}`);
      await stack.make(names.map((name) => manifest('ClusterAuthRole', name, plain)).join(''));
      const stranger = service.roles.get('payments-0');
      for (const name of ['other', 'billing-api']) if (stranger) service.roles.set(name, stranger);
      service.clear();
      await stack.run('plan --exit-code');
      expect(service.requests.filter(({ method }) => method === 'LIST')).toHaveLength(1);
      // The type of the mount is read in two ways, of which the first one is for administrators.
      expect(service.requests).toHaveLength(2 + 13);
    });
  },
);

it('6: a warning of the service is reported with the outcome', async () => {
  const { stack } = await openMount('vault');
  await stack.declare(roleOf({ audience: '' }));
  const { out } = await stack.run('apply --yes');
  expect(out).toContain(
    'the service warns: Role payments-api does not have an audience configured. Set one.',
  );
  await stack.run('plan --exit-code');
  await stack.declare(roleOf({ audience: '', tokenTtl: '1h' }));
  const { out: json } = await stack.run('apply --yes --format json');
  expect(JSON.parse(json)).toMatchObject({
    outcomes: [
      { outcome: 'applied', warnings: ['Role payments-api does not have an audience configured. Set one.'] },
    ],
  });
});

it('7: values that the service would refuse are found offline', async () => {
  const { service, stack } = await openMount('vault');
  await stack.declare(roleOf({ tokenTtl: '2h', tokenMaxTtl: '1h', tokenType: 'batch', tokenPeriod: '1h' }));
  const { err } = await stack.run('validate', 7);
  expect(err).toContain('"tokenTtl" cannot be greater than "tokenMaxTtl"');
  expect(err).toContain('cannot be "batch" when set to generate periodic tokens');
  expect(service.requests).toEqual([]);
});

it('8: fields that a write did not change are reported one by one', async () => {
  const { service, stack } = await openMount('vault');
  await stack.make(roleOf({}));
  const role = service.roles.get('payments-api');
  const write = role?.write.bind(role);
  // The service keeps the old value, as if the token may not set it.
  if (role && write) role.write = (sent) => write({ ...sent, token_ttl: 60 });
  await stack.declare(roleOf({ tokenTtl: '1h', tokenNumUses: 3 }));
  const { out } = await stack.run('apply --yes', 6);
  expect(out).toContain('tokenTtl');
  expect(out.slice(out.indexOf('applied'))).not.toContain('tokenNumUses');
});

describe('9: a config without any CA', () => {
  const none = manifest('ClusterAuthConfig', 'config', {
    clusterHost: 'https://k8s:6443',
    disableLocalCaJwt: true,
    pemKeys: [publicKey],
  });

  it('is an error in openbao before anything is sent, because the service would refuse it', async () => {
    const { service, stack } = await openMount('openbao');
    await stack.declare(none);
    for (const line of ['validate', 'plan', 'apply --yes']) {
      const { err } = await stack.run(line, 7);
      expect(err).toContain('"clusterCaCert" must be given when "disableLocalCaJwt" is true');
    }
    expect(service.requests).toEqual([]);
  });

  it('is written in vault with a warning, because vault then trusts the CAs of its system', async () => {
    const { service, stack } = await openMount('vault');
    await stack.make(none);
    expect(service.config()).toMatchObject({ kubernetes_ca_cert: '', disable_local_ca_jwt: true });
    const { err } = await stack.run('validate');
    expect(err).toContain('the service trusts the CAs of its own system');
  });
});

describe('10: a selector that admits every namespace', () => {
  const selecting = (boundServiceAccountNamespaceSelector: string | null, more: object = {}) =>
    roleOf({ boundServiceAccountNamespaceSelector, ...more });
  const guardsOf = async (stack: StackFolder) => (await stack.plan()).guards.map(({ id }) => id);

  it.each(['{}', '{"matchLabels":{}}', 'null', '  '])('is a wildcard in every form: %j', async (text) => {
    const { stack } = await openMount('openbao');
    await stack.declare(selecting(text));
    const { err } = await stack.run('validate');
    expect(err).toContain('so every namespace matches it, listed or not');
    expect(await guardsOf(stack)).toContain('wildcard');
    await stack.make(selecting('{"matchLabels":{"team":"payments"}}'));
    await stack.declare(selecting(text, { boundServiceAccountNamespaces: [] }));
    expect(await guardsOf(stack)).toEqual(['wildcard']);
    const { out } = await stack.run('plan');
    expect(out.replace(/\s+/g, ' ')).toContain('widens: "api" in every namespace can log in');
    expect(out).not.toContain('no more');
  });

  it('is a wildcard when a live role is adopted with it', async () => {
    const { service, stack } = await openMount('openbao');
    const live = new RoleRecord();
    live.write({
      bound_service_account_names: ['api'],
      bound_service_account_namespaces: ['payments'],
      audience: 'payments',
    });
    service.roles.set('payments-api', live);
    await stack.declare(selecting('null', {}));
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
    expect(await guardsOf(stack)).toContain('wildcard');
  });

  it('does not exist as the empty text or as null', async () => {
    for (const text of ['', null]) {
      const { stack } = await openMount('openbao');
      await stack.make(selecting(text));
      expect(await guardsOf(stack)).toEqual([]);
    }
  });

  it('because of a misspelt member is refused with the correct name', async () => {
    const { stack } = await openMount('openbao');
    await stack.declare(selecting('{"matchLabel":{"team":"payments"}}'));
    const { err } = await stack.run('validate', 7);
    expect(err).toContain('"matchLabel" is not a field of a LabelSelector, so the service ignores it');
    expect(err).toContain('fix: did you mean "matchLabels"?');
  });

  it('does not result from a label that is a number', async () => {
    const { service, stack } = await openMount('openbao');
    await stack.make(selecting('{"matchLabels":{"tier":1}}'));
    expect(service.bodies('role/payments-api')).toMatchObject([
      { bound_service_account_namespace_selector: '{"matchLabels":{"tier":1}}' },
    ]);
  });
});
