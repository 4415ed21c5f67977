// The executable of `npm run build:binary` works like the package, in an empty directory and without Node on the PATH.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainFile } from './support/cli/process.ts';
import { readmeStack } from './support/packed-package.ts';
import { makeFolder, removeFolder, temporaryFolder } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = makeFolder();
const binary = join(folder, 'trueup');

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function execute(program: string, args: readonly string[], cwd: string, env = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end();
  });
}

/** Runs the executable with an empty PATH. */
function trueup(cwd: string, ...args: string[]): Promise<Ran> {
  return execute(binary, args, cwd, { PATH: join(folder, 'nothing'), HOME: cwd });
}

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the executable', () => {
  let built = '';

  beforeAll(async () => {
    const build = join(root, 'scripts', 'build-binary.ts');
    built = (await promisify(execFile)(process.execPath, [build, '--to', folder], { cwd: root })).stdout;
  }, 300_000);

  afterAll(() => removeFolder(folder));

  it('is one file that all users can run, with the licences of bundled packages', () => {
    expect(readdirSync(folder).sort()).toEqual(['THIRD-PARTY-NOTICES.txt', 'trueup']);
    expect(statSync(binary).mode & 0o777).toBe(0o755);
    const notices = readFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['commander', 'fastify', 'pg', 'undici']) expect(notices).toContain(`\n${name} `);
    expect(notices).toContain(`Node.js ${process.version}\n`);
  });

  it('is measured at the end of its build', () => {
    expect(built).toMatch(/trueup {2}\d+\.\d MB, of which trueup \d+\.\d MB\n/);
    for (const command of ['--version', 'validate', 'plan, apply, plan'])
      expect(built).toMatch(new RegExp(`^trueup ${command}.* {2}[\\d.]+ m?s$`, 'm'));
  });

  it('says its version, commit, Node and platform', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { code, out, err } = await trueup(folder, '--version', '--verbose');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(
      new RegExp(`^trueup ${version}\n(?:.*\n)*node +${process.version}\nplatform +linux x64\n$`),
    );
  });

  it('validates, plans and applies in a directory with only a stack, and then has no changes', async () => {
    const cwd = temporaryFolder(readmeStack());
    expect(await trueup(cwd, 'validate')).toMatchObject({ code: 0, err: '' });
    expect(await trueup(cwd, 'plan', '--exit-code')).toMatchObject({ code: 2, err: '' });
    expect(await trueup(cwd, 'apply', '--yes')).toMatchObject({ code: 0, err: '' });
    expect(await trueup(cwd, 'plan', '--exit-code')).toMatchObject({ code: 0, err: '' });
    expect(await trueup(cwd, 'drift')).toMatchObject({ code: 0, err: '' });
  });

  it.each([
    '--help',
    'plan --help',
    'schema Workspace',
    'explain lock-lost',
    'validate',
    'plan --format html',
    'plan --color maybe',
  ])('answers "trueup %s" like the package', async (line) => {
    const cwd = temporaryFolder({ ...readmeStack(), 'manifests/typo.yaml': typo });
    const args = line.split(' ');
    const packaged = await execute(process.execPath, [mainFile, ...args], cwd, { HOME: cwd });
    expect(await trueup(cwd, ...args)).toEqual(packaged);
  });

  it('contains the client of PostgreSQL', async () => {
    const { 'trueup.yaml': stack = '', ...manifests } = readmeStack();
    const cwd = temporaryFolder({ ...manifests, 'trueup.yaml': `${stack}  ledger: postgres\n` });
    const env = { HOME: cwd, TRUEUP_LEDGER_URL: 'postgres://127.0.0.1:1/ledger' };
    const { code, err } = await execute(binary, ['plan'], cwd, env);
    expect(code).toBe(1);
    expect(err).toContain('ECONNREFUSED 127.0.0.1:1');
  });
});

const typo = 'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: a }\nspec: { autoAply: true }\n';
