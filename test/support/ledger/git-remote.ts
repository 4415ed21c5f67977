/** A real bare repository, and clones of it in place of those of CI machines. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface GitRemote {
  /** the bare repository */
  readonly directory: string;
  /** a new clone of it; a shallow one on request */
  clone(...options: readonly string[]): string;
}

/** Runs git for a test, without the configuration of the machine. */
export function git(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'init.defaultBranch=main',
    // Saves a process after each commit and fetch.
    '-c',
    'maintenance.auto=false',
  ];
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** The commit that is checked out, or that of a branch; read from git's files, which saves a process. */
export function commitOf(repository: string, branch?: string): string {
  const folder = existsSync(join(repository, '.git')) ? join(repository, '.git') : repository;
  const head =
    branch === undefined ? readFileSync(join(folder, 'HEAD'), 'utf8').trim() : `ref: refs/heads/${branch}`;
  if (!head.startsWith('ref: ')) return head;
  const file = join(folder, head.slice('ref: '.length));
  return existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : git(repository, 'rev-parse', branch ?? 'HEAD');
}

/** Makes a repository without a commit, with this remote as `origin`. */
export function makeEmptyClone(clone: string, remote: string): void {
  cpSync(join(template().folder, 'empty'), clone, { recursive: true });
  appendFileSync(
    join(clone, '.git', 'config'),
    `[remote "origin"]\n\turl = file://${remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
  );
}

/** Makes a remote with a few commits on `main`. */
export function makeRemote(): GitRemote {
  const root = temporaryFolder();
  const directory = join(root, 'remote.git');
  const { folder, tip } = template();
  cpSync(join(folder, 'remote.git'), directory, { recursive: true });
  let clones = 0;
  return {
    directory,
    clone: (...options) => {
      clones += 1;
      const clone = join(root, `clone-${clones}`);
      if (options.length === 0 && commitOf(directory, 'main') === tip) copyClone(folder, clone, directory);
      else git(root, 'clone', '--quiet', '--branch', 'main', ...options, `file://${directory}`, clone);
      return clone;
    },
  };
}

interface Template {
  /** contains a remote, a clone of it, and a repository without a commit */
  readonly folder: string;
  /** the commit of `main` */
  readonly tip: string;
}

let made: Template | undefined;

/** One template for all tests of a process, because making it starts many processes. */
function template(): Template {
  if (made !== undefined) return made;
  // In a folder that is removed after the test run, because a worker cannot clean up when it ends.
  const folder = mkdtempSync(join(process.env['TRUEUP_TEST_TEMPLATES'] ?? tmpdir(), 'remote-'));
  const remote = join(folder, 'remote.git');
  const first = join(folder, 'first');
  mkdirSync(first);
  git(folder, 'init', '--quiet', '--bare', remote);
  git(remote, 'config', 'receive.autogc', 'false');
  git(first, 'init', '--quiet');
  for (const text of ['one', 'two', 'three']) {
    writeFileSync(join(first, 'file.txt'), text);
    git(first, 'add', '.');
    git(first, 'commit', '--quiet', '-m', text);
  }
  git(first, 'push', '--quiet', remote, 'HEAD:main');
  git(folder, 'clone', '--quiet', '--branch', 'main', `file://${remote}`, join(folder, 'clone'));
  git(folder, 'init', '--quiet', 'empty');
  made = { folder, tip: commitOf(remote, 'main') };
  return made;
}

function copyClone(folder: string, clone: string, remote: string): void {
  cpSync(join(folder, 'clone'), clone, { recursive: true });
  const config = join(clone, '.git', 'config');
  const text = readFileSync(config, 'utf8');
  writeFileSync(
    config,
    text.replace(`file://${join(folder, 'remote.git')}`, () => `file://${remote}`),
  );
  // The copied files have other times and inodes than those in the index.
  git(clone, 'update-index', '--refresh');
}

/** The visible state of a repository, and its files with sizes and times, to check that nothing was changed. */
export function stateOf(clone: string) {
  const files = readdirSync(join(clone, '.git'), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`);
  return {
    files: files.sort(),
    status: git(clone, '--no-optional-locks', 'status', '--porcelain'),
    refs: git(clone, 'for-each-ref'),
  };
}
