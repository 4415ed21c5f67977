// What a token can give to one that it makes.
import { describe, expect, it } from 'vitest';
import {
  type Logins,
  type Reply,
  ROOT,
  type LoginsOptions,
  serveLogins,
} from '../../support/server/cluster-auth/serve-logins.ts';

const may = (...capabilities: ('update' | 'sudo')[]) => [{ path: 'auth/token/create', capabilities }];

/** With one maker that may make tokens and no more, and one that has `sudo` for that. */
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

const make = (logins: Logins, by: string, body: unknown = {}): Promise<Reply> =>
  logins.send('POST', 'auth/token/create', body, by);

describe('a child', () => {
  it('can be used only from where its parent can', async () => {
    const logins = await served();
    const { auth } = await make(logins, 'bound');
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ bound_cidrs: ['127.0.0.0/8'] });
  });

  it('is of the entity of the login that it comes from', async () => {
    const logins = await served();
    await logins.role({ token_policies: ['maker'] });
    const parent = await logins.login(await logins.cluster.issue());
    const { auth } = await make(logins, parent.auth.client_token);
    expect(auth.entity_id).toMatch(/./);
    expect(auth.entity_id).toBe(parent.auth.entity_id);
  });

  it('has the policy default only where its parent has it', async () => {
    const logins = await served();
    expect((await make(logins, 'plain')).auth.policies).toEqual(['maker']);
    expect((await make(logins, 'plain', { policies: ['maker'] })).auth.policies).toEqual(['maker']);
    expect((await make(logins, 'plain', { policies: ['default'] })).errors).toEqual([
      'child policies must be subset of parent',
    ]);
    expect((await make(logins, 'maker', { policies: ['maker'] })).auth.policies).toEqual([
      'default',
      'maker',
    ]);
    expect((await make(logins, 'maker', { no_default_policy: true })).auth.policies).toEqual(['maker']);
  });

  it('has any policy but root where its maker has sudo', async () => {
    const logins = await served();
    expect((await make(logins, 'chief', { policies: ['other'] })).auth.policies).toEqual([
      'default',
      'other',
    ]);
    expect((await make(logins, 'chief', { policies: ['root'] })).errors).toEqual([
      'root tokens may not be created without parent token being root',
    ]);
    expect((await make(logins, ROOT, { policies: ['control-group'] })).errors).toEqual([
      'cannot assign policy "control-group"',
    ]);
  });

  it('is a batch token where that is asked for', async () => {
    const logins = await served();
    const { auth } = await make(logins, 'maker', { type: 'batch', ttl: '10m' });
    expect(auth).toMatchObject({ token_type: 'batch', accessor: '', renewable: false, lease_duration: 600 });
    expect(await make(logins, auth.client_token)).toMatchObject({
      status: 400,
      errors: ['batch tokens cannot create more tokens'],
    });
  });

  it('shows its metadata', async () => {
    const logins = await served();
    const { auth } = await make(logins, 'maker', { meta: { of: 'tests' } });
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ meta: { of: 'tests' } });
  });
});

describe('an orphan', () => {
  it('is made with sudo, lives on without its maker, and from anywhere', async () => {
    const logins = await served({
      seed: {
        'service-tokens': [
          { token: 'bound-chief', policies: ['chief', 'default'], ttl: '1h', 'bound-cidrs': ['127.0.0.1'] },
        ],
      },
    });
    const { auth } = await make(logins, 'bound-chief', { no_parent: true });
    await logins.send('POST', 'auth/token/revoke', { token: 'bound-chief' });
    const shown = await logins.lookUp(auth.client_token);
    expect(shown).toMatchObject({ orphan: true, policies: ['chief', 'default'] });
    expect(shown).not.toHaveProperty('bound_cidrs');
  });

  it('is made without sudo at a path of its own', async () => {
    const path = 'auth/token/create-orphan';
    const logins = await served({
      seed: {
        policies: [{ name: 'orphans', rules: [{ path, capabilities: ['update'] }] }],
        'service-tokens': [{ token: 'helper', policies: ['orphans', 'default'], ttl: '1h' }],
      },
    });
    const makeOrphan = (by: string, body: unknown = {}) => logins.send('POST', path, body, by);
    const { auth } = await makeOrphan('helper');
    await logins.send('POST', 'auth/token/revoke', { token: 'helper' });
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ orphan: true, path });
    expect((await makeOrphan('maker')).status).toBe(403);
    expect((await makeOrphan(auth.client_token, { policies: ['root'] })).errors).toEqual([
      'child policies must be subset of parent',
    ]);
  });

  it('is what is left where a token is revoked alone, for which sudo is needed', async () => {
    const path = 'auth/token/revoke-orphan';
    const logins = await served({
      seed: {
        policies: [{ name: 'revokers', rules: [{ path, capabilities: ['update'] }] }],
        'service-tokens': [{ token: 'revoker', policies: ['revokers'] }],
      },
    });
    const { auth } = await make(logins, 'chief');
    const revoke = (token: string, by = ROOT) => logins.send('POST', path, { token }, by);
    expect(await revoke('chief', 'revoker')).toMatchObject({
      status: 400,
      errors: ['root or sudo privileges required to revoke and orphan'],
    });
    expect((await revoke('chief')).status).toBe(204);
    expect(await logins.lookUp(auth.client_token)).toMatchObject({ orphan: true });
    expect(await revoke('chief')).toMatchObject({ status: 400, errors: ['token to revoke not found'] });
    const batch = await make(logins, ROOT, { type: 'batch', policies: ['default'] });
    expect((await revoke(batch.auth.client_token)).errors).toEqual(['batch tokens cannot be revoked']);
  });

  it('does not outlive an expiring token that may do everything', async () => {
    const logins = await served();
    expect(await make(logins, 'short-root', { no_parent: true })).toMatchObject({
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
])('a plain token that sends %j gets no child', async (body, error) => {
  const logins = await served();
  expect(await make(logins, 'maker', body)).toMatchObject({ status: 400, errors: [error] });
});

it('lets who has sudo make periodic tokens, and choose how a token is spelt', async () => {
  const logins = await served();
  expect((await make(logins, 'chief', { period: '10m' })).auth.lease_duration).toBe(600);
  expect((await make(logins, 'chief', { id: 'mine' })).auth.client_token).toBe('mine');
  expect(await logins.lookUp('mine')).toMatchObject({ policies: ['chief', 'default'] });
  for (const [id, error] of [
    ['mine', 'cannot create a token with a duplicate ID'],
    ['s.mine', "custom token ID cannot have the '.' in the value"],
  ])
    expect(await make(logins, 'chief', { id })).toMatchObject({ status: 400, errors: [error] });
});

it('does not attach the children of a revoked token to a new one of the same text', async () => {
  let now = Date.now();
  const logins = await served({ now: () => new Date(now) });
  await make(logins, ROOT, { id: 'again', policies: ['maker', 'default'], ttl: '1m' });
  const { auth } = await make(logins, 'again', { ttl: '1h' });
  now += 60_000;
  await make(logins, ROOT, { id: 'again', ttl: '1h' });
  expect((await logins.send('GET', 'auth/token/lookup-self', undefined, auth.client_token)).status).toBe(403);
});

it('lists no token whose maker is gone', async () => {
  let now = Date.now();
  const logins = await served({ now: () => new Date(now) });
  const parent = await make(logins, ROOT, { policies: ['maker'], ttl: '1m' });
  const child = await make(logins, parent.auth.client_token, { ttl: '1h' });
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
    const makeThere = (by: string, body: unknown = {}) =>
      logins.send('POST', 'team/auth/token/create', body, by);
    return { visit, makeThere };
  }

  it('a token makes none without sudo', async () => {
    const { makeThere } = await withTeam();
    expect(await makeThere('visitor')).toMatchObject({
      status: 400,
      errors: ['root or sudo privileges required generate a namespace admin token'],
    });
  });

  it('a token with sudo gives the policies that it names, and never its own by their names', async () => {
    const { visit, makeThere } = await withTeam();
    await visit('"update", "sudo"');
    expect((await makeThere('visitor')).auth.policies).toEqual(['default']);
    expect((await makeThere('visitor', { policies: ['visit'] })).auth.policies).toEqual(['default', 'visit']);
    expect((await makeThere('visitor', { no_default_policy: true })).auth.policies).toEqual([]);
  });

  it('not even a token that may do everything makes one that may', async () => {
    const { makeThere } = await withTeam();
    expect((await makeThere(ROOT)).auth.policies).toEqual(['default']);
    for (const policies of [['root'], [' Root ']])
      expect((await makeThere(ROOT, { policies })).errors).toEqual([
        'root tokens may not be created from a parent namespace',
      ]);
  });
});
