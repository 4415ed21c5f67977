// Which `notifications` of fleet.yaml are valid, and where the messages go.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFleet } from '../../../src/commands/fleet/fleet-file.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const repositories = [
  { name: 'one', url: 'https://git.example.com/acme/one.git', variables: ['API_TOKEN'] },
  { name: 'two', url: 'git@git.example.com:acme/group/two.git' },
];

function read(notifications: readonly object[], more: readonly object[] = []) {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const spec = { repositories: [...repositories, ...more], notifications };
  const document = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name: 'acme' }, spec };
  writeFileSync(file, JSON.stringify(document));
  return readFleet(file);
}

async function mistakesIn(notifications: readonly object[], more: readonly object[] = []) {
  const { diagnostics } = await read(notifications, more);
  return diagnostics.map(({ message }) => message);
}

const token = { env: 'ISSUES_TOKEN' };
const webhook = { url: 'https://chat.example.com/hook', secret: { env: 'HOOK_SECRET' } };

it('By default, the issues of each stack are in the repository of its address', async () => {
  const url = 'https://git.example.com/api/v4/';
  const { fleet } = await read([{ name: 'issues', gitlab: { url, token }, hold: '0s' }]);
  expect(fleet?.channels).toEqual(
    ['acme/one', 'acme/group/two'].map((repository, index) => ({
      ...{ key: `acme/issues ${repository}`, hold: 0, digestAbove: 20, reportsPauses: index === 0 },
      repositories: [index === 0 ? 'one' : 'two'],
      to: { is: 'gitlab', url: 'https://git.example.com/api/v4', repository, secret: 'ISSUES_TOKEN' },
    })),
  );
});

it('The token is not sent to the usual API when the repository is at another code host', async () => {
  expect(await mistakesIn([{ name: 'issues', gitlab: { token } }])).toEqual([
    'repository "one" is at "git.example.com": add "url", the address of the API there',
  ]);
  const own = { name: 'own', url: 'git@github.com:acme/own.git' };
  const github = { name: 'issues', github: { token }, repositories: ['own'] };
  const { fleet } = await read([github], [own]);
  expect(fleet?.channels).toMatchObject([{ to: { url: 'https://api.github.com', repository: 'acme/own' } }]);
  // If fleet.yaml names another repository for issues, its API is at the usual address.
  const { fleet: other } = await read([{ name: 'issues', github: { token, repository: 'acme/issues' } }]);
  expect(other?.channels).toMatchObject([{ to: { url: 'https://api.github.com' } }]);
});

it('A webhook gets messages about all repositories, or about those that it names', async () => {
  const { fleet } = await read([
    { name: 'all', webhook },
    { name: 'some', webhook, repositories: ['two'], hold: '1h', digestAbove: 3 },
  ]);
  expect(fleet?.channels).toMatchObject([
    { key: 'acme/all', repositories: ['one', 'two'], hold: 600 },
    { key: 'acme/some', repositories: ['two'], hold: 3600, digestAbove: 3 },
  ]);
});

it('A notification that cannot be sent is an error', async () => {
  expect(await mistakesIn([{ name: 'none' }])).toEqual([
    'a notification has exactly one of "github", "gitlab" and "webhook"',
  ]);
  expect(await mistakesIn([{ name: 'both', webhook, gitlab: { token } }])).toHaveLength(1);
  expect(
    await mistakesIn([
      { name: 'a', webhook },
      { name: 'a', webhook },
    ]),
  ).toEqual(['two notifications have the name "a": give each its own']);
  expect(await mistakesIn([{ name: 'a', webhook, repositories: ['three'] }])).toEqual([
    'there is no repository "three"',
  ]);
  const local = [{ name: 'local', url: '/srv/git/local' }];
  expect(await mistakesIn([{ name: 'a', github: { token } }], local)).toEqual([
    'the address of repository "local" does not say where its issues are: add "repository"',
  ]);
});

it('A notification secret that stacks may use is an error', async () => {
  expect(await mistakesIn([{ name: 'a', gitlab: { token: { env: 'API_TOKEN' } } }])).toEqual([
    'repository "one" may use "API_TOKEN", so its stacks could send messages: use another variable',
  ]);
});
