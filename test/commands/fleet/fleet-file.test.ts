// What fleet.yaml says of a repository.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFleet } from '../../../src/commands/fleet/fleet-file.ts';
import { openFleetFile } from '../../../src/commands/fleet/kept-fleet.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function read(spec: object) {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const head = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'acme' } };
  writeFileSync(file, JSON.stringify({ ...head, spec }));
  return readFleet(file);
}

const url = 'https://git.example.com/acme/platform.git';

it('gives each stack its own interval, or else the interval of its repository or of the fleet', async () => {
  const { fleet } = await read({
    interval: '1h',
    repositories: [
      { name: 'others', url },
      {
        ...{ name: 'platform', url, interval: '30m' },
        intervals: [
          { stacks: ['prod/**'], interval: '5m' },
          { stacks: ['**'], interval: '1d' },
        ],
      },
      { name: 'teams', url, interval: '30m', intervals: [{ stacks: ['prod/**'], interval: '5m' }] },
    ],
  });
  const seconds = (path: string) => fleet?.repositories.map(({ secondsOf }) => secondsOf(path));
  expect(seconds('prod/a/trueup.yaml')).toEqual([3600, 300, 300]);
  expect(seconds('test/a/trueup.yaml')).toEqual([3600, 86_400, 1800]);
});

it.each(["/a'b", '/a"b', '/a%hb', 'relative', '/a\nb'])('refuses %j as a file for ssh', async (key) => {
  const ssh = { key, knownHosts: '/etc/trueup/known_hosts' };
  const { fleet, diagnostics } = await read({ repositories: [{ name: 'platform', url, ssh }] });
  expect(fleet).toBeUndefined();
  expect(JSON.stringify(diagnostics)).toContain('an absolute path without quotes');
});

it.each(['ghp_planted0token0123456789', 'github_pat_planted', 'glpat-planted', 'x-access-token:planted'])(
  'refuses an address of a repository with the token %s',
  async (token) => {
    const given = url.replace('https://', `https://${token}@`);
    const { fleet, diagnostics } = await read({ repositories: [{ name: 'platform', url: given }] });
    expect(fleet).toBeUndefined();
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  },
);

it.each(['https://acme@', 'ssh://git@'])('accepts an address that begins with %s', async (start) => {
  const given = url.replace('https://', start);
  expect((await read({ repositories: [{ name: 'platform', url: given }] })).fleet).toBeDefined();
});

it('requires the host keys of a repository that has a key', async () => {
  const { fleet } = await read({ repositories: [{ name: 'platform', url, ssh: { key: '/run/key' } }] });
  expect(fleet).toBeUndefined();
});

it('refuses a secret of webhooks that the stacks of a repository may read', async () => {
  const webhooks = { secret: { env: 'HOOK_SECRET' } };
  const variables = ['PLATFORM_TOKEN', 'HOOK_SECRET'];
  const { fleet, diagnostics } = await read({
    webhooks,
    repositories: [{ name: 'platform', url, variables }],
  });
  expect(fleet).toBeUndefined();
  expect(diagnostics.map(({ message }) => message)).toEqual([
    'the stacks of repository "platform" may read "HOOK_SECRET": webhooks need a secret of their own',
  ]);
});

const codeHost = {
  stacks: ['**'],
  github: { url: 'https://git.example.com/api/v3', token: { env: 'HOST_TOKEN' } },
};

it.each([
  [
    'a token of the code host that stacks may use in checks',
    { variables: ['HOST_TOKEN'], apply: codeHost },
    'may use "HOST_TOKEN"',
  ],
  [
    'a token of the code host that stacks may use in applies',
    { apply: { ...codeHost, variables: { API_TOKEN: 'HOST_TOKEN' } } },
    'may use "HOST_TOKEN"',
  ],
  [
    'a code host of its own without the address of its API',
    { apply: { stacks: ['**'], github: { token: { env: 'HOST_TOKEN' } } } },
    'the repository is at "git.example.com": add "url"',
  ],
  ['two code hosts', { apply: { ...codeHost, gitlab: codeHost.github } }, 'remove "github" or "gitlab"'],
  [
    'a variable that stacks cannot have',
    { apply: { stacks: ['**'], variables: { TRUEUP_FLEET_APPLY: 'PLATFORM_TOKEN' } } },
    'TRUEUP_FLEET_APPLY',
  ],
  [
    'a variable of the worker itself',
    { apply: { stacks: ['**'], variables: { API_TOKEN: 'TRUEUP_FLEET_URL' } } },
    'does not begin with TRUEUP_',
  ],
])('refuses applies with %s', async (_, repository, message) => {
  const { fleet, diagnostics } = await read({ repositories: [{ name: 'platform', url, ...repository }] });
  expect(fleet).toBeUndefined();
  expect(JSON.stringify(diagnostics)).toContain(JSON.stringify(message).slice(1, -1));
});

it.each([
  [{ schedule: '61 * * * *' }, '"61 * * * *" is not a cron expression'],
  [{ schedule: 'H H * * *' }, 'a cron expression with five fields'],
  [{ schedule: '0 0 30 2 *' }, 'is not a cron expression'],
  [{ timeZone: 'Mars/Base' }, 'there is no time zone "Mars/Base"'],
])('refuses the freeze %j', async (more, message) => {
  const freezes = [{ name: 'weekend', schedule: '0 18 * * 5', duration: '62h', ...more }];
  const { fleet, diagnostics } = await read({ repositories: [{ name: 'platform', url }], freezes });
  expect(fleet).toBeUndefined();
  expect(JSON.stringify(diagnostics)).toContain(JSON.stringify(message).slice(1, -1));
});

it('accepts one quota for each target, and refuses two for one target', async () => {
  const repositories = [{ name: 'platform', url }];
  const quota = (target: string, requestsPerSecond: number) => ({ target, requestsPerSecond });
  const quotas = [quota('https://app.example.com/api/', 20), quota('http://127.0.0.1:8200', 0.5)];
  const { fleet } = await read({ repositories, quotas });
  expect([...(fleet?.quotas ?? [])]).toEqual([
    ['https://app.example.com', 20],
    ['http://127.0.0.1:8200', 0.5],
  ]);
  const twice = await read({ repositories, quotas: [...quotas, quota('https://app.example.com', 5)] });
  expect(twice.fleet).toBeUndefined();
  expect(twice.diagnostics).toMatchObject([
    {
      message: 'two quotas are for "https://app.example.com": keep one of them',
      place: { line: expect.any(Number), column: expect.any(Number) },
    },
  ]);
  expect((await read({ repositories, quotas: [quota('https://app.example.com', 0)] })).fleet).toBeUndefined();
});

it('refuses a quota for a target that no repository may connect to', async () => {
  const own = { name: 'platform', url, targets: ['https://app.example.com/api'] };
  const quotas = [{ target: 'https://ap.example.com', requestsPerSecond: 20 }];
  const { fleet, diagnostics } = await read({ repositories: [own], quotas });
  expect(fleet).toBeUndefined();
  expect(diagnostics).toMatchObject([
    {
      message:
        'no repository may connect to "https://ap.example.com": "targets" of the repositories have "https://app.example.com"',
    },
  ]);
  const any = { name: 'other', url };
  expect((await read({ repositories: [own, any], quotas })).fleet).toBeDefined();
  const right = [{ target: 'https://app.example.com', requestsPerSecond: 20 }];
  expect((await read({ repositories: [own], quotas: right })).fleet).toBeDefined();
});

const webhook = (at: string) => ({
  notifications: [{ name: 'chat', webhook: { url: at, secret: { env: 'HOOK' } } }],
});

it.each([
  ['http://', 'this is not a valid address'],
  ['http://127.0.0.1:99999', 'this is not a valid address'],
  ['https://ann:planted@app.example.com', 'the address holds a login: remove it'],
  ['https://*.example.com', 'an address names one host'],
])('refuses the address %s in every field for addresses', async (at, message) => {
  const platform = { name: 'platform', url };
  const token = { env: 'REVIEWS' };
  for (const spec of [
    { repositories: [{ ...platform, targets: [at] }] },
    { repositories: [platform], quotas: [{ target: at, requestsPerSecond: 1 }] },
    { repositories: [platform], ...webhook(at) },
    {
      repositories: [
        { ...platform, apply: { stacks: ['**'], github: { url: at, repository: 'a/b', token } } },
      ],
    },
  ]) {
    const { fleet, diagnostics } = await read(spec);
    expect(fleet).toBeUndefined();
    expect(diagnostics).toMatchObject([{ message: expect.stringContaining(message) }]);
    expect(JSON.stringify(diagnostics)).not.toContain('planted');
  }
});

it('keeps the last valid version when the new one is not valid', async () => {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const write = (target: string) =>
    writeFileSync(
      file,
      JSON.stringify({
        ...{ apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'acme' } },
        spec: { repositories: [{ name: 'platform', url, targets: [target] }] },
      }),
    );
  write('http://127.0.0.1:8270');
  const kept = await openFleetFile(file);
  write('http://127.0.0.1:99999');
  await kept.refresh();
  expect(kept.problem).toContain('the last valid one stays in use: line 1: this is not a valid address');
  expect(kept.fleet.repositories[0]?.targets).toEqual(['http://127.0.0.1:8270']);
});

const oidc = {
  ...{ issuer: 'https://login.example.com/', clientId: 'fleet', url: 'https://fleet.example.com' },
  ...{ clientSecret: { env: 'CLIENT_SECRET' }, sessionKey: { env: 'SESSION_KEY' } },
};
const trustedHeader = { user: 'X-User', groups: 'X-Groups', proxies: ['10.0.0.1'] };

it.each([
  ['two ways', { oidc, trustedHeader }, 'keep one of them', { line: 'oidc:', column: 5 }],
  ['no way', {}, 'add "trustedHeader" or "oidc"', { line: 'console:', column: 3 }],
])('refuses a console with %s to log users in, at the place of the mistake', async (_, ways, fix, at) => {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const console = { teams: {}, ...ways };
  const lines = [
    ...['apiVersion: trueup.dev/v1', 'kind: Fleet', 'metadata: { name: acme }', 'spec:'],
    `  repositories: [{ name: platform, url: "${url}" }]`,
    '  console:',
    ...Object.entries(console).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`),
  ];
  writeFileSync(file, lines.join('\n'));
  const { fleet, diagnostics } = await readFleet(file);
  expect(fleet).toBeUndefined();
  const line = lines.findIndex((text) => text.trim().startsWith(at.line));
  expect(diagnostics).toEqual([
    expect.objectContaining({
      message: '"spec.console" must have exactly one of "trustedHeader" and "oidc"',
      fix,
      place: expect.objectContaining({ line: line + 1, column: at.column }),
    }),
  ]);
});

it('reports a misspelt word only as misspelt, and not also as missing', async () => {
  const console = { teams: {}, oidcs: oidc };
  const { diagnostics } = await read({ repositories: [{ name: 'platform', url }], console });
  expect(diagnostics.map(({ message }) => message)).toEqual(['there is no field "oidcs" in "spec.console"']);
});

it.each([
  [{ issuer: 'http://login.example.com' }, 'an address that begins with https://'],
  [{ issuer: 'http://localhost.example.com' }, 'an address that begins with https://'],
  [{ issuer: 'https://me@login.example.com' }, 'an address that begins with https://'],
  [{ url: 'http://fleet.example.com' }, 'an origin that begins with https://'],
  [{ url: 'https://fleet.example.com/console' }, 'an origin that begins with https://'],
  [
    { issuer: 'https://login.example.com/.well-known/openid-configuration' },
    'the address of a document of the issuer: remove "/.well-known/openid-configuration"',
  ],
  [{ sessionKey: { env: 'CLIENT_SECRET' } }, 'which the issuer knows: use another variable'],
  [{ sessionKey: { env: 'STACK_TOKEN' } }, 'may read "STACK_TOKEN": the console needs a secret of its own'],
  [{ clientSecret: { env: 'WRITE_TOKEN' } }, 'may read "WRITE_TOKEN": the console needs a secret of its own'],
  [{ scopes: ['a b'] }, 'a scope: printable ASCII'],
])('refuses %j for the login of the console', async (more, message) => {
  const apply = { stacks: ['**'], variables: { STACK_TOKEN: 'WRITE_TOKEN' } };
  const repositories = [{ name: 'platform', url, variables: ['STACK_TOKEN'], apply }];
  const console = (given: object) => ({ teams: {}, oidc: { ...oidc, ...given } });
  expect((await read({ repositories, console: console({}) })).fleet).toBeDefined();
  expect(
    (await read({ repositories, console: console({ issuer: 'http://127.0.0.1:9/realm' }) })).fleet,
  ).toBeDefined();
  const { fleet, diagnostics } = await read({ repositories, console: console(more) });
  expect(fleet).toBeUndefined();
  expect(JSON.stringify(diagnostics)).toContain(JSON.stringify(message).slice(1, -1));
});

it('gives stacks an interval by labels, also in combination with patterns', async () => {
  const intervals = [
    { stacks: ['teams/**'], labels: { tier: 'production', team: 'payments' }, interval: '1m' },
    { labels: { tier: 'production' }, interval: '5m' },
    { stacks: ['teams/**'], interval: '1h' },
  ];
  const { fleet } = await read({ repositories: [{ name: 'platform', url, intervals }] });
  const seconds = (path: string, labels?: Readonly<Record<string, string>>) =>
    fleet?.repositories[0]?.secondsOf(path, labels);
  const both = { tier: 'production', team: 'payments', other: 'x' };
  expect(seconds('teams/a/trueup.yaml', both)).toBe(60);
  expect(seconds('a/trueup.yaml', both)).toBe(300);
  expect(seconds('teams/a/trueup.yaml', { tier: 'production' })).toBe(300);
  expect(seconds('teams/a/trueup.yaml', { tier: 'test' })).toBe(3600);
  expect(seconds('a/trueup.yaml')).toBe(900);
});

it.each([
  [{ interval: '5m' }, 'this interval does not say which stacks it is for: add "stacks" or "labels"'],
  [{ labels: { tier: 'a b' }, interval: '5m' }, 'letters, digits'],
  [{ labels: { '-tier': 'a' }, interval: '5m' }, '-tier'],
  [{ labels: {}, interval: '5m' }, 'labels'],
])('refuses the interval %j', async (entry, message) => {
  const { fleet, diagnostics } = await read({
    repositories: [{ name: 'platform', url, intervals: [entry] }],
  });
  expect(fleet).toBeUndefined();
  expect(JSON.stringify(diagnostics)).toContain(JSON.stringify(message).slice(1, -1));
});
