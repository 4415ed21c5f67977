import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  listFiles,
  type ManifestPattern,
  hasOnlyExclusions,
} from '../../../src/manifest/files/list-files.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const files = {
  'manifests/a.yaml': '',
  'manifests/deep/b.yml': '',
  'manifests/deep/notes.md': '',
  'manifests/.hidden/c.yaml': '',
  'manifests/node_modules/d.yaml': '',
  'single.yaml': '',
  'empty/readme.md': '',
};

type Item = string | { readonly pattern: string; readonly optional: true };

/** The result of each pattern: files, or the code of the problem. */
async function list(items: readonly Item[], folder?: string): Promise<Record<string, unknown>> {
  const root = folder ?? temporaryFolder(files);
  const found = await listFiles(patternsOf(items), root);
  return Object.fromEntries(
    found.map((listed) => [
      listed.pattern.pattern,
      listed.problem?.code ?? listed.files.map((file) => relative(root, file)),
    ]),
  );
}

function patternsOf(items: readonly Item[]): ManifestPattern[] {
  return items.map((item) => ({
    ...(typeof item === 'string' ? { pattern: item, optional: false } : item),
    path: [],
  }));
}

async function messages(items: readonly Item[], noManifest?: string): Promise<string[]> {
  const root = temporaryFolder(files);
  const found = await listFiles(patternsOf(items), root, {
    isNoManifest: (file) => noManifest !== undefined && file === join(root, noManifest),
  });
  return found.flatMap(({ problem }) => (problem === undefined ? [] : [problem.message]));
}

describe('a pattern of manifests', () => {
  it('is a file, a directory with all YAML files below it, or a glob', async () => {
    expect(
      await list(['single.yaml', 'manifests', './manifests/', '*.yaml', 'manifests/**/*.{yaml,yml}']),
    ).toEqual({
      'single.yaml': ['single.yaml'],
      manifests: ['manifests/a.yaml', 'manifests/deep/b.yml'],
      './manifests/': ['manifests/a.yaml', 'manifests/deep/b.yml'],
      '*.yaml': ['single.yaml'],
      'manifests/**/*.{yaml,yml}': ['manifests/a.yaml', 'manifests/deep/b.yml'],
    });
  });

  it('may match files outside of the directory, within its repository', async () => {
    const folder = temporaryFolder({ ...files, '.git/HEAD': '' });
    expect(await list(['../manifests/*.yaml'], join(folder, 'empty'))).toEqual({
      '../manifests/*.yaml': ['../manifests/a.yaml'],
    });
  });

  it('does not match files outside of the repository, or of the directory without a repository', async () => {
    const folder = temporaryFolder({ ...files, 'empty/.git': 'gitdir: elsewhere' });
    for (const inside of ['empty', 'manifests'])
      for (const pattern of ['..', '../single.yaml/..', '../*.yaml', '../**/*.yaml'])
        expect(await list([pattern], join(folder, inside))).toEqual({ [pattern]: 'outside-repository' });
  });

  it('may exclude a link that leads out of the repository', async () => {
    const folder = temporaryFolder({ 'manifests/a.yaml': '' });
    await symlink('/', join(folder, 'manifests/all'));
    expect(await list(['manifests'], folder)).toEqual({ manifests: 'outside-repository' });
    for (const left of ['!manifests/all', '!manifests/all/**', '!**/all/**'])
      expect(await list(['manifests', left], folder)).toEqual({ manifests: ['manifests/a.yaml'] });
  });

  it('with "!" in front excludes files', async () => {
    expect(await list(['manifests', '!manifests/deep/**'])).toEqual({ manifests: ['manifests/a.yaml'] });
  });

  it('is reported if it matches nothing', async () => {
    expect(await list(['nowhere', 'nowhere/**', 'empty', 'manifests/*.json'])).toEqual({
      nowhere: 'no-file',
      'nowhere/**': 'no-manifests',
      empty: 'no-manifests',
      'manifests/*.json': 'no-manifests',
    });
  });

  it('is reported if the exclusions remove all of its files', async () => {
    const items = ['manifests', 'single.yaml', '!manifests/**', '!single.yaml'];
    expect(await list(items)).toEqual({ manifests: 'no-manifests', 'single.yaml': 'no-manifests' });
    expect(await messages(items)).toEqual([
      'the exclusions remove all files of "manifests"',
      'the exclusions remove all files of "single.yaml"',
    ]);
  });

  it('is reported if it only matches a file without manifests', async () => {
    expect(await messages(['*.yaml'], 'single.yaml')).toEqual([
      '"*.yaml" matches only the stack file, which holds no manifest',
    ]);
    expect(await messages(['manifests', 'single.yaml'], 'other.yaml')).toEqual([]);
  });

  it('may match nothing when it is optional, before and after exclusions', async () => {
    const optional = (pattern: string) => ({ pattern, optional: true as const });
    expect(
      await list([
        optional('nowhere'),
        optional('nowhere/**'),
        optional('empty'),
        optional('single.yaml'),
        optional('manifests'),
        '!manifests/**',
      ]),
    ).toEqual({ nowhere: [], 'nowhere/**': [], empty: [], 'single.yaml': ['single.yaml'], manifests: [] });
  });

  it('is reported when it cannot be read, even if it is optional', async () => {
    const folder = temporaryFolder(files);
    const isRoot = process.getuid?.() === 0;
    // A file cannot be entered like a directory, not even by root.
    const pattern = isRoot ? 'single.yaml/below' : 'locked';
    if (!isRoot) await mkdir(join(folder, 'locked'), { mode: 0 });
    expect(await list([{ pattern, optional: true }], folder)).toEqual({ [pattern]: 'unreadable' });
  });

  it('finds hidden directories only by name', async () => {
    expect(await list(['manifests/.hidden', 'manifests/.hidden/*.yaml'])).toEqual({
      'manifests/.hidden': ['manifests/.hidden/c.yaml'],
      'manifests/.hidden/*.yaml': ['manifests/.hidden/c.yaml'],
    });
  });

  it('follows links, and does not loop', async () => {
    const folder = temporaryFolder({ 'manifests/a.yaml': '' });
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere/b.yaml'), '');
    await symlink(join(folder, 'elsewhere'), join(folder, 'manifests/linked'));
    await symlink(join(folder, 'manifests'), join(folder, 'manifests/again'));
    await symlink(join(folder, 'nothing'), join(folder, 'manifests/broken'));
    expect(await list(['manifests'], folder)).toEqual({
      manifests: ['manifests/a.yaml', 'manifests/linked/b.yaml'],
    });
  });
});

it('a list with only exclusions is recognized, and an empty one is not such a list', () => {
  expect(hasOnlyExclusions(patternsOf(['!manifests/**', '!other']))).toBe(true);
  expect(hasOnlyExclusions(patternsOf([]))).toBe(false);
  expect(hasOnlyExclusions(patternsOf(['-']))).toBe(false);
  expect(hasOnlyExclusions(patternsOf(['!other', { pattern: 'manifests', optional: true }]))).toBe(false);
});
