/**
 * What git knows about the folder of a stack: its repository, its commit, which files the index tracks, and which files no
 * commit has. Read-only.
 */
import { realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import type { IndexEntry, NoIndex } from '../../model/checkout.ts';
import { messageOf } from '../../model/error-message.ts';
import type { AppliedRepository } from '../../model/ledger.ts';
import { type GitContext, runGit } from './git-command.ts';

export interface RepositoryCommit {
  readonly commit: string;
  /** whether the directory has uncommitted changes; trueup's own files do not count */
  readonly dirty: boolean;
}

/** There is no git, no repository or no commit. Plan and apply work without one. */
export interface NoCommit {
  readonly commit?: undefined;
  /** the reason, as a clause of a message */
  readonly why: string;
}

export async function repositoryCommit(place: GitContext): Promise<RepositoryCommit | NoCommit> {
  try {
    const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], place);
    if (head.code !== 0)
      return { why: head.message.replace(/^fatal: /, '') || 'the repository has no commit yet' };
    const status = await runGit(['status', '--porcelain', '--', '.', ':(exclude,glob)**/.trueup/**'], place);
    return { commit: head.out.toString().trim(), dirty: status.out.length > 0 };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** Whether a commit is a parent of another: a CI job may check out a merge that it made of a pull request, also in a shallow clone. */
export async function isParent(parent: string, child: string, place: GitContext): Promise<boolean> {
  const { code, out } = await runGit(['cat-file', 'commit', child], place);
  return code === 0 && new RegExp(`^parent ${parent}$`, 'm').test(out.toString().split('\n\n', 1)[0] ?? '');
}

// Finds which repository a stack is applied from, and the path of its stack file there. Two repositories with a stack of one name
// would undo each other's changes.

export interface StackRepository {
  readonly applied: AppliedRepository;
  /** all spellings of the remote: git may be set to rewrite its URL */
  readonly remotes: readonly string[];
  /** absolute path of the root of the work tree */
  readonly root: string;
}

/** @param root of the repository; @param file path of the stack file. @returns undefined where git cannot be run */
export async function stackRepository(
  place: GitContext,
  root: string,
  file: string,
): Promise<StackRepository | undefined> {
  try {
    const directory = await realpath(place.directory);
    const path = relative(root, join(directory, basename(file)))
      .split(sep)
      .join('/');
    const remotes = await remotesOf(place);
    const [remote] = remotes;
    return { applied: { ...(remote === undefined ? {} : { remote }), path }, remotes, root };
  } catch {
    return undefined;
  }
}

/** `origin`, else the only remote: as it is configured, and as git rewrites it. */
async function remotesOf(place: GitContext): Promise<string[]> {
  const names = linesOf(await runGit(['remote'], place));
  const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0] : undefined;
  if (name === undefined) return [];
  const answers = await Promise.all([
    runGit(['config', '--get', `remote.${name}.url`], place),
    runGit(['remote', 'get-url', name], place),
  ]);
  return [...new Set(answers.flatMap(linesOf).map(normalizeRemote))];
}

function linesOf({ code, out }: Awaited<ReturnType<typeof runGit>>): string[] {
  return code === 0
    ? out
        .toString()
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

/** `git.example.com/acme/infra`, however it is spelt: without scheme, login, parameters and `.git`. A path of this machine stays a path. */
export function normalizeRemote(url: string): string {
  const scp = /^(?:[^@/\s]+@)?(?<host>[^:/\s]{2,}):(?!\/\/)(?<path>.+)$/.exec(url)?.groups;
  if (scp !== undefined) return spelt(scp['host'] ?? '', scp['path'] ?? '');
  if (!url.includes('://') || !URL.canParse(url)) return bare(url);
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'file:') return bare(decodeURIComponent(pathname));
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return spelt(isWeb && port !== '' ? `${hostname}:${port}` : hostname, pathname);
}

function spelt(host: string, path: string): string {
  return `${host}/${bare(path).replace(/^\/+/, '')}`.toLowerCase();
}

function bare(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/, '');
}

// Lists what the index of a repository tracks, with what a sparse checkout left out of the work tree.

/** @param pathspec which entries; by default those in the directory and below */
export async function readIndex(place: GitContext, pathspec = '.'): Promise<readonly IndexEntry[] | NoIndex> {
  try {
    const { code, out, message } = await runGit(['ls-files', '--stage', '-t', '-z', '--', pathspec], place);
    if (code !== 0) return { why: message.replace(/^fatal: /, '') };
    return out.toString().split('\0').filter(Boolean).map(entryOf);
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** Reads `S 100644 <id> 0\tmanifests/app.yaml`; `S` is what the work tree leaves out. */
function entryOf(line: string): IndexEntry {
  const [tag, mode = ''] = line.split(' ', 2);
  const type = mode === '160000' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path: line.slice(line.indexOf('\t') + 1), type, leftOut: tag === 'S' };
}

// Finds files that git does not track, such as generated manifests: no commit says what is in them.

/**
 * The untracked ones of these files, ignored ones included. Files in a tracked submodule or behind a tracked symbolic link count as
 * tracked. Empty without a repository: that is reported where the commit is asked for.
 * @param files relative to the place's directory, with slashes; also `../…`
 */
export async function untrackedFiles(place: GitContext, files: readonly string[]): Promise<string[]> {
  const entries = await readIndex(place, ':/');
  if ('why' in entries) return [];
  const tracked = new Set(entries.map(({ path }) => path));
  const links = new Set(entries.flatMap(({ path, type }) => (type === 'file' ? [] : [path])));
  return files.filter((file) => !tracked.has(file) && !foldersOf(file).some((folder) => links.has(folder)));
}

/** For `a/b/c.yaml`: `a` and `a/b`. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
