import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { displayPath, findStack } from '../../../src/manifest/files/find-stack.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

describe('the stack of a command', () => {
  it('is in the nearest parent directory if no path is given', async () => {
    const folder = temporaryFolder({ 'trueup.yaml': '', 'deep/er/x.yaml': '', '.git/HEAD': '' });
    expect(await findStack(undefined, join(folder, 'deep/er'))).toBe(join(folder, 'trueup.yaml'));
    expect(await findStack('-', join(folder, 'deep'))).toBe(join(folder, 'trueup.yaml'));
  });

  it('is in the given directory, or is the given file', async () => {
    const folder = temporaryFolder({ 'here/trueup.yaml': '', 'here/other.yaml': '' });
    expect(await findStack('here', folder)).toBe(join(folder, 'here/trueup.yaml'));
    expect(await findStack('here/other.yaml', folder)).toBe(join(folder, 'here/other.yaml'));
  });

  it('is not searched above a given directory', async () => {
    const folder = temporaryFolder({ 'trueup.yaml': '', 'deep/x.yaml': '' });
    expect(await findStack('deep', folder)).toMatchObject({
      code: 'no-stack',
      message: '"deep" holds no trueup.yaml',
      fix: 'the stack is in the parent folder: leave out the path, or give "."',
    });
  });

  it('is suggested if it is in a parent of the given directory, within the same repository', async () => {
    const files = { 'a/trueup.yaml': '', 'a/b/c/x.yaml': '', 'd/x.yaml': '' };
    const folder = temporaryFolder({ ...files, '.git/HEAD': '' });
    const fixOf = (path: string, cwd = folder) => findStack(path, cwd);
    expect(await fixOf('a/b/c')).toMatchObject({ fix: 'the stack is in a parent folder: give "a"' });
    expect(await fixOf('b', join(folder, 'a'))).toMatchObject({
      fix: 'the stack is in the parent folder: leave out the path, or give "."',
    });
    expect(await fixOf('.', join(folder, 'a/b'))).toMatchObject({
      fix: 'the stack is in a parent folder: give ".."',
    });
    expect(await fixOf('d')).toMatchObject({
      fix: 'create "d/trueup.yaml", for example with "trueup init d"',
    });
    const elsewhere = temporaryFolder(files);
    expect(await findStack('a/b/c', elsewhere)).toMatchObject({
      fix: 'create "a/b/c/trueup.yaml", for example with "trueup init a/b/c"',
    });
  });

  it('is suggested if it is below a folder that has none', async () => {
    const stacks = ['a', 'b/c', 'd/e/f', 'node_modules/g', '.h', 'd/1/2/3/4'];
    const folder = temporaryFolder({
      ...Object.fromEntries(stacks.map((path) => [`${path}/trueup.yaml`, ''])),
      '.git/HEAD': '',
      'empty/x.yaml': '',
    });
    const fix = 'give the path of a stack below it: "a", "b/c", "d/e/f"';
    for (const path of ['.', undefined]) expect(await findStack(path, folder)).toMatchObject({ fix });
    expect(await findStack('b', folder)).toMatchObject({ fix: 'give the path of a stack below it: "b/c"' });
    expect(await findStack('empty', folder)).toMatchObject({ fix: expect.stringContaining('trueup init') });
  });

  it('may have the wrong file extension', async () => {
    const folder = temporaryFolder({ 'here/trueup.yml': '' });
    expect(await findStack('here', folder)).toMatchObject({
      message: 'the stack file of "here" is called "trueup.yml"',
      fix: 'rename it to "trueup.yaml"',
    });
  });

  it('may be missing', async () => {
    const folder = temporaryFolder({ 'x.yaml': '' });
    expect(await findStack('nope', folder)).toMatchObject({
      message: 'there is no file or directory "nope"',
    });
    expect(await findStack(undefined, folder)).toMatchObject({
      class: 'failure',
      message:
        'there is no trueup.yaml here, and parent directories are searched only within a git repository',
      fix: 'go to the directory of a stack, or give its path; "trueup init" writes a first stack',
    });
  });
});

it('paths are shown as you would type them', () => {
  expect(displayPath('/a/b/c.yaml', '/a')).toBe('b/c.yaml');
  expect(displayPath('/a/c.yaml', '/a/b')).toBe('../c.yaml');
  expect(displayPath('/a', '/a')).toBe('.');
});
