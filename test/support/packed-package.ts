/** The package that `npm pack` makes, and npm with an empty home, as users run it. Only network settings and npm's cache are this machine's. */
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The Node programs that `npm ci` installs, by version. */
export const nodes = [
  ['Node 24', join(root, 'node_modules', 'node', 'bin', 'node')],
  ['Node 22', join(root, 'node_modules', 'node22', 'bin', 'node')],
] as const;

export interface PackedFile {
  readonly path: string;
  /** its permissions, as in the tarball */
  readonly mode: number;
}

export interface Packed {
  readonly tarball: string;
  readonly files: readonly PackedFile[];
}

/** Builds and packs the checkout, once for all files of a test run that ask for it. */
export async function packInto(folder: string): Promise<Packed> {
  const shared = join(process.env['TRUEUP_TEST_TEMPLATES'] ?? folder, 'packed');
  if (!existsSync(shared)) await packOnce(shared);
  const [{ filename, files }] = JSON.parse(readFileSync(join(shared, 'pack.json'), 'utf8'));
  const tarball = join(folder, filename);
  copyFileSync(join(shared, filename), tarball);
  return { tarball, files };
}

/** If two workers pack at the same time, the package of the first one stays. */
async function packOnce(shared: string): Promise<void> {
  const own = mkdtempSync(`${shared}-`);
  const args = ['pack', '--json', '--silent', '--pack-destination', own];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  writeFileSync(join(own, 'pack.json'), stdout.slice(stdout.indexOf('[')));
  try {
    renameSync(own, shared);
  } catch (error) {
    if (!existsSync(shared)) throw error;
  }
}

/** The environment of a user with this home, whose `node` is the given program. @param prefix where global packages go */
export function userEnvironment(of: {
  readonly home: string;
  readonly prefix: string;
  readonly node: string;
}): Record<string, string> {
  const ask = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const ofNetwork = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:https?|no)_proxy)$/i;
  const network = Object.entries(process.env).flatMap(([name, value = '']) =>
    ofNetwork.test(name) ? [[name, value] as const] : [],
  );
  return {
    ...Object.fromEntries(network),
    PATH: [join(of.prefix, 'bin'), dirname(of.node), process.env['PATH']].join(delimiter),
    HOME: of.home,
    npm_config_prefix: of.prefix,
    npm_config_cache: ask('cache'),
    npm_config_registry: ask('registry'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}

/** The files of the stack that the README shows. */
export function readmeStack(): Record<string, string> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```yaml\n# (\S+\.yaml)\n([\s\S]*?)^```$/gm)];
  return Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));
}
