// Checkouts of a worker: one for each commit, kept as long as a check uses it.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Checkouts } from '../../../src/commands/fleet/checkouts.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

function openCheckouts() {
  const remote = makeRemote();
  const clone = remote.clone();
  const folder = temporaryFolder();
  const named = (name: string) => ({
    ...{ name, url: `file://${remote.directory}`, ref: 'main', stacks: ['**/file.txt'], seconds: 900 },
    ...{ variables: [], files: [], targets: undefined },
  });
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
  // That of the other repository is not touched.
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await checkouts.use(acme, first, async ({ stacks }) => stacks)).toHaveLength(1);
});

it('leaves nothing of a commit that cannot be fetched', async () => {
  const { checkouts, folder, named } = openCheckouts();
  await checkouts.newest(named('acme'));
  await expect(checkouts.at(named('acme'), '1'.repeat(40))).rejects.toThrow('cannot be read');
  expect(readdirSync(folder)).toEqual([]);
});
