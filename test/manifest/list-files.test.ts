import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles } from '../../src/manifest/list-files.ts';
import { folderWith } from './manifest-folder.ts';

const files = {
  'manifests/a.yaml': '',
  'manifests/deep/b.yml': '',
  'manifests/deep/notes.md': '',
  'manifests/.hidden/c.yaml': '',
  'manifests/node_modules/d.yaml': '',
  'single.yaml': '',
  'empty/readme.md': '',
};

async function list(patterns: readonly string[], folder?: string): Promise<Record<string, unknown>> {
  const root = folder ?? (await folderWith(files));
  const found = await listFiles(patterns, root);
  return Object.fromEntries(
    [...found].map(([pattern, listed]) => [
      pattern,
      listed.problem?.code ?? listed.files.map((file) => relative(root, file)),
    ]),
  );
}

describe('a pattern of manifests', () => {
  it('is a file, a directory with all YAML below, or a glob', async () => {
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

  it('may reach out of the directory', async () => {
    const folder = await folderWith(files);
    expect(await list(['../manifests/*.yaml'], join(folder, 'empty'))).toEqual({
      '../manifests/*.yaml': ['../manifests/a.yaml'],
    });
  });

  it('with "!" in front leaves out', async () => {
    expect(await list(['manifests', '!manifests/deep/**'])).toEqual({ manifests: ['manifests/a.yaml'] });
  });

  it('that stands for nothing says so', async () => {
    expect(await list(['nowhere', 'nowhere/**', 'empty', 'manifests/*.json'])).toEqual({
      nowhere: 'no-file',
      'nowhere/**': 'no-manifests',
      empty: 'no-manifests',
      'manifests/*.json': 'no-manifests',
    });
  });

  it('finds hidden directories only by name', async () => {
    expect(await list(['manifests/.hidden', 'manifests/.hidden/*.yaml'])).toEqual({
      'manifests/.hidden': ['manifests/.hidden/c.yaml'],
      'manifests/.hidden/*.yaml': ['manifests/.hidden/c.yaml'],
    });
  });

  it('follows links, and does not run in circles', async () => {
    const folder = await folderWith({ 'manifests/a.yaml': '' });
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
