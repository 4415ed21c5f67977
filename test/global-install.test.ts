// The command `trueup` from `npm install --global` of the tarball, on each Node: in an empty home, and where nothing can be written.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodes, type Packed, packInto, readmeStack, userEnvironment } from './support/packed-package.ts';
import { smallSeed, startService } from './support/rig/embedded-service.ts';
import { makeFolder, removeFolder, writeFiles } from './support/rig/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = makeFolder();
let packed: Packed;

beforeAll(async () => {
  packed = await packInto(folder);
}, 120_000);

afterAll(() => {
  if (process.getuid?.() !== 0) execFileSync('chmod', ['-R', 'u+w', folder]);
  removeFolder(folder);
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** the user and group to run as; ours when absent */
  readonly uid?: number;
  readonly gid?: number;
}

function execute(program: string, args: readonly string[], running: Running): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, args, running, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end();
  });
}

/** Installs the tarball as the command of a user with an empty home. @returns the user's environment */
async function installGlobally(name: string, node: string): Promise<Record<string, string>> {
  const home = join(folder, name, 'home');
  mkdirSync(home, { recursive: true });
  const env = userEnvironment({ home, prefix: join(folder, name, 'prefix'), node });
  const installed = await execute('npm', ['install', '--global', packed.tarball], { cwd: home, env });
  expect(installed, installed.err).toMatchObject({ code: 0 });
  return env;
}

describe('the tarball', () => {
  it('has an executable program and scripts, and files that all can read and only the owner can change', () => {
    const modes = packed.files.map(({ path, mode }) => `${mode.toString(8)} ${path}`);
    const mustRun = (path: string) => path === 'dist/main.js' || path.endsWith('.sh');
    const expected = packed.files.map(({ path }) => `${mustRun(path) ? 755 : 644} ${path}`);
    expect(modes).toEqual(expected);
  });
});

describe.each(nodes)('installed globally on %s', (name, node) => {
  let env: Record<string, string> = {};

  beforeAll(async () => {
    env = await installGlobally(name, node);
  }, 120_000);

  it('the command says its version, and the Node that it runs on', async () => {
    const { code, out, err } = await execute('trueup', ['--version', '--verbose'], { cwd: folder, env });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^trueup ${version}\n`));
    expect(out).toContain(`v${name.slice(-2)}.`);
  });

  it('every installed file has the mode of the tarball', () => {
    const installed = join(env['npm_config_prefix'] ?? '', 'lib', 'node_modules', 'trueup');
    for (const { path, mode } of packed.files)
      expect(statSync(join(installed, path)).mode & 0o777, path).toBe(mode);
  });

  it('the first stack of the README is planned and applied', async () => {
    const cwd = join(folder, `${name} stack`);
    writeFiles(cwd, readmeStack());
    expect(await execute('trueup', ['plan', '--exit-code'], { cwd, env })).toMatchObject({
      code: 2,
      err: '',
    });
    expect(await execute('trueup', ['apply', '--yes'], { cwd, env })).toMatchObject({ code: 0, err: '' });
    expect(await execute('trueup', ['plan', '--exit-code'], { cwd, env })).toMatchObject({
      code: 0,
      err: '',
    });
  });
});

/** The programs called `node` on the PATH that are too old. Most machines that run these tests have none. */
function oldNodes(): string[] {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((path) => join(path, 'node'));
  return found.filter((node) => existsSync(node) && /^v(?:\d|1\d|2[01])\./.test(versionOf(node)));
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}

describe('installed globally on an older Node', () => {
  const [old] = oldNodes();

  it.skipIf(old === undefined)(
    'the command says in one line what it needs, what it found, and the fix',
    async () => {
      const env = await installGlobally('old', old ?? '');
      expect(await execute('trueup', ['plan'], { cwd: folder, env })).toEqual({
        code: 1,
        out: '',
        err: `trueup needs Node 22.18 or newer and found ${versionOf(old ?? '').slice(1)}: install Node 24 from https://nodejs.org, or use the executable of trueup, which brings its own: "npm run build:binary" in the clone makes it\n`,
      });
    },
    120_000,
  );
});

// Root can write to read-only directories, so root runs the command as another user.
describe('in an empty home where nothing can be written', () => {
  const place = join(folder, 'read-only');
  const cwd = join(place, 'stack');
  const [[, node]] = nodes;
  const served = startService({ seed: smallSeed({ owners: { ann: 'ann-token' } }), dialects: ['neutral'] });
  let env: Record<string, string> = {};

  beforeAll(async () => {
    const installed = await installGlobally('for read-only', node);
    cpSync(join(installed['npm_config_prefix'] ?? ''), place, { recursive: true, verbatimSymlinks: true });
    cpSync(node, join(place, 'bin', 'node'));
    const { 'trueup.yaml': stack = '', ...manifests } = readmeStack();
    const { url } = await served;
    const target = `url: "${url}", token: { env: SERVICE_TOKEN }, dialect: neutral`;
    writeFiles(cwd, { ...manifests, 'trueup.yaml': stack.replace('url: embedded', target) });
    writeFiles(join(cwd, 'embedded'), readmeStack());
    const home = join(place, 'home');
    mkdirSync(home);
    execFileSync('chmod', ['-R', 'a-w,a+rX', place]);
    chmodSync(folder, 0o755);
    env = { PATH: join(place, 'bin'), HOME: home, TMPDIR: home, SERVICE_TOKEN: 'ann-token' };
  }, 120_000);

  afterAll(async () => (await served).close());

  const trueup = (...args: string[]) => {
    const isRoot = process.getuid?.() === 0;
    return execute('trueup', args, { cwd, env, ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}) });
  };

  it.each(['--version', 'validate', 'schema Stack', 'explain Workspace.tags'])(
    'trueup %s works',
    async (line) => {
      expect(await trueup(...line.split(' '))).toMatchObject({ code: 0, err: '' });
    },
  );

  it.each(['text', 'json', 'html'])('a plan works, in the format %s', async (format) => {
    const { code, out, err } = await trueup('plan', '--exit-code', '--format', format);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(out).toContain('network-prod');
  });

  it('an export to standard output works', async () => {
    expect(await trueup('export')).toMatchObject({ code: 0 });
  });

  it.each([
    ['apply --yes', `${cwd}/.trueup/`],
    ['plan --out plan.json', `${cwd}/plan.json`],
    ['plan embedded', `${cwd}/embedded/.trueup`],
  ])('trueup %s says in one line what it cannot write', async (line, path) => {
    const { code, err } = await trueup(...line.split(' '));
    expect(code).toBe(1);
    expect(err).toMatch(/^error: .*\n$/);
    expect(err).toContain(path);
    expect(err).toContain(
      'this user may not do that; check the permissions of the path and of its parent folders',
    );
  });

  it('nothing was written, and the service was only read', async () => {
    expect(readdirSync(cwd).sort()).toEqual(['embedded', 'manifests', 'trueup.yaml']);
    expect(readdirSync(join(place, 'home'))).toEqual([]);
    const { requests } = await served;
    expect(requests.filter(({ method, url }) => method !== 'GET' && !url.includes('permission'))).toEqual([]);
  });
});
