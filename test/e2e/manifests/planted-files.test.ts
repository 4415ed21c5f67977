// Files that do not belong in a repository: links to secrets, pipes, devices, and endless texts.
import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench, secrets } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const token = 'planted-token-of-another-77e0';

const stackText = `apiVersion: trueup.dev/v1
kind: Stack
metadata: { name: payments }
spec:
  manifests: [manifests]
  targets: [{ name: acme, service: workspaces, url: embedded, organization: acme }]
`;

/** A repository with a stack in `pay`, and beside it a file with a token. */
async function plant(stack: string | undefined = stackText): Promise<{ pay: string; secret: string }> {
  const folder = temporaryFolder();
  const pay = join(folder, 'repo/pay');
  await mkdir(join(pay, 'manifests'), { recursive: true });
  await mkdir(join(folder, 'repo/.git'));
  await mkdir(join(folder, 'secrets'));
  const secret = join(folder, 'secrets/token.yaml');
  await writeFile(secret, `${token}: [\n`);
  if (stack !== undefined) await writeFile(join(pay, 'trueup.yaml'), stack);
  return { pay, secret };
}

interface Diagnostic {
  readonly code: string;
  readonly message: string;
  readonly place?: { readonly file: string };
  readonly fix?: string;
}

/** The diagnostics of a `validate` that is refused. Neither its text nor its JSON shows the content of the file. */
async function refusedAt(pay: string, args: readonly string[] = []): Promise<Diagnostic[]> {
  const text = await trueup(['validate', ...args], { cwd: pay, env: secrets });
  const json = await trueup(['validate', ...args, '--format', 'json'], { cwd: pay, env: secrets });
  expect([text.code, json.code], text.err).toEqual([7, 7]);
  for (const shown of [text.err, json.out]) expect(shown).not.toContain(token);
  return JSON.parse(json.out).diagnostics;
}

function codesAndFiles(reported: readonly Diagnostic[]) {
  return reported.map(({ code, place }) => `${code} ${place?.file}`);
}

describe('a link out of the repository is refused, and nothing of its target is shown:', () => {
  it('to the file of a token', async () => {
    const { pay, secret } = await plant();
    await symlink(secret, join(pay, 'manifests/a.yaml'));
    const [reported, ...more] = await refusedAt(pay);
    expect(more).toEqual([]);
    expect(reported).toMatchObject({
      code: 'outside-repository',
      place: { file: 'manifests/a.yaml', line: 1 },
      message: '"manifests/a.yaml" lies outside the git repository of the stack',
      fix: 'put it into the repository, not a link to it',
    });
  });

  it.each(['/proc/self/environ', '/etc/passwd'])('to %s', async (path) => {
    const { pay } = await plant();
    await symlink(path, join(pay, 'manifests/a.yaml'));
    expect(codesAndFiles(await refusedAt(pay))).toEqual(['outside-repository manifests/a.yaml']);
  });

  it('to files in ".git", which may hold the login of a CI job', async () => {
    const { pay } = await plant();
    const git = join(pay, '../.git');
    await mkdir(join(git, 'x'));
    for (const file of ['config', 'x/a.yaml']) await writeFile(join(git, file), `${token}: [\n`);
    await symlink('../../.git/config', join(pay, 'manifests/a.yaml'));
    await symlink('../../.git/x', join(pay, 'manifests/more'));
    expect(codesAndFiles(await refusedAt(pay))).toEqual([
      'outside-repository manifests/a.yaml',
      'outside-repository trueup.yaml',
    ]);
  });

  it('to a folder, which is not read', async () => {
    const { pay, secret } = await plant();
    await symlink(dirname(secret), join(pay, 'manifests/more'));
    await symlink('/', join(pay, 'manifests/all'));
    const [reported] = await refusedAt(pay);
    expect(reported).toMatchObject({
      code: 'outside-repository',
      message: 'the directory "manifests/all", "manifests/more" lies outside the git repository of the stack',
      place: { file: 'trueup.yaml', line: 5 },
    });
  });

  it('as the folder that a pattern begins with, or a file named in the stack', async () => {
    const { pay, secret } = await plant(
      stackText.replace('[manifests]', '["m/*.yaml", ../../secrets, ../../secrets/token.yaml]'),
    );
    await symlink(dirname(secret), join(pay, 'm'));
    expect(codesAndFiles(await refusedAt(pay))).toEqual([
      'outside-repository ../../secrets/token.yaml',
      'outside-repository trueup.yaml',
      'outside-repository trueup.yaml',
    ]);
  });

  it('as the stack file itself', async () => {
    const { pay, secret } = await plant(undefined);
    await rm(join(pay, 'trueup.yaml'), { force: true });
    await symlink(secret, join(pay, 'trueup.yaml'));
    for (const args of [[], ['.'], ['trueup.yaml']])
      expect(codesAndFiles(await refusedAt(pay, args))).toEqual(['outside-repository trueup.yaml']);
  });

  it('by plan, apply, recover, history and export, too', async () => {
    const { pay, secret } = await plant(undefined);
    await rm(join(pay, 'trueup.yaml'), { force: true });
    await symlink(secret, join(pay, 'trueup.yaml'));
    for (const command of ['plan', 'apply', 'recover', 'history', 'export']) {
      const { code, out, err } = await trueup([command], { cwd: pay, env: secrets });
      expect({ command, code }).toEqual({ command, code: 7 });
      expect(out + err).not.toContain(token);
    }
  });

  it('without a repository, if it leads out of the folder of the stack', async () => {
    const { pay, secret } = await plant();
    await rm(join(pay, '../.git'), { recursive: true });
    await writeFile(join(pay, '../beside.yaml'), `${token}: [\n`);
    await symlink('../../beside.yaml', join(pay, 'manifests/a.yaml'));
    await symlink(secret, join(pay, 'manifests/b.yaml'));
    const reported = await refusedAt(pay);
    expect(codesAndFiles(reported)).toEqual([
      'outside-repository manifests/a.yaml',
      'outside-repository manifests/b.yaml',
    ]);
    expect(reported[0]?.message).toContain('outside the folder of the stack');
  });
});

it('links within the repository are followed, and so is a link to the folder of the stack', async () => {
  const { pay } = await plant();
  const shared = join(pay, '../shared');
  await mkdir(join(shared, 'more'), { recursive: true });
  await writeFile(join(shared, 'one.yaml'), JSON.stringify(workspace('one')));
  await writeFile(join(shared, 'more/two.yaml'), JSON.stringify(workspace('two')));
  await symlink('../../shared/one.yaml', join(pay, 'manifests/one.yaml'));
  await symlink('../../shared/more', join(pay, 'manifests/more'));
  const elsewhere = temporaryFolder();
  await symlink(pay, join(elsewhere, 'here'));
  for (const path of [pay, join(elsewhere, 'here')])
    expect(await trueup(['validate', path], { cwd: elsewhere })).toMatchObject({
      code: 0,
      out: 'valid: stack payments, 2 files, 2 documents, 2 resources\n',
    });
});

describe('a file that is given as a stack but is not one', () => {
  const commands = ['validate', 'plan', 'apply', 'export', 'recover', 'history', 'unlock --id x'];

  it('is refused by every command if it lies outside the repository, and is not shown', async () => {
    const { pay, secret } = await plant();
    expect(codesAndFiles(await refusedAt(pay, [secret]))).toEqual([
      'outside-repository ../../secrets/token.yaml',
    ]);
    for (const command of commands) {
      const { code, out, err } = await trueup([...command.split(' '), secret], { cwd: pay, env: secrets });
      expect({ command, code }).toEqual({ command, code: 7 });
      expect(err).toContain('holds no stack, and lies outside the git repository around the current folder');
      expect(out + err).not.toContain(token);
    }
    for (const command of [
      ['show', secret],
      ['diff', secret, secret],
    ]) {
      const { code, out, err } = await trueup(command, { cwd: pay, env: secrets });
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(out + err).not.toContain(token);
    }
  });

  it('is refused also if a link in the repository leads to it', async () => {
    const { pay, secret } = await plant();
    await symlink(secret, join(pay, 'link.yaml'));
    expect(codesAndFiles(await refusedAt(pay, ['link.yaml']))).toEqual(['outside-repository link.yaml']);
  });

  it('is refused outside the current folder if there is no repository', async () => {
    const { pay, secret } = await plant();
    await rm(join(pay, '../.git'), { recursive: true });
    const [reported] = await refusedAt(pay, [secret]);
    expect(reported?.message).toContain('holds no stack, and lies outside the current folder');
  });

  it.skipIf(process.platform !== 'linux')(
    'is refused if it is in /proc, also from its own folder',
    async () => {
      const { pay } = await plant();
      const ran = { env: { ...secrets, PLANTED: token } };
      const outside = await trueupProcess(['validate', '/proc/self/environ'], { ...ran, cwd: pay });
      expect(outside).toMatchObject({ code: 7, out: '', err: expect.stringContaining('outside-repository') });
      const inside = await trueupProcess(['validate', 'environ'], { ...ran, cwd: '/proc/self' });
      expect(inside).toMatchObject({ code: 7, out: '', err: expect.stringContaining('no-regular-file') });
      expect(outside.err + inside.err).not.toContain(token);
    },
  );

  it('is shown if it is a broken stack file, or lies in the repository', async () => {
    const { pay } = await plant('kind: Stack\nspec: [\n');
    const elsewhere = temporaryFolder();
    const { err } = await trueup(['validate', pay], { cwd: elsewhere });
    expect(err).toContain('2 | spec: [');
    await writeFile(join(pay, 'notes.txt'), 'note: [\n');
    expect((await trueup(['validate', 'notes.txt'], { cwd: pay })).err).toContain('1 | note: [');
  });
});

describe('an input that never ends or is too long is refused at once:', () => {
  it.each(['a.yaml', '../trueup.yaml'])('a pipe that nobody writes to, as %s', async (file) => {
    const { pay } = await plant();
    await rm(join(pay, 'manifests', file), { force: true });
    execFileSync('mkfifo', [join(pay, 'manifests', file)]);
    const [reported] = await refusedAt(pay);
    expect(reported).toMatchObject({
      code: 'no-regular-file',
      message: expect.stringContaining('not a regular file'),
    });
    expect((await trueup(['apply', '.'], { cwd: pay })).code).toBe(7);
  });

  it('a link to /dev/zero, also as the stack itself', async () => {
    const { pay } = await plant();
    await symlink('/dev/zero', join(pay, 'manifests/a.yaml'));
    expect(codesAndFiles(await refusedAt(pay))).toEqual(['no-regular-file manifests/a.yaml']);
    for (const command of ['validate', 'apply'])
      expect((await trueup([command, '/dev/zero'], { cwd: pay })).code).toBe(7);
  });

  it('a file of more than 32 MB', async () => {
    const { pay } = await plant();
    const file = join(pay, 'manifests/a.yaml');
    await writeFile(file, '');
    await truncate(file, 32 * 1024 * 1024 + 1);
    expect(await refusedAt(pay)).toMatchObject([
      {
        code: 'too-long',
        message: '"manifests/a.yaml" has more than 32 MB',
        place: { file: 'manifests/a.yaml' },
      },
    ]);
  });

  it('standard input without an end', async () => {
    const { pay } = await plant();
    const zero = await trueupProcess(['validate', '-'], {
      cwd: pay,
      stdin: new Uint8Array(33 * 1024 * 1024),
    });
    expect(zero).toMatchObject({
      code: 7,
      err: expect.stringContaining('standard input has more than 32 MB'),
    });
  });
});

it('a token file that is a link, as in a Kubernetes pod, is read', async () => {
  const bench = await openBench();
  const stack = await bench.checkout({ workspaces: { token: { file: 'token' } } });
  const mounted = temporaryFolder();
  await writeFile(join(mounted, 'token'), secrets.API_TOKEN);
  await symlink(join(mounted, 'token'), join(stack.directory, 'token'));
  await stack.declare(workspace('one'));
  await stack.run(['apply', '--yes'], 0);
  expect(await bench.idsOf('one')).toHaveLength(1);
});

describe('bytes that are not UTF-8 are refused with their place', () => {
  const latin = Buffer.from(`kind: Workspace\ndescription: "M\xfcnchen"\n`, 'latin1');

  it('in a file', async () => {
    const { pay } = await plant();
    await writeFile(join(pay, 'manifests/a.yaml'), latin);
    expect(await refusedAt(pay)).toMatchObject([
      { code: 'not-utf-8', place: { file: 'manifests/a.yaml', line: 2, column: 16 } },
    ]);
  });

  it('on standard input of the real program', async () => {
    const { pay } = await plant();
    const { code, err } = await trueupProcess(['plan', '-'], { cwd: pay, stdin: latin });
    expect(code).toBe(7);
    expect(err).toContain('error[not-utf-8] -:2:16\n  standard input is not UTF-8 text\n');
  });
});

describe('an empty stack file is reported with what a stack needs:', () => {
  it.each([
    ['zero bytes', ''],
    ['null', 'null\n'],
    ['a comment', '# to be written\n'],
    ['a separator', '---\n'],
  ])('%s', async (_, text) => {
    const { pay } = await plant(text);
    for (const command of ['validate', 'plan', 'apply', 'export', 'recover', 'history']) {
      const { code, err } = await trueup([command], { cwd: pay });
      expect({ command, code }).toEqual({ command, code: 7 });
      expect(err).toContain('error[no-stack] trueup.yaml:1:1\n');
      expect(err.replaceAll(/\s+/g, ' ')).toContain('"metadata.name", "spec.manifests" and "spec.targets"');
    }
  });
});
