/**
 * Files that a stack or a command line names, in whose place stands what is never read to its end: each command answers at
 * once, and says which file it is and what to do.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Checkout, openBench, secrets } from './bench.ts';
import { role, workspace } from './documents.ts';
import { startTrueup } from './running.ts';

type Planted = (file: string) => Promise<unknown>;

const pipe: Planted = async (file) => execFileSync('mkfifo', [file]);
const device: Planted = (file) => symlink('/dev/zero', file);

async function plant(stack: Checkout, file: string, planted: Planted): Promise<void> {
  const path = join(stack.directory, file);
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await planted(path);
}

/** What the real process says on stderr; nobody writes into the pipes that it may meet. */
async function told(stack: Checkout, args: readonly string[], code: number): Promise<string> {
  const ran = await startTrueup(args, { cwd: stack.directory, env: secrets }).ended;
  expect(ran, ran.out + ran.err).toMatchObject({ code });
  return ran.err.replaceAll(stack.directory, '.');
}

const ledger = '.trueup/payments.ledger.json';
const entry = '.trueup/payments.history/20261120T114200123Z-7f3a.json';
const login = { login: { mount: 'cluster', role: 'ci', jwt: { file: 'named' } } };

/** By what the file is: what names it in the stack, the command that reads it, and how the message begins. */
const cases = [
  [
    'the ledger',
    {},
    ['plan'],
    ledger,
    `error: the ledger "./${ledger}" cannot be read: it is no regular file`,
  ],
  [
    'a history entry',
    {},
    ['history'],
    entry,
    `error: the history entry "./${entry}" cannot be read: it is no`,
  ],
  [
    'a token',
    { workspaces: { token: { file: 'named' } } },
    ['plan'],
    'named',
    'error: the secret file "named" cannot be read: it is no regular file',
  ],
  [
    'a CA',
    { workspaces: { caCert: { file: 'named' } } },
    ['plan'],
    'named',
    'error: the certificate "named" cannot',
  ],
  ['a plan', {}, ['show', 'named'], 'named', 'error: the plan "named" cannot be read: it is no regular file'],
  [
    'a seed',
    {},
    ['serve', '--data', ':memory:', '--seed', 'named'],
    'named',
    'error: the seed "named" cannot be',
  ],
] as const;

describe.each([
  ['a pipe that nobody writes to', pipe],
  ['a link to /dev/zero', device],
] as const)('%s', (_, planted) => {
  test.each(cases)('as %s', async (_what, options, args, file, message) => {
    const stack = await (await openBench()).checkout(options);
    await stack.declare(workspace('app'));
    await plant(stack, file, planted);
    const err = await told(stack, args, 1);
    expect(err).toContain(message);
    expect(err).toContain('write what it holds into one');
  });

  test('as the JWT of a login', async () => {
    const stack = await (await openBench()).checkout({ clusterAuth: { token: login } });
    await stack.declare(role('web'));
    await plant(stack, 'named', planted);
    expect(await told(stack, ['plan'], 1)).toContain(
      'the secret file "named" cannot be read: it is no regular file',
    );
  });

  test('as the seed of a stack', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'trueup-seed-'));
    onTestFinished(() => rm(directory, { recursive: true }));
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
    expect(err).toContain('error: the seed "named" cannot be read: it is no regular file');
  });
});

describe('a file that is far too long', () => {
  const megabyte = 1024 * 1024;
  test.each([
    [...cases[0], 500],
    [...cases[1], 500],
    [...cases[2], 1],
    [...cases[3], 4],
    [...cases[4], 256],
    [...cases[5], 32],
  ] as const)('as %s', async (_what, options, args, file, _message, most) => {
    const stack = await (await openBench()).checkout(options);
    await stack.declare(workspace('app'));
    await plant(stack, file, async (path) => {
      await writeFile(path, '');
      await truncate(path, most * megabyte + 1);
    });
    const err = await told(stack, args, 1);
    expect(err).toContain(
      `cannot be read: it has more than ${most} MB; check that it is the file that is meant`,
    );
  });
});

test('a token behind two links, as pods have it, is read', async () => {
  const stack = await (await openBench()).checkout({ workspaces: { token: { file: 'mounted/token' } } });
  await stack.declare(workspace('app'));
  const folder = join(stack.directory, 'mounted');
  await mkdir(join(folder, '..2026'), { recursive: true });
  await writeFile(join(folder, '..2026', 'token'), `${secrets.API_TOKEN}\n`);
  await symlink('..2026', join(folder, '..data'));
  await symlink('..data/token', join(folder, 'token'));
  expect(await told(stack, ['plan'], 0)).toBe('');
});
