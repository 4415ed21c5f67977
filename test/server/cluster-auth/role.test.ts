// Writing, reading and deleting one role: what a write merges, what a read shows, what a delete leaves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  dataOf,
  errorOf,
  type ServedMount,
  serveMount,
} from '../../support/server/cluster-auth/serve-mount.ts';
import { fixtures } from '../../support/server/cluster-auth/replay/vectors.ts';

const WEB = { bound_service_account_names: ['web'], bound_service_account_namespaces: ['shop'] };
const SELECTOR = '{"matchLabels":{"team":"shop"}}';

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
});
afterAll(() => mount.close());

const write = (name: string, body: unknown) => mount.send('POST', `cluster/role/${name}`, body);
const read = async (name: string) => dataOf(await mount.send('GET', `cluster/role/${name}`));

describe('reading', () => {
  it('shows a minimal role with the defaults, without audience, name and deprecated names', async () => {
    await write('minimal', WEB);
    expect(await read('minimal')).toEqual({
      bound_service_account_names: ['web'],
      bound_service_account_namespaces: ['shop'],
      bound_service_account_namespace_selector: '',
      alias_name_source: 'serviceaccount_uid',
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: [],
      token_ttl: 0,
      token_type: 'default',
    });
  });

  it('shows everything that was set', async () => {
    const role = {
      ...WEB,
      bound_service_account_namespace_selector: SELECTOR,
      audience: 'https://shop.example',
      alias_name_source: 'serviceaccount_name',
      token_bound_cidrs: ['10.0.0.0/8'],
      token_explicit_max_ttl: 7200,
      token_max_ttl: 3600,
      token_no_default_policy: true,
      token_num_uses: 3,
      token_period: 60,
      token_policies: ['Shop', 'read', 'read'],
      token_ttl: 1800,
      token_type: 'service',
    };
    await write('full', role);
    expect(await read('full')).toEqual(role);
  });

  it('shows namespaces that were never set as null', async () => {
    await write('selected', {
      bound_service_account_names: 'web',
      bound_service_account_namespace_selector: SELECTOR,
    });
    expect((await read('selected'))['bound_service_account_namespaces']).toBeNull();
  });

  it('answers 404 without an error text for an unknown role', async () => {
    expect(errorOf(await mount.send('GET', 'cluster/role/absent'))).toEqual({ status: 404, errors: [] });
  });
});

describe('names', () => {
  it('are folded to lower case, so two spellings are one role', async () => {
    await write('Folded', { ...WEB, audience: 'first' });
    await write('FOLDED', { token_ttl: 60 });
    expect(await read('folded')).toMatchObject({ audience: 'first', token_ttl: 60 });
    expect((await mount.send('DELETE', 'cluster/role/fOLDED')).status).toBe(204);
    expect((await mount.send('GET', 'cluster/role/folded')).status).toBe(404);
  });

  it('come from the path, not from the body', async () => {
    await write('from-path', { ...WEB, name: 'from-body' });
    expect((await mount.send('GET', 'cluster/role/from-path')).status).toBe(200);
    expect((await mount.send('GET', 'cluster/role/from-body')).status).toBe(404);
  });

  it('belong to one mount', async () => {
    await write('lonely', WEB);
    expect((await mount.send('GET', 'team/cluster/role/lonely')).status).toBe(404);
  });
});

describe('merging', () => {
  it('keeps the fields that are not sent', async () => {
    await write('kept', {
      ...WEB,
      audience: 'a',
      token_ttl: '1h',
      token_policies: ['p'],
      token_type: 'batch',
    });
    const before = await read('kept');
    expect((await write('kept', { token_max_ttl: '2h' })).status).toBe(204);
    expect(await read('kept')).toEqual({ ...before, token_max_ttl: 7200 });
  });

  it('clears lists, durations and texts that are sent empty', async () => {
    await write('cleared', {
      ...WEB,
      audience: 'a',
      token_policies: ['p'],
      token_bound_cidrs: ['10.0.0.1'],
      token_ttl: 60,
      token_type: 'service',
    });
    await write('cleared', {
      audience: '',
      token_policies: [],
      token_bound_cidrs: '',
      token_ttl: 0,
      token_type: '',
    });
    const cleared = await read('cleared');
    expect(cleared).toMatchObject({
      token_policies: [],
      token_bound_cidrs: [],
      token_ttl: 0,
      token_type: 'default',
    });
    expect(cleared).not.toHaveProperty('audience');
  });

  it('empties the namespace selector whenever it is not sent', async () => {
    await write('reset', { ...WEB, bound_service_account_namespace_selector: SELECTOR });
    await write('reset', { token_ttl: 60 });
    expect((await read('reset'))['bound_service_account_namespace_selector']).toBe('');
  });

  it('refuses a partial write to a role that has only a selector', async () => {
    await write('only', {
      bound_service_account_names: 'web',
      bound_service_account_namespace_selector: SELECTOR,
    });
    const { errors } = errorOf(await write('only', { token_ttl: 60 }));
    expect(errors[0]).toMatch(/^"bound_service_account_namespaces" can not be empty/);
    expect((await read('only'))['bound_service_account_namespace_selector']).toBe(SELECTOR);
  });

  it('changes nothing when the write is refused', async () => {
    await write('same', { ...WEB, token_ttl: 60 });
    const before = await read('same');
    expect((await write('same', { token_ttl: 90, token_type: 'bad' })).status).toBe(400);
    expect(await read('same')).toEqual(before);
  });
});

describe('deprecated names', () => {
  const OLD = {
    policies: 'Read, read ,admin',
    bound_cidrs: '10.0.0.1/32',
    num_uses: 2,
    ttl: '1m',
    max_ttl: '1h',
    period: '30s',
  };

  it('set both names when they are sent alone, and policies are normalized', async () => {
    await write('old', { ...WEB, ...OLD });
    expect(await read('old')).toMatchObject({
      policies: ['admin', 'read'],
      token_policies: ['admin', 'read'],
      bound_cidrs: ['10.0.0.1'],
      token_bound_cidrs: ['10.0.0.1'],
      num_uses: 2,
      token_num_uses: 2,
      ttl: 60,
      token_ttl: 60,
      max_ttl: 3600,
      token_max_ttl: 3600,
      period: 30,
      token_period: 30,
    });
  });

  it('are reset, and no longer shown, when only the current name is sent', async () => {
    await write('renewed', { ...WEB, ...OLD });
    await write('renewed', { token_policies: ['B', 'a'], token_ttl: 90 });
    const role = await read('renewed');
    expect(role).toMatchObject({ token_policies: ['B', 'a'], token_ttl: 90, max_ttl: 3600 });
    expect(role).not.toHaveProperty('policies');
    expect(role).not.toHaveProperty('ttl');
  });

  it('get the value of the current name when both are sent', async () => {
    await write('both', { ...WEB, policies: 'old', token_policies: 'New', ttl: 1, token_ttl: 2 });
    expect(await read('both')).toMatchObject({
      policies: ['New'],
      token_policies: ['New'],
      ttl: 2,
      token_ttl: 2,
    });
  });

  it('are ignored beside the current name, even with an invalid value', async () => {
    await write('beside', { ...WEB, bound_cidrs: 'nowhere', token_bound_cidrs: ['10.1.2.3/8'] });
    expect(await read('beside')).toMatchObject({
      bound_cidrs: ['10.1.2.3/8'],
      token_bound_cidrs: ['10.1.2.3/8'],
    });
  });

  it('with a negative number set only the current name', async () => {
    await write('negative', { ...WEB, num_uses: -1 });
    expect(await read('negative')).toMatchObject({ token_num_uses: -1 });
    expect(await read('negative')).not.toHaveProperty('num_uses');
  });

  it('do not change when neither name is sent', async () => {
    await write('neither', { ...WEB, ...OLD });
    const before = await read('neither');
    await write('neither', { audience: 'a' });
    expect(await read('neither')).toEqual({ ...before, audience: 'a' });
  });

  it('keep only the policy root of a list that has it', async () => {
    await write('rooted', { ...WEB, policies: ['read', 'ROOT'] });
    expect((await read('rooted'))['token_policies']).toEqual(['root']);
  });

  it('are not shown when they are empty', async () => {
    await write('nothing', { ...WEB, policies: '', ttl: 0 });
    expect(await read('nothing')).not.toHaveProperty('policies');
    expect(await read('nothing')).not.toHaveProperty('ttl');
  });

  it('bypass the check for batch tokens once, and then block the next write', async () => {
    expect((await write('batched', { ...WEB, token_type: 'batch', period: '1h' })).status).toBe(204);
    expect(errorOf(await write('batched', { audience: 'a' }))).toEqual({
      status: 400,
      errors: ["'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens"],
    });
  });
});

describe('warnings', () => {
  const TRUNCATED =
    "max_ttl is greater than the system or backend mount's maximum TTL value; " +
    "issued tokens' max TTL value will be truncated";
  const warnings = async (name: string, body: unknown) => {
    const reply = await write(name, body);
    return { status: reply.status, ...(reply.body as { data: unknown; warnings: string[] }) };
  };

  it('come with a 200 when the maximum lifetime exceeds that of the mount', async () => {
    expect((await write('longest', { ...WEB, token_max_ttl: '768h' })).status).toBe(204);
    expect(await warnings('longer', { ...WEB, token_max_ttl: '769h' })).toMatchObject({
      status: 200,
      data: null,
      warnings: [TRUNCATED],
    });
  });

  it('name unknown fields and a name in the body beside another warning', async () => {
    const body = { ...WEB, token_max_ttl: '769h', zeta: 1, alpha: 2, name: 'x' };
    expect((await warnings('noted', body)).warnings).toEqual([
      TRUNCATED,
      'Endpoint ignored these unrecognized parameters: [alpha zeta]',
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]);
  });

  it('are not sent for unknown fields alone, which are answered with 204', async () => {
    expect(await write('silent', { ...WEB, token_tll: 60 })).toMatchObject({ status: 204, body: undefined });
  });
});

describe('deleting', () => {
  it('answers 204 for an existing role and for an unknown one', async () => {
    await write('gone', WEB);
    expect(await mount.send('DELETE', 'cluster/role/gone')).toMatchObject({ status: 204, body: undefined });
    expect((await mount.send('GET', 'cluster/role/gone')).status).toBe(404);
    expect((await mount.send('DELETE', 'cluster/role/gone')).status).toBe(204);
  });

  it('removes all fields, so that a new role of the same name starts empty', async () => {
    await write('again', { ...WEB, audience: 'a', ttl: 60 });
    await mount.send('DELETE', 'cluster/role/again');
    expect(errorOf(await write('again', { token_ttl: 1 })).errors).toEqual([
      '"bound_service_account_names" can not be empty',
    ]);
  });
});

it('changes are in no audit trail: a mount belongs to no organization', async () => {
  await write('quiet', WEB);
  await write('quiet', { token_ttl: 60 });
  await mount.send('DELETE', 'cluster/role/quiet');
  const config = { cluster_host: 'https://h', pem_keys: [] };
  await mount.send('POST', 'cluster/config', { ...config, cluster_ca_cert: fixtures().certs.ca.certificate });
  expect((await mount.send('GET', 'cluster/config')).status).toBe(200);
  expect(mount.auditEvents()).toEqual([]);
});
