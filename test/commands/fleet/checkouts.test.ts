// Checkouts of a worker: one for each commit, kept as long as a check uses it.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { Checkouts, makeFolder } from '../../../src/commands/fleet/checkouts.ts';
import { fleetRepository } from '../../support/fleet/repository.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

function openCheckouts() {
  const remote = makeRemote();
  const clone = remote.clone();
  const folder = temporaryFolder();
  const named = (name: string) =>
    fleetRepository({ name, url: `file://${remote.directory}`, stacks: ['**/file.txt'] });
  const push = (text: string) => {
    writeFileSync(join(clone, 'file.txt'), text);
    git(clone, 'commit', '--quiet', '-am', text);
    git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  };
  const checkouts = new Checkouts(folder, { env: process.env });
  return { checkouts, folder, named, push };
}

it('keeps the checkout of an older commit for as long as a check uses it, and then removes it', async () => {
  const { checkouts, folder, named, push } = openCheckouts();
  const [acme, other] = [named('acme'), named('acme-2')];
  const first = await checkouts.newest(acme);
  await checkouts.at(other, first);
  push('four');
  const second = await checkouts.newest(acme);
  await checkouts.use(acme, first, async ({ directory }) => {
    await checkouts.at(acme, second);
    await checkouts.keepOnly(acme, second);
    expect(existsSync(join(directory, 'file.txt'))).toBe(true);
  });
  expect(readdirSync(folder)).toHaveLength(3);
  await checkouts.keepOnly(acme, second);
  // The checkout of the other repository stays.
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await checkouts.use(acme, first, async ({ stacks }) => stacks)).toHaveLength(1);
});

it('fetches a commit again when the repository has moved, because its ledgers are there', async () => {
  const { checkouts, folder, named } = openCheckouts();
  const acme = named('acme');
  const moved = { ...acme, url: acme.url.replace('file://', '') };
  const commit = await checkouts.newest(acme);
  await checkouts.at(acme, commit);
  const { directory } = await checkouts.at(moved, commit);
  expect(git(directory, 'remote', 'get-url', 'origin').trim()).toBe(moved.url);
  await checkouts.keepOnly(moved, commit);
  expect(readdirSync(folder)).toEqual([basename(directory)]);
});

it('finds a stack whose folder has a line break in its name', async () => {
  const remote = makeRemote();
  const clone = remote.clone();
  mkdirSync(join(clone, 'deep', 'one\ntwo'), { recursive: true });
  writeFileSync(join(clone, 'deep', 'one\ntwo', 'trueup.yaml'), 'a stack');
  git(clone, 'add', '.');
  git(clone, 'commit', '--quiet', '-m', 'a stack');
  git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  const acme = fleetRepository({ name: 'acme', url: `file://${remote.directory}` });
  const checkouts = new Checkouts(temporaryFolder(), { env: process.env });
  const { stacks } = await checkouts.at(acme, await checkouts.newest(acme));
  expect(stacks.map(({ path }) => path)).toEqual(['deep/one\ntwo/trueup.yaml']);
});

it('leaves no files of a commit that cannot be fetched', async () => {
  const { checkouts, folder, named } = openCheckouts();
  await checkouts.newest(named('acme'));
  await expect(checkouts.at(named('acme'), '1'.repeat(40))).rejects.toThrow('cannot be read');
  expect(readdirSync(folder)).toEqual([]);
});

it('removes the folder of a killed worker, and keeps the folder of a working one', async () => {
  const parent = temporaryFolder();
  const day = 86_400_000;
  const [killed, working] = [await makeFolder(parent, 0), await makeFolder(parent, 0)];
  writeFileSync(join(killed, 'file'), 'left');
  const now = Date.now() + 3 * day;
  await new Checkouts(working, { env: process.env }).touch(now - day);
  const next = await makeFolder(parent, now);
  expect(readdirSync(parent).sort()).toEqual([working, next].map((path) => basename(path)).sort());
});

it('logs in to a repository with the key of fleet.yaml, and accepts no other host key', async () => {
  const remote = makeRemote();
  const home = temporaryFolder();
  // Git calls it like ssh: the last argument is the command for the code host.
  const ssh = join(home, 'ssh');
  writeFileSync(
    ssh,
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${home}/words'\nfor last; do :; done\nexec sh -c "$last"\n`,
  );
  chmodSync(ssh, 0o755);
  const checkouts = new Checkouts(join(home, 'checkouts'), {
    env: {
      ...process.env,
      PATH: [home, process.env['PATH']].join(delimiter),
      // The setting in the environment of the worker does not count.
      GIT_SSH_COMMAND: 'false',
    },
  });
  const repository = fleetRepository({
    ...{ name: 'acme', url: `ssh://git@git.example.com${remote.directory}` },
    ssh: { key: '/run/secrets/the key', knownHosts: '/etc/trueup/known hosts' },
  });
  expect(await checkouts.newest(repository)).toMatch(/^[0-9a-f]{40}$/);
  const words = readFileSync(join(home, 'words'), 'utf8').split('\n');
  expect(words).toEqual(
    expect.arrayContaining(['-i', '/run/secrets/the key', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=yes']),
  );
  expect(words).toContain('UserKnownHostsFile="/etc/trueup/known hosts"');
});
