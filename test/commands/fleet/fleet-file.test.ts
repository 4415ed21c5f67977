// What fleet.yaml says of a repository.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFleet } from '../../../src/commands/fleet/fleet-file.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

async function read(spec: object) {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const head = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'acme' } };
  writeFileSync(file, JSON.stringify({ ...head, spec }));
  return readFleet(file);
}

const url = 'https://git.example.com/acme/platform.git';

it('gives each stack its own interval, that of its repository, or that of the fleet', async () => {
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

it.each(['https://acme@', 'ssh://git@'])('takes an address that begins with %s', async (start) => {
  const given = url.replace('https://', start);
  expect((await read({ repositories: [{ name: 'platform', url: given }] })).fleet).toBeDefined();
});

it('wants the host keys of a repository that has a key', async () => {
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

it('takes a quota for each target, and refuses two for one target', async () => {
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
