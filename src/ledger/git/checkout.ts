/**
 * The state of a stack's folder in git: its repository, its commit, tracked files, and uncommitted files. Read-only.
 */
import { readdir, realpath } from 'node:fs/promises';
import { basename, join, posix, relative, sep } from 'node:path';
import type { IndexEntry, NoIndex } from '../../model/checkout.ts';
import { messageOf } from '../../model/error-message.ts';
import type { AppliedRepository } from '../../model/ledger.ts';
import { type GitContext, runGit } from './git-command.ts';
import { addressOf, locate, remotesOf, settingsOf } from './git-place.ts';

export interface RepositoryCommit {
  readonly commit: string;
  /** whether the directory has uncommitted changes; trueup's own files do not count */
  readonly dirty: boolean;
  /** the hash of what is declared, if files of the stack have uncommitted changes */
  readonly uncommitted?: string;
  /** of the files of the stack, only those that git ignores are uncommitted */
  readonly ignored?: true;
}

/** There is no git, no repository or no commit. Plan and apply work without one. */
export interface NoCommit {
  readonly commit?: undefined;
  /** the reason, as a clause of a message */
  readonly why: string;
  /** the hash of what is declared */
  readonly uncommitted?: string;
}

export async function repositoryCommit(place: GitContext): Promise<RepositoryCommit | NoCommit> {
  try {
    const status = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind'];
    const { code, out, message } = await runGit(
      [...status, '--', '.', ':(exclude,glob)**/.trueup/**'],
      place,
    );
    if (code !== 0) return { why: message.replace(/^fatal: /, '') };
    const text = out.toString();
    const [, commit] = /^# branch\.oid ([0-9a-f]+)$/m.exec(text) ?? [];
    if (commit === undefined) return { why: 'the repository has no commit yet' };
    return { commit, dirty: /^[^#]/m.test(text) };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

interface ChangedPath {
  /** relative to the directory, with slashes */
  readonly path: string;
  readonly isTracked: boolean;
  /** the last commit has a symbolic link or a submodule there, so that files may be below it */
  readonly hadFiles: boolean;
}

/**
 * What has uncommitted changes in the directory, and at `others`, without ignored files. Empty if git fails, which is reported with
 * the commit.
 * @param others relative to the directory, with slashes
 */
export async function uncommittedPaths(
  place: GitContext,
  others: readonly string[] = [],
): Promise<ChangedPath[]> {
  return (await changedPaths(place, others)) ?? [];
}

/** The paths with uncommitted changes; undefined if git fails. */
async function changedPaths(
  place: GitContext,
  others: readonly string[] = [],
): Promise<ChangedPath[] | undefined> {
  const status = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    '--untracked-files=all',
    '--ignore-submodules=none',
    '--',
    '.',
    ...others,
  ];
  const [changed, where] = await Promise.all([
    runGit(['--literal-pathspecs', ...status], place),
    locate(place),
  ]).catch(() => []);
  if (changed?.code !== 0 || where === undefined) return undefined;
  const { prefix: folder } = where;
  const entries = changed.out.toString().split('\0').filter(Boolean);
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const { fields, path: fromRoot } =
        /^(?<fields>\? |u (?:\S+ ){9}|1 (?:\S+ ){7})(?<path>.*)$/s.exec(entry)?.groups ?? {};
      const path = posix.relative(`/${folder}`, `/${fromRoot ?? entry}`);
      const [, , , modeInCommit = ''] = fields?.split(' ') ?? [];
      const changedPath = {
        path,
        isTracked: fields !== '? ',
        hadFiles: modeInCommit === '120000' || modeInCommit === '160000',
      };
      // `S.M.` or `S..U`: a submodule at the commit that the index has, with changed or untracked files.
      if (!/^1 \S+ S\./.test(fields ?? '')) return [changedPath];
      const inside = await changedPaths({ ...place, directory: join(place.directory, path) });
      return inside?.map((file) => ({ ...file, path: posix.join(path, file.path) })) ?? [changedPath];
    }),
  );
  return paths.flat();
}

/** Whether a commit is a parent of another, also in a shallow clone: a CI job may check out a merge of a pull request. */
export async function isParent(parent: string, child: string, place: GitContext): Promise<boolean> {
  const { code, out } = await runGit(['cat-file', 'commit', child], place);
  return code === 0 && new RegExp(`^parent ${parent}$`, 'm').test(out.toString().split('\n\n', 1)[0] ?? '');
}

/** Whether `commit` is `ours` or an ancestor of it; also false if the clone does not have enough history. */
export async function isInHistory(commit: string, ours: string, place: GitContext): Promise<boolean> {
  if (commit === ours) return true;
  const isId = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit);
  if (!isId) return false;
  const { code } = await runGit(['merge-base', '--is-ancestor', commit, ours], place);
  return code === 0 || isParent(commit, ours, place);
}

// Finds the repository that a stack is applied from, and the path of its stack file there. Two repositories with stacks of the same
// name would undo each other's changes.

export interface StackRepository {
  readonly applied: AppliedRepository;
  /** all forms of the remote: git may rewrite its URL */
  readonly remotes: readonly string[];
  /** absolute path of the root of the work tree */
  readonly root: string;
  /** whether a sparse checkout leaves out this file, a path from the root */
  isLeftOut(path: string): Promise<boolean>;
}

/** @param root of the repository. @param file path of the stack file. @returns undefined if git fails */
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
    const names = [...(await remotesOf(place)).addresses.keys()];
    const [only] = names.length === 1 ? names : [];
    const name = names.includes('origin') ? 'origin' : only;
    const remotes = name === undefined ? [] : await addressesOfRemote(place, name);
    const [remote] = remotes;
    const isLeftOut = async (file: string) => {
      const entries = await readIndex({ ...place, directory: root }, `:(top,literal)${file}`);
      return !('why' in entries) && entries.some(({ leftOut }) => leftOut);
    };
    return { applied: { ...(remote === undefined ? {} : { remote }), path }, remotes, root, isLeftOut };
  } catch {
    return undefined;
  }
}

/**
 * A remote in all forms, without scheme and login: as it is configured, and as git rewrites it. Empty if there is no such remote.
 * @throws LedgerError if git fails
 */
export async function addressesOfRemote(place: GitContext, name: string): Promise<string[]> {
  const [settings, rewritten] = [await settingsOf(place), await addressOf(place, name)];
  const key = `remote.${name}.url\n`;
  const configured = settings
    .split('\0')
    .findLast((entry) => entry.startsWith(key))
    ?.slice(key.length);
  const all = [configured, rewritten].filter((address) => address !== undefined);
  return [...new Set(all.filter((address) => address !== '').map(normalizeRemote))];
}

/** `git.example.com/acme/infra` for all forms of a URL: without scheme, login, parameters and `.git`. A local path stays a path. */
export function normalizeRemote(configured: string): string {
  // `gcrypt::https://…`: a URL for a helper program.
  const url = configured.replace(/^[\w-]+::(?=.*:\/\/)/, '');
  const scp = /^(?:[^@/\s]+@)?(?<host>[^:/\s]{2,}):(?!\/\/)(?<path>.+)$/.exec(url)?.groups;
  if (scp !== undefined) return canonicalRemote(scp['host'] ?? '', scp['path'] ?? '');
  if (!url.includes('://')) return bare(url);
  // An invalid URL may contain a login as well.
  if (!URL.canParse(url)) return bare(url.replace(/\/\/.*@/s, '//'));
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'file:') return bare(decodeURIComponent(pathname));
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return canonicalRemote(isWeb && port !== '' ? `${hostname}:${port}` : hostname, pathname);
}

function canonicalRemote(host: string, path: string): string {
  return `${host}/${bare(path).replace(/^\/+/, '')}`.toLowerCase();
}

function bare(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/, '');
}

// Lists the index of a repository, with the files that a sparse checkout leaves out of the work tree.

/** @param pathspec which entries; by default those in the directory and below */
export async function readIndex(place: GitContext, pathspec = '.'): Promise<readonly IndexEntry[] | NoIndex> {
  try {
    const { code, out, message } = await runGit(['ls-files', '--stage', '-t', '-z', '--', pathspec], place);
    if (code !== 0) return { why: message.replace(/^fatal: /, '') };
    const entries = out.toString().split('\0').filter(Boolean).map(entryOf);
    const submodules = entries.filter(({ type }) => type === 'submodule');
    const moved = await movedSubmodules(place, submodules);
    return entries.map(({ id: _, ...entry }) => (moved.has(entry.path) ? { ...entry, moved: true } : entry));
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** @param paths relative to the directory, with slashes. @returns those that git ignores; it ignores no tracked file */
export async function readIgnored(
  place: GitContext,
  paths: readonly string[],
): Promise<ReadonlySet<string> | NoIndex> {
  try {
    // With "./", git treats none of the paths as a pattern.
    const input = paths.map((path) => `./${path}\0`).join('');
    const { code, out, message } = await runGit(['check-ignore', '-z', '--stdin'], place, input);
    // Exit code 1 means that git ignores none of them.
    if (code > 1) return { why: message.replace(/^fatal: /, '') };
    const ignored = out.toString().split('\0').filter(Boolean);
    return new Set(ignored.map((path) => path.slice('./'.length)));
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** Submodules with content, but at another commit than in the index; changed files in them do not count. */
async function movedSubmodules(
  { directory, ...place }: GitContext,
  submodules: readonly TrackedId[],
): Promise<ReadonlySet<string>> {
  const moved = await Promise.all(
    submodules.map(async ({ path, id }) => {
      const folder = join(directory, path);
      const names = await readdir(folder).catch(() => []);
      if (names.every((name) => name === '.git')) return [];
      // If its repository is gone, the repository around it answers with another commit.
      const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], {
        ...place,
        directory: folder,
      });
      return head.code === 0 && head.out.toString().trim() === id ? [] : [path];
    }),
  );
  return new Set(moved.flat());
}

/** An entry with the id of its content; for a submodule, the id of its commit. */
type TrackedId = IndexEntry & { readonly id: string };

/** Reads `S 100644 <id> 0\tmanifests/app.yaml`; `S` marks a file that the work tree leaves out. */
function entryOf(line: string): TrackedId {
  const [tag, mode = '', id = ''] = line.split(' ', 3);
  const type = mode === '160000' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path: line.slice(line.indexOf('\t') + 1), type, leftOut: tag === 'S', id };
}

// Finds files that git does not track, such as generated manifests: no commit has their content.

/**
 * The files that git does not track, ignored ones included. Files in a tracked submodule or behind a tracked symbolic link count as
 * tracked. Empty without a repository, which is reported with the commit.
 * @param files relative to the place's directory, with slashes; also `../…`
 */
export async function untrackedFiles(place: GitContext, files: readonly string[]): Promise<string[]> {
  // The whole index is read only if necessary: in a repository with many stacks it is long.
  const isInside = files.every((file) => !file.startsWith('../'));
  const entries = await readIndex(place, isInside ? '.' : ':/');
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
