import { expect, it } from 'vitest';

import { serveForTest } from '../../support/server/serve-for-test.ts';
import { seedProblems } from '../../support/server/seed-problems.ts';

it.each([
  [
    'two users',
    {
      users: [
        { username: 'ann', token: 'secret' },
        { username: 'bob', tokens: [{ token: 'other' }, { token: 'secret' }] },
      ],
    },
    ['users[1].tokens[1] repeats the token of users[0]'],
  ],
  [
    'one user',
    { users: [{ username: 'ann', token: 'secret', tokens: [{ token: 'secret' }] }] },
    ['users[0].tokens[0] repeats the token of users[0]'],
  ],
  [
    'two teams',
    {
      organizations: [
        { name: 'acme', teams: [{ name: 'a', token: 'secret' }] },
        { name: 'rival', teams: [{ name: 'a', token: 'secret' }] },
      ],
    },
    ['organizations[1].teams[0] repeats the token of organizations[0].teams[0]'],
  ],
  [
    'two service tokens',
    {
      'service-tokens': [
        { token: 'secret', policies: ['root'] },
        { token: 'secret', policies: [] },
      ],
    },
    ['service-tokens[1] repeats the token of service-tokens[0]'],
  ],
  [
    'a user, a team, an organization and a service token',
    {
      users: [{ username: 'ann', token: 'secret' }],
      organizations: [
        { name: 'acme', token: 'secret', teams: [{ name: 'a', tokens: [{ token: 'secret' }] }] },
      ],
      'service-tokens': [{ token: 'secret', policies: [] }],
    },
    ['organizations[0]', 'organizations[0].teams[0].tokens[0]', 'service-tokens[0]'].map(
      (at) => `${at} repeats the token of users[0]`,
    ),
  ],
])('refuses one token for %s, and does not print it', (_whose, data, expected) => {
  expect(seedProblems(data)).toEqual(expected);
  expect(seedProblems(data).join()).not.toContain('secret');
});

it('refuses one name for two users, organizations, teams, policies, variables or outputs', () => {
  const acme = {
    name: 'acme',
    teams: [{ name: 'devs' }, { name: 'devs', 'read-workspaces': true }],
    workspaces: [
      {
        name: 'net',
        vars: [{ key: 'a' }, { key: 'a', category: 'env' }, { key: 'a', category: 'engine' }],
        'state-versions': [
          {
            outputs: [
              { name: 'url', value: 1 },
              { name: 'url', value: 2 },
            ],
          },
        ],
      },
    ],
  };
  const data = {
    users: [{ username: 'ann' }, { username: 'ann', email: 'ann@example.com' }],
    organizations: [acme, { name: 'rival', teams: [{ name: 'devs' }] }, { name: 'acme' }],
    policies: [
      { name: 'look', rules: [] },
      { name: 'look', rules: [] },
    ],
  };
  expect(seedProblems(data)).toEqual([
    'users[1] repeats the username "ann"',
    'organizations[0].teams[1] repeats the name "devs"',
    'organizations[0].workspaces[0].vars[2] repeats the key "a"',
    'organizations[0].workspaces[0].state-versions[0].outputs[1] repeats the name "url"',
    'organizations[2] repeats the name "acme"',
    'policies[1] repeats the name "look"',
  ]);
});

it('refuses two state versions of a workspace with one serial, also if it comes from the place in the list', () => {
  const workspaces = [
    { name: 'said', 'state-versions': [{ serial: 7 }, { serial: 8 }, { serial: 7 }] },
    { name: 'counted', 'state-versions': [{ serial: 2 }, {}] },
    { name: 'other', 'state-versions': [{ serial: 7 }] },
    { name: 'intermediate', 'state-versions': [{ serial: 2 }], 'intermediate-state-version': 'pending' },
  ];
  expect(seedProblems({ organizations: [{ name: 'acme', workspaces }] })).toEqual([
    'organizations[0].workspaces[0].state-versions[2] repeats the serial 7',
    'organizations[0].workspaces[1].state-versions[1] repeats the serial 2',
    'organizations[0].workspaces[3].intermediate-state-version repeats the serial 2',
  ]);
});

it('reports repeated items and unknown references together, and does not start', async () => {
  const seed = {
    users: [
      { username: 'ann', token: 'secret' },
      { username: 'ann', token: 'secret' },
    ],
    organizations: [{ name: 'acme', members: ['bob'] }],
  };
  await expect(serveForTest({ seed })).rejects.toThrow(
    /"bob", who is not among users\n {2}users\[1\] repeats the username "ann"\n {2}users\[1\] repeats the token of users\[0\]$/,
  );
});
