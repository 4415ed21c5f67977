/** Seeds that are other files: a stack reads no seed outside its repository, and no error repeats the content of a seed. */
import { symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { embeddedStack } from '../../support/cli/embedded-stack.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const planted = 'Pl4ntedSecret';

describe('a seed of a stack that lies outside its repository is refused by name, and nothing of it is shown', () => {
  const foreign = async (text: string) => {
    const file = join(temporaryFolder(), 'machine.yaml');
    await writeFile(file, text);
    return file;
  };

  it.each(['plan', 'apply', 'export'])('by a path, in %s', async (command) => {
    const file = await foreign(`${planted}: 1\n`);
    const cwd = embeddedStack({ embedded: { seed: file } });
    const { code, out, err } = await trueup([command], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      `error: the seed "${file}" cannot be read: it lies outside the folder of the stack`,
    );
    expect(err).not.toContain(planted);
  });

  it.each([
    ['by a relative path', (file: string) => join('..', basename(dirname(file)), 'machine.yaml')],
    ['by a link', () => 'seed.yaml'],
  ])('%s, although it is a seed', async (_how, nameOf) => {
    const file = await foreign('users: [{ username: eve }]\n');
    const seed = nameOf(file);
    const cwd = embeddedStack({ embedded: { seed } });
    await symlink(file, join(cwd, 'seed.yaml'));
    const { code, err } = await trueupProcess(['plan'], { cwd });
    expect(code).toBe(1);
    expect(err).toContain(`the seed "${seed}" cannot be read: it lies outside`);
  });
});

describe('a file that is given as a seed but is not one is reported without its content:', () => {
  it.each([
    ['an alias', `a: *${planted}`, 'it is not YAML, as line 1, column'],
    ['a tag', `a: !${planted} b`, 'it is not YAML'],
    [
      'a key that is there twice',
      `${planted}: 1\n${planted}: 2`,
      'it is not YAML, as line 2, column 1 shows',
    ],
    ['a key alone', `{ ${planted} }`, '(a key) is not known here (known: organizations, users'],
    ['a key with digits', `users:\n  - { username: a, ${planted}: x }`, 'users[0].(a key) is not known here'],
    ['a text', planted, 'the seed must be a map'],
    ['a value', `users:\n  - { username: [${planted}] }`, 'users[0].username must be a text'],
  ])('%s', async (_what, text, message) => {
    const [cwd, elsewhere] = [embeddedStack({ embedded: { seed: 'seed.yaml' } }), temporaryFolder()];
    for (const folder of [cwd, elsewhere]) await writeFile(join(folder, 'seed.yaml'), text);
    const given = join(elsewhere, 'seed.yaml');
    for (const args of [['plan'], ['serve', '--data', ':memory:', '--seed', given]]) {
      const { code, out, err } = await trueupProcess(args, { cwd });
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(message);
      expect(err).not.toContain(planted);
    }
  });

  it('only a misspelt key of a seed is named', async () => {
    const cwd = embeddedStack({ embedded: { seed: 'seed.yaml' } });
    await writeFile(join(cwd, 'seed.yaml'), 'users:\n  - { usrname: a }');
    const { err } = await trueupProcess(['plan'], { cwd });
    expect(err).toContain('users[0].usrname is not known here');
  });
});
