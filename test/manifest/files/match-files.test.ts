import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../../../src/manifest/files/list-files.ts';
import { matchFiles, matchStackFiles } from '../../../src/manifest/files/match-files.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const tree = {
  '.git': '',
  'shared/base.yaml': '',
  'shared/deep/more.yml': '',
  'stacks/pay/trueup.yaml': '',
  'stacks/pay/single.json': '',
  'stacks/pay/manifests/a.yaml': '',
  'stacks/pay/manifests/b.test.yaml': '',
  'stacks/pay/manifests/notes.md': '',
  'stacks/pay/manifests/deep/c.yml': '',
  'stacks/pay/manifests/.hidden/d.yaml': '',
  'stacks/pay/manifests/node_modules/e.yaml': '',
  'stacks/pay/manifests2/f.yaml': '',
  'stacks/pay/..odd.yaml': '',
};

const patternLists = [
  ['manifests'],
  ['./manifests/'],
  ['.'],
  ['*.yaml'],
  ['manifests/*.yaml'],
  ['manifests/**/*.{yaml,yml}'],
  ['manifests/**', '!manifests/deep/**'],
  ['manifests', '!**/*.test.yaml'],
  ['!manifests/**'],
  ['manifests/.hidden', 'manifests/.hidden/*.yaml'],
  ['single.json', 'manifests/notes.md'],
  ['single.json/*.yaml'],
  ['../../shared/**/*.yaml', '!../../shared/base.yaml'],
  ['../../shared'],
  ['../..'],
  ['../../**/*.yaml'],
  ['..'],
];

describe('a path', () => {
  it.each(patternLists.map((patterns) => [patterns.join(' '), patterns] as const))(
    'belongs to the stack exactly when the patterns find it on disk: %s',
    async (_, patterns) => {
      const root = temporaryFolder(tree);
      const directory = join(root, 'stacks/pay');
      const items = patterns.map((pattern) => ({ pattern, optional: false, path: [] }));
      const listed = (await listFiles(items, directory)).flatMap(({ files }) => files);
      const all = (await readdir(root, { recursive: true, withFileTypes: true })).flatMap((entry) =>
        entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
      );
      const { isFile } = matchFiles(patterns, directory);
      expect(all.filter((file) => isFile(relative(directory, file))).sort()).toEqual(
        [...new Set(listed)].sort(),
      );
    },
  );

  it('that an absolute pattern matches belongs to the stack, too', async () => {
    const { isFile } = matchFiles(['/repo/shared/*.yaml'], '/repo/stacks/pay');
    expect(['../../shared/a.yaml', 'shared/a.yaml'].map(isFile)).toEqual([true, false]);
  });
});

describe('a symbolic link', () => {
  it.each([
    ['manifests/*.yaml', ['manifests', 'manifests/a', 'manifests/a.yaml']],
    ['manifests', ['manifests', 'manifests/a', 'manifests/a.yaml']],
    ['../shared/deep/*.yaml', ['../shared', '../shared/deep']],
    ['*.yaml', ['manifests', 'manifests/a', 'manifests/a.yaml', 'other']],
  ])('may lead to files that "%s" matches', (pattern, expected) => {
    const { isAncestor } = matchFiles([pattern], '/repo/pay');
    const paths = [
      'manifests',
      'manifests/a',
      'manifests/a.yaml',
      'manifests/.git/a',
      'other',
      '../shared',
      '../shared/deep',
    ];
    expect(paths.filter(isAncestor)).toEqual(expected);
  });
});

describe('the files of a stack', () => {
  const stack = { manifests: ['manifests/*.yaml'], directory: '/repo/pay', file: '../pay/trueup.yaml' };
  const paths = ['trueup.yaml', 'manifests/a.yaml', 'tools/make.sh', '../other/a.yaml'];
  const those = (about: Partial<typeof stack>, piped: boolean) =>
    paths.filter(matchStackFiles({ ...stack, ...about }, piped).isFile);

  it('are its own file and those of its patterns', () => {
    expect(those({}, false)).toEqual(['trueup.yaml', 'manifests/a.yaml']);
  });

  it('are all files below its folder when manifests come from standard input', () => {
    expect(those({}, true)).toEqual(paths.slice(0, 3));
    expect(those({ manifests: ['-'] }, false)).toEqual(paths.slice(0, 3));
    expect(those({ manifests: ['-', '../other'] }, false)).toEqual(paths);
  });
});
