/** A real bare repository, and clones of it that stand for the machines of a CI. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../rig/temporary-folder.ts';

export interface GitRemote {
  /** the bare repository */
  readonly directory: string;
  /** a new clone of it; a shallow one on request */
  clone(...options: readonly string[]): string;
}

/** Runs git for a test, with nothing of the machine's own configuration. */
export function git(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'init.defaultBranch=main',
    // A process less after each commit and fetch.
    '-c',
    'maintenance.auto=false',
  ];
  return execFileSync('git', [...identity, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** With a few commits on `main`. */
export function makeRemote(): GitRemote {
  const root = temporaryFolder();
  const directory = join(root, 'remote.git');
  const first = join(root, 'first');
  mkdirSync(first);
  git(root, 'init', '--quiet', '--bare', directory);
  git(directory, 'config', 'receive.autogc', 'false');
  git(first, 'init', '--quiet');
  for (const text of ['one', 'two', 'three']) {
    writeFileSync(join(first, 'file.txt'), text);
    git(first, 'add', '.');
    git(first, 'commit', '--quiet', '-m', text);
  }
  git(first, 'push', '--quiet', directory, 'HEAD:main');
  let clones = 0;
  return {
    directory,
    clone: (...options) => {
      clones += 1;
      const clone = join(root, `clone-${clones}`);
      git(root, 'clone', '--quiet', '--branch', 'main', ...options, `file://${directory}`, clone);
      return clone;
    },
  };
}

/** All that a user would notice in a repository, and all of its files but their times. */
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
