// What a token can give to a token that it creates.
import { describe, expect, it } from 'vitest';
import {
  type Logins,
  type Reply,
  ROOT,
  type LoginsOptions,
  serveLogins,
} from '../../support/server/cluster-auth/serve-logins.ts';

const may = (...capabilities: ('update' | 'sudo')[]) => [{ path: 'auth/token/create', capabilities }];

/** With the token `maker`, which may only create tokens, and `chief`, which has `sudo` for that. */
function served(options: LoginsOptions = {}): Promise<Logins> {
  return serveLogins({
    ...options,
    seed: {
      policies: [
        { name: 'maker', rules: may('update') },
        { name: 'chief', rules: may('update', 'sudo') },
        ...(options.seed?.policies ?? []),
      ],
      'service-tokens': [
        { token: 'maker', policies: ['maker', 'default'], ttl: '1h' },
        { token: 'chief', policies: ['chief', 'default'], ttl: '1h' },
        { token: 'plain', policies: ['maker'], ttl: '1h' },
        { token: 'bound', policies: ['maker', 'default'], ttl: '1h', 'bound-cidrs': ['127.0.0.0/8'] },
        { token: 'short-root', policies: ['root'], ttl: '1h' },
        ...(options.seed?.['service-tokens'] ?? []),
      ],
    },
  });
}

const create = (logins: Logins, by: string, body: unknown = {}): Promise<Reply> =>
  logins.send('POST', 'auth/token/create', body, by);

describe('a child', () => {
  it('can be used only from the addresses of its parent', async () => {
    const logins = await served();
    const { auth } = await create(logins, 'bound');
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ bound_cidrs: ['127.0.0.0/8'] });
  });

  it('has the entity of the login of its parent', async () => {
    const logins = await served();
    await logins.role({ token_policies: ['maker'] });
    const parent = await logins.login(await logins.cluster.issue());
    const { auth } = await create(logins, parent.auth.client_token);
    expect(auth.entity_id).toMatch(/./);
    expect(auth.entity_id).toBe(parent.auth.entity_id);
  });

  it('has the policy default only if its parent has it', async () => {
    const logins = await served();
    expect((await create(logins, 'plain')).auth.policies).toEqual(['maker']);
    expect((await create(logins, 'plain', { policies: ['maker'] })).auth.policies).toEqual(['maker']);
    expect((await create(logins, 'plain', { policies: ['default'] })).errors).toEqual([
      'child policies must be subset of parent',
    ]);
    expect((await create(logins, 'maker', { policies: ['maker'] })).auth.policies).toEqual([
      'default',
      'maker',
    ]);
    expect((await create(logins, 'maker', { no_default_policy: true })).auth.policies).toEqual(['maker']);
  });

  it('may have any policy except root if its creator has sudo', async () => {
    const logins = await served();
    expect((await create(logins, 'chief', { policies: ['other'] })).auth.policies).toEqual([
      'default',
      'other',
    ]);
    expect((await create(logins, 'chief', { policies: ['root'] })).errors).toEqual([
      'root tokens may not be created without parent token being root',
    ]);
    expect((await create(logins, ROOT, { policies: ['control-group'] })).errors).toEqual([
      'cannot assign policy "control-group"',
    ]);
  });

  it('is a batch token if the request says so', async () => {
    const logins = await served();
    const { auth } = await create(logins, 'maker', { type: 'batch', ttl: '10m' });
    expect(auth).toMatchObject({ token_type: 'batch', accessor: '', renewable: false, lease_duration: 600 });
    expect(await create(logins, auth.client_token)).toMatchObject({
      status: 400,
      errors: ['batch tokens cannot create more tokens'],
    });
  });

  it('shows its metadata', async () => {
    const logins = await served();
    const { auth } = await create(logins, 'maker', { meta: { of: 'tests' } });
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ meta: { of: 'tests' } });
  });
});

describe('an orphan', () => {
  it('requires sudo, outlives its creator, and can be used from any address', async () => {
    const logins = await served({
      seed: {
        'service-tokens': [
          { token: 'bound-chief', policies: ['chief', 'default'], ttl: '1h', 'bound-cidrs': ['127.0.0.1'] },
        ],
      },
    });
    const { auth } = await create(logins, 'bound-chief', { no_parent: true });
    await logins.send('POST', 'auth/token/revoke', { token: 'bound-chief' });
    const shown = await logins.lookUp(auth.client_token);
    expect(shown).toMatchObject({ orphan: true, policies: ['chief', 'default'] });
    expect(shown).not.toHaveProperty('bound_cidrs');
  });

  it('requires no sudo at a path of its own', async () => {
    const path = 'auth/token/create-orphan';
    const logins = await served({
      seed: {
        policies: [{ name: 'orphans', rules: [{ path, capabilities: ['update'] }] }],
        'service-tokens': [{ token: 'helper', policies: ['orphans', 'default'], ttl: '1h' }],
      },
    });
    const createOrphan = (by: string, body: unknown = {}) => logins.send('POST', path, body, by);
    const { auth } = await createOrphan('helper');
    await logins.send('POST', 'auth/token/revoke', { token: 'helper' });
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ orphan: true, path });
    expect((await createOrphan('maker')).status).toBe(403);
    expect((await createOrphan(auth.client_token, { policies: ['root'] })).errors).toEqual([
      'child policies must be subset of parent',
    ]);
  });

  it('remains when only its parent is revoked, which requires sudo', async () => {
    const path = 'auth/token/revoke-orphan';
    const logins = await served({
      seed: {
        policies: [{ name: 'revokers', rules: [{ path, capabilities: ['update'] }] }],
        'service-tokens': [{ token: 'revoker', policies: ['revokers'] }],
      },
    });
    const { auth } = await create(logins, 'chief');
    const revoke = (token: string, by = ROOT) => logins.send('POST', path, { token }, by);
    expect(await revoke('chief', 'revoker')).toMatchObject({
      status: 400,
      errors: ['root or sudo privileges required to revoke and orphan'],
    });
    expect((await revoke('chief')).status).toBe(204);
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ orphan: true });
    expect(await revoke('chief')).toMatchObject({ status: 400, errors: ['token to revoke not found'] });
    const batch = await create(logins, ROOT, { type: 'batch', policies: ['default'] });
    expect((await revoke(batch.auth.client_token)).errors).toEqual(['batch tokens cannot be revoked']);
  });

  it('cannot outlive an expiring root token', async () => {
    const logins = await served();
    expect(await create(logins, 'short-root', { no_parent: true })).toMatchObject({
      status: 400,
      errors: ['expiring root tokens cannot create non-expiring root tokens'],
    });
  });
});

it.each([
  [{ no_parent: true }, 'root or sudo privileges required to create orphan token'],
  [{ period: '1h' }, 'root or sudo privileges required to create periodic token'],
  [{ id: 'mine' }, 'root or sudo privileges required to specify token id'],
  [{ num_uses: -1 }, 'number of uses cannot be negative'],
  [{ type: 'other' }, "invalid 'token_type' value"],
  [{ type: 'batch', num_uses: 1 }, 'batch tokens cannot have "num_uses" set'],
  [{ entity_alias: 'x' }, "'entity_alias' is only allowed in combination with token role"],
])('a token without sudo gets no child with %j', async (body, error) => {
  const logins = await served();
  expect(await create(logins, 'maker', body)).toMatchObject({ status: 400, errors: [error] });
});

it('lets a token with sudo create periodic tokens, and choose the id of a token', async () => {
  const logins = await served();
  expect((await create(logins, 'chief', { period: '10m' })).auth.lease_duration).toBe(600);
  expect((await create(logins, 'chief', { id: 'mine' })).auth.client_token).toBe('mine');
  expect(await logins.lookUp('mine')).toMatchObject({ policies: ['chief', 'default'] });
  for (const [id, error] of [
    ['mine', 'cannot create a token with a duplicate ID'],
    ['s.mine', "custom token ID cannot have the '.' in the value"],
  ])
    expect(await create(logins, 'chief', { id })).toMatchObject({ status: 400, errors: [error] });
});

it('does not attach the children of an expired token to a new one with the same id', async () => {
  let now = Date.now();
  const logins = await served({ now: () => new Date(now) });
  await create(logins, ROOT, { id: 'again', policies: ['maker', 'default'], ttl: '1m' });
  const { auth } = await create(logins, 'again', { ttl: '1h' });
  now += 60_000;
  await create(logins, ROOT, { id: 'again', ttl: '1h' });
  expect((await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(403);
});

it('lists no token whose creator has expired', async () => {
  let now = Date.now();
  const logins = await served({ now: () => new Date(now) });
  const parent = await create(logins, ROOT, { policies: ['maker'], ttl: '1m' });
  const child = await create(logins, parent.auth.client_token, { ttl: '1h' });
  const listed = async () => (await logins.send('LIST', 'auth/token/accessors')).data['keys'];
  expect(await listed()).toContain(child.auth.accessor);
  now += 60_000;
  expect(await listed()).not.toContain(child.auth.accessor);
});

describe('in another namespace', () => {
  async function withTeam() {
    const logins = await served({
      dialect: 'openbao',
      seed: {
        policies: [{ name: 'visit', rules: [{ path: 'nothing', capabilities: ['read'] }] }],
        'service-tokens': [{ token: 'visitor', policies: ['visit'], ttl: '1h' }],
      },
    });
    await logins.send('POST', 'sys/namespaces/team', {});
    const visit = (capabilities: string) =>
      logins.send('POST', 'sys/policies/acl/visit', {
        policy: `path "team/auth/token/create" { capabilities = [${capabilities}] }`,
      });
    await visit('"update"');
    await logins.send('POST', 'team/sys/policies/acl/visit', { policy: 'path "*" { policy = "sudo" }' });
    const createThere = (by: string, body: unknown = {}) =>
      logins.send('POST', 'team/auth/token/create', body, by);
    return { visit, createThere };
  }

  it('a token without sudo creates no token', async () => {
    const { createThere } = await withTeam();
    expect(await createThere('visitor')).toMatchObject({
      status: 400,
      errors: ['root or sudo privileges required generate a namespace admin token'],
    });
  });

  it('a token with sudo gives policies of that namespace, and never its own of the same name', async () => {
    const { visit, createThere } = await withTeam();
    await visit('"update", "sudo"');
    expect((await createThere('visitor')).auth.policies).toEqual(['default']);
    expect((await createThere('visitor', { policies: ['visit'] })).auth.policies).toEqual([
      'default',
      'visit',
    ]);
    expect((await createThere('visitor', { no_default_policy: true })).auth.policies).toEqual([]);
  });

  it('not even a root token creates a root token', async () => {
    const { createThere } = await withTeam();
    expect((await createThere(ROOT)).auth.policies).toEqual(['default']);
    for (const policies of [['root'], [' Root ']])
      expect((await createThere(ROOT, { policies })).errors).toEqual([
        'root tokens may not be created from a parent namespace',
      ]);
  });
});
