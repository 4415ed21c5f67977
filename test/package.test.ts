// The package as users get it: packed, installed somewhere else, and run on every supported Node.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { git } from './support/ledger/git-remote.ts';
import { nodes, packInto, userEnvironment } from './support/packed-package.ts';
import { makeFolder, removeFolder } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const elsewhere = makeFolder();
const installed = join(elsewhere, 'node_modules', 'trueup');
const program = join(installed, 'dist', 'main.js');
let packed: readonly string[] = [];

/** Packs, which builds, and installs into an empty folder. npm does not fetch packages again that are in its cache. */
beforeAll(async () => {
  const { tarball, files } = await packInto(elsewhere);
  packed = files.map(({ path }) => path);
  writeFileSync(join(elsewhere, 'package.json'), '{ "private": true }');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', '--prefix', elsewhere, ...quiet, tarball]);
}, 120_000);

afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

it('an installation of the tarball records its integrity in the lock file', () => {
  const lock = JSON.parse(readFileSync(join(elsewhere, 'package-lock.json'), 'utf8'));
  expect(lock.packages['node_modules/trueup'].integrity).toMatch(/^sha512-/);
});

describe('from a git URL with a commit', () => {
  it('npm builds and installs it in an empty home', async () => {
    const [home, source, project] = [
      makeFolder(),
      makeFolder(),
      makeFolder({ 'package.json': '{ "private": true }' }),
    ];
    onTestFinished(() => [home, source, project].forEach(removeFolder));
    const left = /[/\\](node_modules|dist|dist-binary|\.git|\.trueup|coverage|\.built-for-tests)$|\.tgz$/;
    cpSync(root, source, { recursive: true, filter: (path) => !left.test(path.replace(/[/\\]$/, '')) });
    git(source, 'init', '--quiet');
    git(source, 'add', '.');
    git(source, 'commit', '--quiet', '-m', 'all');
    const pinned = `git+file://${source}#${git(source, 'rev-parse', 'HEAD')}`;
    const [[, node]] = nodes;
    const env = userEnvironment({ home, prefix: join(home, 'prefix'), node });
    await promisify(execFile)('npm', ['install', '--silent', pinned], { cwd: project, env });
    const command = join(project, 'node_modules', '.bin', 'trueup');
    expect(execFileSync(node, [command, '--version'], { encoding: 'utf8' })).toBe(`${about.version}\n`);
    const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    expect(lock.packages['node_modules/trueup'].resolved).toBe(pinned);
  }, 600_000);
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(node: string, args: readonly string[]): ChildProcess {
  return spawn(node, [...args], { cwd: elsewhere, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finish(child: ChildProcess): Promise<Ran> {
  const written = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    written.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    written.err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...written };
}

/** Resolves after the first line of a service, and fails if the service ends before it. */
async function waitUntilReady({ stdout }: ChildProcess, end: Promise<Ran>): Promise<void> {
  const line =
    stdout === null ? Promise.reject(new Error('no output')) : once(createInterface(stdout), 'line');
  const early = end.then((ran) => Promise.reject(new Error(`the service ended: ${JSON.stringify(ran)}`)));
  await Promise.race([line, early]);
  early.catch(() => {});
}

/** Runs the installed program. */
function trueup(node: string, ...args: string[]): Promise<Ran> {
  return finish(start(node, [program, ...args]));
}

describe.each(nodes)('on %s', (_, node) => {
  let example = '';

  beforeAll(() => {
    example = mkdtempSync(join(elsewhere, 'stack-'));
    cpSync(join(root, 'examples', 'quickstart'), example, {
      recursive: true,
      filter: (path) => !path.endsWith('.trueup'),
    });
  });

  it('it reports its version', async () => {
    expect(await trueup(node, '--version')).toEqual({ code: 0, out: `${about.version}\n`, err: '' });
  });

  it('it validates an example', async () => {
    const { code, out, err } = await trueup(node, 'validate', example);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('valid');
  });

  it('it prints a schema', async () => {
    const { code, out } = await trueup(node, 'schema', 'Stack');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ title: 'Stack' });
  });

  it('it serves, plans and applies, then has no changes, and prints nothing on stderr', async () => {
    const server = start(node, [program, 'serve', '--data', join(example, '.trueup', 'embedded.db')]);
    const served = finish(server);
    try {
      await waitUntilReady(server, served);
      expect(await trueup(node, 'plan', '--exit-code', example)).toMatchObject({ code: 2, err: '' });
      expect(await trueup(node, 'apply', '--yes', example)).toMatchObject({ code: 0, err: '' });
      expect(await trueup(node, 'plan', '--exit-code', example)).toMatchObject({ code: 0, err: '' });
    } finally {
      server.kill('SIGTERM');
    }
    expect(await served).toMatchObject({ code: 0, err: '' });
  });

  it('it starts the embedded service by itself', async () => {
    rmSync(join(example, '.trueup'), { recursive: true, force: true });
    expect(await trueup(node, 'plan', example)).toMatchObject({ code: 0, err: '' });
  });

  it('npm installs it as a command', () => {
    const command = join(elsewhere, 'node_modules', '.bin', 'trueup');
    expect(execFileSync(node, [command, '--version'], { encoding: 'utf8' })).toBe(`${about.version}\n`);
  });
});

describe('the compiled code of a start', () => {
  const kept = join(installed, 'dist', 'compiled');
  const begin = () => {
    rmSync(kept, { recursive: true, force: true });
    onTestFinished(() => rmSync(kept, { recursive: true, force: true }));
  };
  const startOnce = () => execFileSync(process.execPath, [program, 'schema', 'Stack'], { encoding: 'utf8' });

  it('is kept next to the program for the next start, and only its user can write it', () => {
    begin();
    startOnce();
    expect(readdirSync(kept)).not.toEqual([]);
    expect(statSync(kept).mode & 0o777).toBe(0o700);
  });

  it('is not used if it is damaged, and then replaced', () => {
    begin();
    startOnce();
    const folder = join(kept, `trueup-${process.version}-${process.arch}`);
    const file = join(folder, readdirSync(folder).find((name) => name.startsWith('start.js-')) ?? '');
    const damaged = readFileSync(file);
    damaged.fill(0xaa, damaged.length / 2, damaged.length / 2 + 64);
    for (const content of [damaged, damaged.subarray(0, 1000), Buffer.alloc(0)]) {
      writeFileSync(file, content);
      expect(JSON.parse(startOnce())).toMatchObject({ title: 'Stack' });
      expect(readFileSync(file).equals(content)).toBe(false);
    }
  });

  it('is not used if it is a folder, or if other users may write to its folder', () => {
    begin();
    startOnce();
    const folder = join(kept, `trueup-${process.version}-${process.arch}`);
    const file = join(folder, readdirSync(folder).find((name) => name.startsWith('start.js-')) ?? '');
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
    rmSync(file);
    mkdirSync(file);
    expect(JSON.parse(startOnce())).toMatchObject({ title: 'Stack' });
    rmSync(file, { recursive: true });
    chmodSync(folder, 0o777);
    expect(JSON.parse(startOnce())).toMatchObject({ title: 'Stack' });
    expect(existsSync(file)).toBe(false);
  });

  it('is not kept if the user says so', () => {
    begin();
    execFileSync(process.execPath, [program, 'schema', 'Stack'], {
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    expect(existsSync(kept)).toBe(false);
  });

  it('is not kept if other users may write to its folder', () => {
    begin();
    mkdirSync(kept);
    chmodSync(kept, 0o777);
    expect(JSON.parse(startOnce())).toMatchObject({ title: 'Stack' });
    expect(readdirSync(kept)).toEqual([]);
  });

  it('is not kept if other users may write to the program', () => {
    begin();
    chmodSync(join(installed, 'dist'), 0o777);
    onTestFinished(() => chmodSync(join(installed, 'dist'), 0o755));
    startOnce();
    expect(existsSync(kept)).toBe(false);
  });

  it('is not kept, without an error, if its folder cannot be made', () => {
    begin();
    writeFileSync(kept, 'a file');
    expect(JSON.parse(startOnce())).toMatchObject({ title: 'Stack' });
  });

  it('is not part of the package', () => {
    expect(packed.filter((path) => path.includes('compiled/'))).toEqual([]);
  });
});

describe('on an older Node', () => {
  const refusal = (version: string) => ({
    code: 1,
    out: '',
    err: `trueup needs Node 22.18 or newer and found ${version}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own: "npm run build:binary" in the clone makes it\n`,
  });

  it.each(['22.17.1', '20.20.2', '18.0.0', '4.9.1'])('it refuses Node %s', async (version) => {
    const pretence = join(elsewhere, `node-${version}.cjs`);
    writeFileSync(pretence, `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });`);
    expect(await finish(start(process.execPath, ['--require', pretence, program, 'plan']))).toEqual(
      refusal(version),
    );
  });

  it.each(['22.18.0', '23.0.0', '24.0.0', '100.1.0'])('it accepts Node %s', async (version) => {
    const pretence = join(elsewhere, `node-${version}.cjs`);
    writeFileSync(
      pretence,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    );
    const ran = await finish(start(process.execPath, ['--require', pretence, program, '--version']));
    expect(ran).toEqual({ code: 0, out: `${about.version}\n`, err: '' });
  });

  // Before Node 12 a .js file is always CommonJS, even if package.json has another type.
  it('its first file can be read as a CommonJS script too', async () => {
    const script = join(elsewhere, 'main.cjs');
    cpSync(program, script);
    const pretence = join(elsewhere, 'node-10.cjs');
    writeFileSync(pretence, `Object.defineProperty(process, 'versions', { value: { node: '10.0.0' } });`);
    expect(await finish(start(process.execPath, ['--require', pretence, script]))).toEqual(refusal('10.0.0'));
  });
});

// The bundle contains precompiled schemas, and the thread of policies as a text. The source compiles schemas, and loads the thread from
// a file.
describe('the package reports errors of a stack like the source', () => {
  const stack = (spec: string) =>
    `apiVersion: trueup.dev/v1\nkind: Stack\nmetadata: { name: broken }\nspec: ${spec}\n`;
  const targets = '[{ name: acme, service: workspaces, url: embedded, organization: acme }]';
  const manifest = (kind: string, spec: string) =>
    `---\napiVersion: trueup.dev/v1\nkind: ${kind}\nmetadata: { name: a }\nspec: ${spec}\n`;

  it.each([
    ['a stack with an unknown field', stack(`{ manifests: [], targts: ${targets} }`), ''],
    [
      'defaults that the kind would refuse',
      stack(`{ manifests: [m.yaml], targets: ${targets}, defaults: { Workspace: { executionMode: 7 } } }`),
      '',
    ],
    [
      'manifests of every kind with an unknown field, and one of an unknown kind',
      stack(`{ manifests: [m.yaml], targets: ${targets} }`),
      [...kinds.keys(), 'Workspaces'].map((kind) => manifest(kind, '{ nme: 1, "": {} }')).join(''),
    ],
    [
      'a policy with an invalid rule',
      stack(`{ manifests: [], policies: { files: [m.yaml] }, targets: ${targets} }`),
      manifest('Policy', '{ severity: deny, rule: "resource.nme ==" }'),
    ],
  ])('%s', async (_, stackText, manifests) => {
    const folder = mkdtempSync(join(elsewhere, 'broken-'));
    writeFileSync(join(folder, 'trueup.yaml'), stackText);
    writeFileSync(join(folder, 'm.yaml'), manifests);
    const args = ['validate', '--format', 'json', folder];
    const bundled = await trueup(process.execPath, ...args);
    const source = await finish(start(process.execPath, [join(root, 'src', 'main.ts'), ...args]));
    expect(bundled).toMatchObject({ code: 7, err: '' });
    expect(bundled).toEqual(source);
  });
});

describe('the package', () => {
  it('contains only the program, schemas, documents and licences', () => {
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'package.json', 'dist/main.js']));
    expect(packed).toContain('dist/THIRD-PARTY-NOTICES.txt');
    const strangers = packed.filter(
      (path) =>
        !/^(?:dist\/[\w-]+\.(?:js|txt)|dist\/package\.json|schemas\/[\w-]+\.schema\.json|[A-Z]+(?:\.md)?|package\.json|action\.yml|\.pre-commit-hooks\.yaml)$/.test(
          path,
        ) && !/^(?:docs\/[\w/-]+\.(?:md|svg|png)|examples\/[\w/.-]+|src\/[\w/-]+\/README\.md)$/.test(path),
    );
    expect(strangers).toEqual([]);
    expect(packed.filter((path) => path.includes('.trueup/'))).toEqual([]);
  });

  it('contains every page and picture that its README, tutorial, guides and reference link', () => {
    const pages = packed.filter((path) =>
      /^(?:README\.md|docs\/(?:\w+\.md|(?:guides|reference)\/.*\.md))$/.test(path),
    );
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/tutorial.md', 'docs/guides/safety.md']));
    const dead = pages.flatMap((page) =>
      linksIn(readFileSync(join(installed, page), 'utf8'))
        .map((link) => posix.join(posix.dirname(page), link))
        .filter((path) => !packed.includes(path) && !packed.some((other) => other.startsWith(`${path}/`)))
        .map((path) => `${page} links ${path}`),
    );
    expect(dead).toEqual([]);
  });

  it('contains the licence of every bundled package', () => {
    const notices = readFileSync(join(installed, 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = new Set(
      distFiles().flatMap((text) =>
        [...text.matchAll(/^\/\/ .*\/?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map(([, name = '']) => name),
      ),
    );
    expect([...bundled]).toEqual(expect.arrayContaining(['commander', 'undici']));
    expect([...bundled].filter((name) => !notices.includes(`\n${name} `))).toEqual([]);
  });

  it('imports only packages that npm installs with it', () => {
    // Without imports in texts from which the schema compiler makes code.
    const imported = distFiles().flatMap((text) =>
      [...text.matchAll(/(?<!`)\brequire\(["']([^"']+)["']\)/g)].map(([, name = '']) => name),
    );
    const packages = new Set(imported.filter((name) => !name.startsWith('.') && !isBuiltin(name)));
    expect(packages).toContain('fastify');
    expect([...packages].filter((name) => about.dependencies[name] === undefined)).toEqual([]);
  });
});

/** The relative paths that a document links, without headings. */
function linksIn(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)\s]*)?\)/g)].map(
    ([, path = '']) => path,
  );
}

/** The texts of the bundle's files. */
function distFiles(): string[] {
  const dist = join(installed, 'dist');
  return readdirSync(dist)
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(dist, file), 'utf8'));
}
