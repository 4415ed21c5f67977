// Manifests that are in no commit, in a real repository.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { untrackedFiles } from '../../../src/ledger/git/checkout.ts';
import { openScene } from '../../support/ledger/commit-scene.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

it('a file is tracked when it is in the index, in a submodule, or behind a link that is', async () => {
  const { author, commit } = openScene();
  mkdirSync(join(author, 'pay'));
  symlinkSync('../teams', join(author, 'pay', 'link'));
  const id = commit({ 'pay/manifests/über a.yaml': '', 'shared/base.yaml': '', '.gitignore': 'made\n' });
  git(author, 'update-index', '--add', '--cacheinfo', `160000,${id},pay/sub`);
  const tracked = ['manifests/über a.yaml', '../shared/base.yaml', 'link/deep/a.yaml', 'sub/a.yaml'];
  const untracked = ['made/a.yaml', 'manifests/new.yaml', '../shared/made/a.yaml', 'subs/a.yaml'];
  for (const file of [...untracked, 'sub/a.yaml']) {
    mkdirSync(dirname(join(author, 'pay', file)), { recursive: true });
    writeFileSync(join(author, 'pay', file), '');
  }
  const at = { directory: join(author, 'pay'), env: process.env };
  expect(await untrackedFiles(at, [...tracked, ...untracked])).toEqual(untracked);
});

it('nothing is reported without git and outside of a repository', async () => {
  const directory = temporaryFolder();
  expect(await untrackedFiles({ directory, env: process.env }, ['a.yaml'])).toEqual([]);
  expect(await untrackedFiles({ directory, env: { PATH: '/nowhere' } }, ['a.yaml'])).toEqual([]);
});
