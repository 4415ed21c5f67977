// The repository itself: everybody can clone it, type the README's commands, and get the same tools.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const about = JSON.parse(read('package.json'));
const site = JSON.parse(read('site/package.json'));
const lock = JSON.parse(read('package-lock.json'));
const locks = [
  ['package-lock.json', lock],
  ['site/package-lock.json', JSON.parse(read('site/package-lock.json'))],
] as const;

const notOurs = new Set(['node_modules', 'dist', 'dist-binary', 'compiled', 'coverage', '.git', '.trueup']);

/** Every file of the repository, below its root. */
function ourFiles(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name) && !entry.name.endsWith('.tgz'))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? ourFiles(path) : [path];
    });
}

function versionOf(node: string): string {
  return execFileSync(join(root, 'node_modules', node), ['--version'], { encoding: 'utf8' }).trim();
}

/** Lines of our files that match, as `file:line: text`. */
function linesWith(pattern: RegExp, files: readonly string[] = ourFiles()): string[] {
  return files.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

describe('the Node of the repository', () => {
  // Two packages offer a program of this name, and npm promises nothing about which of them wins.
  it('npm scripts run on Node 24', () => {
    expect(versionOf('.bin/node')).toMatch(/^v24\./);
  });

  it('Node 22 is installed too, as the oldest supported Node', () => {
    expect(versionOf('node22/bin/node')).toMatch(/^v22\./);
  });

  it('these tests run on a supported Node', () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    expect(major > 22 || (major === 22 && minor >= 18), process.version).toBe(true);
  });
});

describe('documents, help texts and messages', () => {
  const byName = new RegExp(
    [
      String.raw`\b(npx|bunx|npm (exec|x)|pnpm (dlx|exec)|yarn dlx)( -\S+)*( --)? trueup\b`,
      String.raw`\b(npm|pnpm|yarn|bun) (install|i|add)( [^\s|;&]+)* ["']?trueup(@\S*)?["']?([^\w./-]|$)`,
    ].join('|'),
  );

  it('never install trueup from a registry, where the name is not ours', () => {
    for (const line of ['npx trueup plan', 'npx --yes trueup', 'npm install -g trueup', 'npm i trueup@1'])
      expect(line).toMatch(byName);
    expect(
      linesWith(
        byName,
        ourFiles().filter((path) => path !== 'test/repository.test.ts'),
      ),
    ).toEqual([]);
  });

  it('explain the source to install from once, and the name to register before a release', () => {
    const explained = /Set `TRUEUP_SOURCE` to one of these/;
    expect(
      linesWith(
        explained,
        ourFiles().filter((path) => path.endsWith('.md')),
      ),
    ).toHaveLength(1);
    expect(read('CONTRIBUTING.md')).toMatch(/\*\*Before the first release\*\*, register the name `trueup`/);
  });
});

describe('package.json', () => {
  it('has the name, command, Node version and license', () => {
    expect(about).toMatchObject({
      name: 'trueup',
      type: 'module',
      bin: { trueup: 'dist/main.js' },
      engines: { node: '>=22.18' },
      license: 'Apache-2.0',
    });
  });

  it('approves the one install script that the development needs', () => {
    expect(about.allowScripts).toEqual({ node: true });
  });

  it('pins every dependency to one version', () => {
    const versions = Object.entries({
      ...about.dependencies,
      ...about.devDependencies,
      ...site.devDependencies,
      ...site.overrides,
    });
    const loose = versions.filter(
      ([, version]) => !/^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-alpha\.\d+)?$/.test(String(version)),
    );
    expect(loose).toEqual([]);
  });

  it('has scripts whose files exist', () => {
    const files = Object.values<string>(about.scripts).flatMap(
      (script) => script.match(/\b(?:scripts|src|bench)\/[\w./-]+/g) ?? [],
    );
    expect(files).not.toHaveLength(0);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has the same packages as the lock file', () => {
    const { name, version, dependencies, devDependencies } = lock.packages[''];
    expect({ name, version, dependencies, devDependencies }).toEqual({
      name: about.name,
      version: about.version,
      dependencies: about.dependencies,
      devDependencies: about.devDependencies,
    });
  });
});

describe.each(locks)('the lock file %s', (_, { packages }) => {
  it('has no download addresses, so that every machine uses its own registry', () => {
    const resolved = Object.entries<{ resolved?: string }>(packages).filter(
      ([, entry]) => entry.resolved !== undefined,
    );
    expect(resolved).toEqual([]);
  });

  it('has the hash of every package', () => {
    const unknown = Object.entries<{ integrity?: string }>(packages).filter(
      ([path, entry]) => path !== '' && entry.integrity === undefined,
    );
    expect(unknown.map(([path]) => path)).toEqual([]);
  });
});

describe('the texts of the repository', () => {
  it('no file names the host of a package registry', () => {
    expect(linesWith(/\bregistry\.[a-z0-9-]+\.[a-z]{2,}\b/i)).toEqual([]);
  });

  it('no file names a path of the machine that it was written on', () => {
    expect(linesWith(/(?<![\w.~*}-])\/(?:work|root|home)\/[\w.-]/)).toEqual([]);
  });

  it('every npm script that a document names exists', () => {
    const documents = ourFiles().filter((path) => path.endsWith('.md') || path === '.ci/run');
    const named = documents.flatMap((path) =>
      [...read(path).matchAll(/\bnpm run (?:--silent )?([\w:-]+)|\bnpm (test)\b/g)].map(
        ([, run, other]) => `${path}: ${run ?? other}`,
      ),
    );
    expect(named).not.toHaveLength(0);
    expect(named.filter((line) => about.scripts[line.split(': ')[1] ?? ''] === undefined)).toEqual([]);
  });

  it('README.md has the two commands of the setup', () => {
    const text = read('README.md');
    expect(text).toContain('npm ci && npm run quickstart');
    expect(text).toContain('npm ci && npm test');
  });

  it('CI calls the command that README.md gives for the tests', () => {
    expect(read('.ci/run')).toContain('npm ci && npm test');
    expect(() => accessSync(join(root, '.ci/run'), constants.X_OK)).not.toThrow();
  });
});
