// Live values that a write would repeat, of types that the method never returns: they are not used, and never sent.
import { describe, expect, it } from 'vitest';
import { caCert } from '../support/kinds/cluster-auth-config/pem-samples.ts';
import { openMount } from '../support/dialects/open-mount.ts';
import { RoleRecord } from '../support/dialects/role-record.ts';
import { manifest } from '../support/dialects/stack-folder.ts';

const spec = {
  boundServiceAccountNames: ['api'],
  boundServiceAccountNamespaces: ['payments'],
  audience: 'a',
};
const roleOf = (name: string, more: object = {}) => manifest('ClusterAuthRole', name, { ...spec, ...more });
const configOf = (more: object) =>
  manifest('ClusterAuthConfig', 'config', {
    clusterHost: 'https://k8s:6443',
    clusterCaCert: caCert,
    ...more,
  });

/** A value that would be read from our environment if a write resolved it as a reference. */
const smuggled = { $secret: { env: 'SECRETS_TOKEN' } };

const flat = (text: string) => text.replace(/\s+/g, ' ');

/** A mount with one role that we made, whose answers a test changes. */
async function withRole(changeAnswer: (answer: Record<string, unknown>) => Record<string, unknown>) {
  const mount = await openMount('openbao');
  await mount.stack.make(roleOf('payments-api'));
  const live = mount.service.roles.get('payments-api') ?? new RoleRecord();
  const answer = live.answer.bind(live);
  live.answer = () => changeAnswer({ ...answer() });
  mount.service.clear();
  return mount;
}

describe('a role with', () => {
  it.each([
    ['a policy that looks like a reference', 'token_policies', [smuggled], 'not a list of texts'],
    ['a policy that is a number', 'token_policies', ['a', 1], 'not a list of texts'],
    ['names in a map', 'bound_service_account_names', { api: true }, 'not a list of texts'],
    ['namespaces that are a number', 'bound_service_account_namespaces', 1, 'not a list of texts'],
    ['an audience that is an object', 'audience', smuggled, 'not text'],
    [
      'a selector that is an object',
      'bound_service_account_namespace_selector',
      { matchLabels: {} },
      'not text',
    ],
    ['a type that is a list', 'token_type', ['service'], 'not text'],
    ['a lifetime that is an object', 'token_ttl', smuggled, 'not a duration'],
    ['a lifetime that is a word', 'token_max_ttl', 'soon', 'not a duration'],
    ['a count that is a text', 'token_num_uses', 'many', 'not a number'],
    ['a switch that is a text', 'token_no_default_policy', 'yes', 'neither true nor false'],
    ['a deprecated name for something odd', 'policies', [smuggled], 'not a list of texts'],
  ])('%s is not changed, and never written back', async (_, member, value, says) => {
    const { service, stack } = await withRole((answer) => ({ ...answer, [member]: value }));
    await stack.declare(
      roleOf('payments-api', { aliasNameSource: 'serviceaccount_name' }) + roleOf('payments-db'),
    );
    const { changes, coverage } = await stack.plan();
    expect(changes.map(({ address }) => address)).toEqual(['ClusterAuthRole/prod/payments-db']);
    expect(coverage.complete).toBe(false);
    const { out } = await stack.run('apply --yes', 6);
    expect(flat(out)).toContain(`role "payments-api" was not understood: its "${member}" is ${says}`);
    expect(service.writes()).toEqual(['POST role/payments-db']);
    expect(JSON.stringify(service.requests.map(({ body }) => body))).not.toContain('hvs.writer');
  });

  it.each([
    ['durations as text', { token_ttl: '1h', token_max_ttl: '7200', token_period: '' }, { tokenTtl: 3600 }],
    [
      'lists as null',
      { bound_service_account_namespaces: null, token_policies: null, token_bound_cidrs: null },
      {},
    ],
    ['lists as text', { token_policies: 'b,a' }, { tokenPolicies: ['a', 'b'] }],
    ['deprecated names', { ttl: 3600, policies: ['a'], num_uses: 4, bound_cidrs: ['10.0.0.1'] }, {}],
    ['unknown members', { alias_metadata: { a: smuggled }, token_strictly_bind_ip: false }, {}],
    ['texts as null', { audience: null, token_type: null, alias_name_source: null }, { audience: null }],
  ])('%s is understood', async (_, answered, declared) => {
    const { stack } = await withRole((answer) => ({ ...answer, ...answered }));
    await stack.declare(roleOf('payments-api', declared));
    const { coverage } = await stack.plan();
    expect(coverage).toMatchObject({ complete: true, targets: [{ incomplete: [] }] });
  });
});

describe('a config', () => {
  it.each([
    ['vault', 'use_annotations_as_alias_metadata', smuggled, 'neither true nor false'],
    ['vault', 'use_annotations_as_alias_metadata', 'true', 'neither true nor false'],
    ['openbao', 'pem_keys', [smuggled], 'not a list of texts'],
    ['openbao', 'kubernetes_ca_cert', 1, 'not text'],
    ['openbao', 'kubernetes_host', ['https://k8s'], 'not text'],
    ['openbao', 'disable_local_ca_jwt', 1, 'neither true nor false'],
  ] as const)('of %s with an unexpected "%s" is not changed, and never written back', async (...row) => {
    const [dialect, member, value, says] = row;
    const { service, stack } = await openMount(dialect);
    await stack.make(configOf({}));
    Object.assign(service.config() ?? {}, { [member]: value });
    service.clear();
    await stack.declare(configOf({ clusterHost: 'https://other:6443' }));
    const { out } = await stack.run('apply --yes', 1);
    expect(flat(out)).toContain(`its "${member}" is ${says}`);
    expect(service.writes()).toEqual([]);
  });
});
