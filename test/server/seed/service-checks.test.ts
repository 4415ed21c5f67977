// A seed of the secrets service that no request could create is refused before the service starts, with the place of the error.
import { expect, it } from 'vitest';
import { serveLogins } from '../../support/server/cluster-auth/serve-logins.ts';
import { seedProblems } from '../../support/server/seed-problems.ts';

it('refuses mounts with a path that no request can have', () => {
  const mounts = ['cluster', 'a//b', '/a', 'a/', '..', 'a/./b', 'a/../b', ''];
  expect(seedProblems({ mounts })).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((at) => `mounts[${at}] must be a path: names with one slash between them`),
  );
});

it('refuses mounts that overlap one another, or the token store', () => {
  const mounts = ['cluster', 'team/a', 'team', 'team/a/b', 'clusters', 'cluster', 'token', 'sys'];
  expect(seedProblems({ mounts })).toEqual([
    'mounts[2] overlaps the path "team/a"',
    'mounts[3] overlaps the path "team/a"',
    'mounts[5] overlaps the path "cluster"',
    'mounts[6] overlaps the path "token"',
  ]);
});

it('refuses a policy with the name root, and one policy in two spellings', () => {
  const rules = [{ path: 'x', capabilities: ['read'] }];
  const roots = ['root', 'Root'].map((name) => ({ name, rules }));
  expect(seedProblems({ policies: roots })).toEqual(
    [0, 1].map(
      (at) => `policies[${at}].name must not be root, which may do everything and cannot be written`,
    ),
  );
  expect(seedProblems({ policies: ['A', 'b', 'a'].map((name) => ({ name, rules })) })).toEqual([
    'policies[2] repeats the name "a"',
  ]);
});

it('refuses a token with unknown policies', () => {
  const data = {
    policies: [{ name: 'Look', rules: [] }],
    'service-tokens': [
      { token: 'a', policies: ['root'] },
      { token: 'b', policies: ['default', 'look', 'LOOK'] },
      { token: 'c', policies: ['look', 'nope'] },
    ],
  };
  expect(seedProblems(data)).toEqual([
    'service-tokens[2] names the policy "nope", which is not among policies',
  ]);
});

it.each([
  [{ type: 'batch', period: '1h' }, 'period must not be set for a batch token'],
  [{ type: 'batch', 'num-uses': 3 }, 'num-uses must not be set for a batch token'],
  [{ type: 'batch', renewable: true }, 'renewable must not be set for a batch token'],
  [
    { ttl: '1h', 'expires-at': '2030-01-01T00:00:00Z' },
    'ttl and expires-at both say when it ends: leave one out',
  ],
  [{ ttl: '2h', 'explicit-max-ttl': 3600 }, 'ttl is longer than explicit-max-ttl'],
])('refuses a token with %j, which no request could create', (terms, problem) => {
  expect(seedProblems({ 'service-tokens': [{ token: 's', policies: ['root'], ...terms }] })).toEqual([
    `service-tokens[0].${problem}`,
  ]);
});

it.each(['10.0.0.0/99', '/run/service.sock', 'example', '10.0.0'])(
  'refuses a token bound to %s, which is not an address',
  (block) => {
    const token = { token: 's', policies: ['root'], 'bound-cidrs': ['127.0.0.1', block] };
    expect(seedProblems({ 'service-tokens': [token] })).toEqual([
      'service-tokens[0].bound-cidrs[1] must be an address or a block of addresses',
    ]);
  },
);

it('normalizes the policies and CIDR blocks of its tokens like a request', async () => {
  const logins = await serveLogins({
    seed: {
      policies: ['B', 'a'].map((name) => ({ name, rules: [] })),
      'service-tokens': [
        {
          token: 'some',
          policies: ['default', 'b', 'A', 'a'],
          'bound-cidrs': ['127.0.0.1/32', '10.0.0.7/8'],
        },
        { token: 'all', policies: ['b', 'root'] },
      ],
    },
  });
  expect(await logins.lookUp('some')).toMatchObject({
    policies: ['a', 'b', 'default'],
    bound_cidrs: ['127.0.0.1', '10.0.0.7/8'],
  });
  expect(await logins.lookUp('all')).toMatchObject({ policies: ['root'] });
  expect((await logins.send('GET', 'sys/policies/acl/b')).status).toBe(200);
});
