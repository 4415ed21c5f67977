// The Dockerfile without an engine: its build steps run in a folder, with the files that .dockerignore admits, and install a command
// that works. `.ci/run` lints it.
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import picomatch from 'picomatch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readmeStack, userEnvironment } from './support/packed-package.ts';
import { makeFolder, removeFolder, temporaryFolder } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const image = makeFolder();

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** The instructions of each stage, with continued lines joined. */
const stages = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n/g, '')
  .split(/^(?=FROM )/m)
  .map((stage) =>
    [...stage.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = '', value = '']) => ({ name, value })),
  )
  .filter((stage) => stage.length > 0);
const [build = [], final = []] = stages;

function valuesOf(stage: readonly Instruction[], name: string): string[] {
  return stage.filter((instruction) => instruction.name === name).map(({ value }) => value);
}

/** What `COPY . .` copies. The last pattern that matches a file or a folder above it decides. */
function isSent(path: string): boolean {
  const rules = read('.dockerignore').match(/^[^#\n].*$/gm) ?? [];
  const deciding = rules.findLast((rule) => {
    const pattern = rule.replace('!', '');
    return picomatch([pattern, `${pattern}/**`], { dot: true })(path);
  });
  return deciding?.startsWith('!') === true;
}

/** Replaces the paths of the image by paths in a temporary folder. */
function relocate(command: string): string {
  return command.replaceAll(/(?<=\s)\/(packed|opt)\b/g, (path) => join(image, path));
}

const trueup = (cwd: string, ...args: string[]) => {
  const env = { PATH: [join(image, 'opt/trueup/bin'), dirname(process.execPath)].join(delimiter), HOME: cwd };
  return execFileSync(valuesOf(final, 'ENTRYPOINT')[0]?.match(/"(.*)"/)?.[1] ?? '', args, {
    cwd,
    env,
    encoding: 'utf8',
  });
};

beforeAll(async () => {
  const context = join(image, 'build');
  cpSync(root, context, {
    recursive: true,
    filter: (path) => relative(root, path) === '' || isSent(relative(root, path)),
  });
  mkdirSync(join(image, 'opt'));
  const env = userEnvironment({ home: image, prefix: join(image, 'prefix'), node: process.execPath });
  for (const command of valuesOf(build, 'RUN'))
    await promisify(execFile)('bash', ['-c', relocate(command)], { cwd: context, env });
}, 600_000);

afterAll(() => removeFolder(image));

it('the image gets no secret, ledger, plan or dependency of the checkout', () => {
  for (const path of [
    '.git/config',
    '.trueup/x.json',
    'examples/quickstart/.trueup/embedded.db',
    'plan.json',
    '.env',
    'node_modules/a.js',
  ])
    expect(isSent(path), path).toBe(false);
  for (const path of [
    'src/main.ts',
    'scripts/build.ts',
    'package-lock.json',
    'README.md',
    'examples/quickstart/trueup.yaml',
  ])
    expect(isSent(path), path).toBe(true);
});

it('the build steps install the command, which works without the checkout', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(trueup(image, '--version')).toBe(`${version}\n`);
  const cwd = temporaryFolder(readmeStack());
  expect(trueup(cwd, 'apply', '--yes')).toContain('nothing is left to do');
});

it('the image has the same package as a checkout', () => {
  const installed = join(image, 'opt/trueup/lib/node_modules/trueup');
  expect(readdirSync(installed).sort()).toEqual(
    [...about().files.map((path) => path.split('/')[0]), 'package.json', 'node_modules']
      .filter((path, index, all) => !path?.startsWith('!') && all.indexOf(path) === index)
      .sort(),
  );
  expect(readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')).toContain('\ncommander ');
});

function about(): { readonly files: readonly string[] } {
  return JSON.parse(read('package.json'));
}

it('the image runs the command as a user who is not root, in /work, with git', () => {
  expect(valuesOf(final, 'USER')).toEqual(['1000:1000']);
  expect(valuesOf(final, 'WORKDIR')).toEqual(['/work']);
  expect(valuesOf(final, 'ENTRYPOINT')).toEqual(['["trueup"]']);
  expect(valuesOf(final, 'COPY')).toEqual(['--from=build /opt/trueup /opt/trueup']);
  expect(valuesOf(final, 'ENV')).toEqual([`PATH="/opt/trueup/bin:\${PATH}"`]);
  expect(valuesOf(final, 'RUN').join()).toMatch(/apt-get install .* git /);
});
