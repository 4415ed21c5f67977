/**
 * Files that a stack or a command line names, but that are pipes, devices or far too long: each command fails at
 * once, and reports which file it is and what to do.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { startTrueup } from '../../support/cli/process.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

type Planted = (file: string) => Promise<unknown>;

const pipe: Planted = async (file) => execFileSync('mkfifo', [file]);
const device: Planted = (file) => symlink('/dev/zero', file);

async function plant(stack: Checkout, file: string, planted: Planted): Promise<void> {
  const path = join(stack.directory, file);
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await planted(path);
}

/** The stderr of the real process. Nothing writes into the planted pipes. */
async function stderrOf(stack: Checkout, args: readonly string[], code: number): Promise<string> {
  const ran = await startTrueup(args, { cwd: stack.directory, env: secrets }).ended;
  expect(ran, ran.out + ran.err).toMatchObject({ code });
  return ran.err.replaceAll(stack.directory, '.');
}

const ledger = '.trueup/payments.ledger.json';
const entry = '.trueup/payments.history/20261120T114200123Z-7f3a.json';
const login = { login: { mount: 'cluster', role: 'ci', jwt: { file: 'named' } } };

/** For each use of a file: the stack that names it, the command that reads it, its name in errors, and its maximum in MB. */
const cases = {
  'the ledger': { args: ['plan'], file: ledger, shownAs: `the ledger "./${ledger}"`, maximum: 500 },
  'a history entry': {
    args: ['history'],
    file: entry,
    shownAs: `the history entry "./${entry}"`,
    maximum: 500,
  },
  'a token': {
    stack: { workspaces: { token: { file: 'named' } } },
    args: ['plan'],
    shownAs: 'the secret file "named"',
    maximum: 1,
  },
  'a CA': {
    stack: { workspaces: { caCert: { file: 'named' } } },
    args: ['plan'],
    shownAs: 'the certificate "named"',
    maximum: 4,
  },
  'the JWT of a login': {
    stack: { clusterAuth: { token: login } },
    args: ['plan'],
    shownAs: 'the secret file "named"',
    maximum: 1,
  },
  'a plan': { args: ['show', 'named'], shownAs: 'the plan "named"', maximum: 256 },
  'a seed': {
    args: ['serve', '--data', ':memory:', '--seed', 'named'],
    shownAs: 'the seed "named"',
    maximum: 32,
  },
};

type Case = (typeof cases)['a plan'] & { readonly stack?: StackOptions; readonly file?: string };

/** The stderr of a command that reads what is planted in the place of the file. */
async function stderrWith(
  { stack: options = {}, args, file = 'named' }: Case,
  planted: Planted,
): Promise<string> {
  const stack = await (await openBench()).checkout(options);
  await stack.declare(workspace('app'), role('web'));
  await plant(stack, file, planted);
  return stderrOf(stack, args, 1);
}

const each = Object.entries<Case>(cases);

describe.each([
  ['a pipe that nobody writes to', pipe],
  ['a link to /dev/zero', device],
] as const)('%s', (_, planted) => {
  it.each(each)('as %s is refused at once', async (_name, one) => {
    expect(await stderrWith(one, planted)).toContain(
      `error: ${one.shownAs} cannot be read: it is not a regular file; pipes and devices are not supported`,
    );
  });

  it('as the seed of a stack is refused at once', async () => {
    const directory = temporaryFolder();
    const spec = {
      embedded: { seed: 'named' },
      targets: [{ name: 'acme', service: 'workspaces', url: 'embedded', organization: 'acme' }],
      manifests: [],
    };
    const metadata = { name: 'payments' };
    const stack = { apiVersion: 'trueup.dev/v1', kind: 'Stack', metadata, spec };
    await writeFile(join(directory, 'trueup.yaml'), JSON.stringify(stack));
    await planted(join(directory, 'named'));
    const { code, err } = await startTrueup(['plan'], { cwd: directory }).ended;
    expect(code).toBe(1);
    expect(err).toContain('error: the seed "named" cannot be read: it is not a regular file');
  });
});

it.each(each)('a file that is far too long is refused as %s', async (_name, one) => {
  const long: Planted = async (file) => {
    await writeFile(file, '');
    await truncate(file, one.maximum * 1024 * 1024 + 1);
  };
  expect(await stderrWith(one, long)).toContain(
    `${one.shownAs} cannot be read: it has more than ${one.maximum} MB; check that it is the right file`,
  );
});

it('a token file behind two links, as in a Kubernetes pod, is read', async () => {
  const stack = await (await openBench()).checkout({ workspaces: { token: { file: 'mounted/token' } } });
  await stack.declare(workspace('app'));
  const folder = join(stack.directory, 'mounted');
  await mkdir(join(folder, '..2026'), { recursive: true });
  await writeFile(join(folder, '..2026', 'token'), `${secrets.API_TOKEN}\n`);
  await symlink('..2026', join(folder, '..data'));
  await symlink('..data/token', join(folder, 'token'));
  expect(await stderrOf(stack, ['plan'], 0)).toBe('');
});
