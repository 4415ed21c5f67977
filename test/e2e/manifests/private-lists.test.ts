/** Files that trueup refuses as lists, because commands print lists, and these files may be private. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import type { Checkout } from '../../support/cli/bench.ts';
import { all, declared, problems, stackWith, template } from '../../support/cli/template-stack.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const planted = 'planted-in-a-private-file-7741';
const spec = '{ description: "${each.value.token}" }';
const rows = `key,token\na,${planted}\n`;

/** A stack in a repository that ignores files of this name. */
async function repositoryWith(
  files: Readonly<Record<string, string>>,
  ignored = 'private*',
): Promise<Checkout> {
  const stack = await stackWith({ '.gitignore': `${ignored}\n`, ...files });
  git(stack.directory, 'init', '-q');
  return stack;
}

/** A `git` that logs its arguments; `commands` is its folder. */
function loggedGit(): { readonly commands: string; log(): readonly string[] } {
  const commands = temporaryFolder();
  const file = join(commands, 'log');
  const text = `#!/bin/sh\necho "$*" >>'${file}'\nPATH='${process.env['PATH']}' exec git "$@"\n`;
  writeFileSync(join(commands, 'git'), text, { mode: 0o755 });
  return { commands, log: () => readFileSync(file, 'utf8').split('\n') };
}

/** Expects that the list is refused and nothing of the file is printed. @returns the problems */
async function expectRefused(stack: Checkout): Promise<readonly { message: string; fix?: string }[]> {
  for (const command of ['render', 'plan', 'validate']) {
    const { code, out, err } = await stack.tryRun([command]);
    expect([command, code]).toEqual([command, 7]);
    expect(out + err).toContain('private-list');
    expect(out + err).not.toContain(planted);
  }
  return problems(stack);
}

describe('A list in a file that git ignores', () => {
  it('is refused with the reason at the place of its name, and nothing of it is printed', async () => {
    const stack = await repositoryWith({
      [all]: template('{ file: ../private.csv }', spec),
      'private.csv': rows,
    });
    expect(await expectRefused(stack)).toMatchObject([
      {
        code: 'private-list',
        message: 'git ignores "private.csv", and commands print what a list holds',
        fix: 'put the list into a file that git tracks',
        place: { file: 'manifests/all.yaml', line: 5 },
      },
    ]);
  });

  it('is refused behind a link, and in a product', async () => {
    const stack = await repositoryWith({
      [all]: template(
        '{ matrix: { env: [dev], row: { file: ../rows.csv } } }',
        '{ description: "${each.row.token}" }',
      ),
      'private/rows.csv': rows,
    });
    symlinkSync(join('private', 'rows.csv'), join(stack.directory, 'rows.csv'));
    const found = await expectRefused(stack);
    expect(found.map(({ message }) => message)).toEqual([
      'git ignores "rows.csv", and commands print what a list holds',
    ]);
  });

  it('is refused in a clone that the repository of the stack ignores', async () => {
    const stack = await repositoryWith({
      [all]: template('{ file: ../private/rows.csv }', spec),
      'private/rows.csv': rows,
    });
    const clone = join(stack.directory, 'private');
    git(clone, 'init', '-q');
    git(clone, 'add', '.');
    expect(await expectRefused(stack)).toHaveLength(1);
  });

  it('is read if git tracks it anyway, as is a new file that no rule ignores', async () => {
    const stack = await repositoryWith({
      [all]: `${template('{ file: ../private.csv }')}---\n${template('{ file: ../new.csv }')}`,
      'private.csv': 'key\na\n',
      'new.csv': 'key\nb\n',
    });
    git(stack.directory, 'add', '--force', 'private.csv');
    expect(Object.keys(await declared(stack))).toEqual(['a', 'b']);
  });

  it('is refused while others are read, and git is asked about all of them together', async () => {
    const names = Array.from(
      { length: 30 },
      (_, index) => `${index % 2 === 0 ? 'private' : 'open'}-${index}`,
    );
    const stack = await repositoryWith({
      [all]: names.map((name) => template(`{ file: ../${name}.csv }`)).join('---\n'),
      ...Object.fromEntries(names.map((name) => [`${name}.csv`, `key\n${name}\n`])),
    });
    const { commands, log } = loggedGit();
    const validate = () =>
      trueup(['validate', '--format', 'json'], {
        cwd: stack.directory,
        env: { ...stack.env, PATH: commands },
      });
    const questions = () => log().filter((line) => line.includes('check-ignore'));
    const { out } = await validate();
    expect(out.match(/git ignores ..private-\d+\.csv/g)).toHaveLength(15);
    expect(out).not.toContain('open-');
    expect(questions()).toHaveLength(1);
    git(stack.directory, 'add', '--force', '.');
    expect((await validate()).code).toBe(0);
    // Git ignores no tracked file.
    expect(questions()).toHaveLength(1);
  });

  it('is not read if git cannot be run', async () => {
    const stack = await repositoryWith({
      [all]: template('{ file: ../private.csv }', spec),
      'private.csv': rows,
    });
    const env = { ...stack.env, PATH: temporaryFolder() };
    const { code, out, err } = await trueup(['render'], { cwd: stack.directory, env });
    expect(code).not.toBe(0);
    expect(out + err).toContain('git cannot tell whether it ignores the list "private.csv"');
    expect(out + err).toContain('it is not installed, or not in PATH');
    expect(out + err).not.toContain(planted);
  });
});

describe('A list in a folder ".trueup"', () => {
  it.each([
    ['in a repository', true],
    ['without one', false],
  ])('is refused %s, behind a link as well', async (_, isGit) => {
    const stack = await stackWith({
      [all]: `${template('{ file: ../.trueup/rows.csv }', spec)}---\n${template('{ file: ../link/rows.csv }', spec)}`,
      '.trueup/rows.csv': rows,
    });
    if (isGit) git(stack.directory, 'init', '-q');
    symlinkSync('.trueup', join(stack.directory, 'link'));
    expect((await expectRefused(stack)).map(({ message }) => message)).toEqual([
      '".trueup/rows.csv" lies in a folder ".trueup", where trueup keeps private files',
      '"link/rows.csv" lies in a folder ".trueup", where trueup keeps private files',
    ]);
  });

  it('is refused even if somebody made git track it', async () => {
    const stack = await repositoryWith({
      [all]: template('{ file: ../other/.trueup/rows.csv }', spec),
      'other/.trueup/rows.csv': rows,
    });
    git(stack.directory, 'add', '--force', '.');
    expect(await expectRefused(stack)).toHaveLength(1);
  });
});

describe('A list in the folder of git itself', () => {
  it('is refused, behind a link as well', async () => {
    const stack = await repositoryWith({
      [all]: `${template('{ file: ../.git/rows.csv }', spec)}---\n${template('{ file: ../config.csv }', spec)}`,
    });
    await stack.write('.git/rows.csv', rows);
    symlinkSync(join('.git', 'rows.csv'), join(stack.directory, 'config.csv'));
    expect((await problems(stack)).map(({ code }) => code)).toEqual([
      'outside-repository',
      'outside-repository',
    ]);
    const { out, err } = await stack.tryRun(['render']);
    expect(out + err).not.toContain(planted);
  });
});
