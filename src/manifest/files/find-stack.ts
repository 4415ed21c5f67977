/**
 * Finds the stack file, and the folder that a stack's files must be in: its git repository, else its own folder.
 */
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';

export interface Repository {
  /** absolute, with all links resolved */
  readonly root: string;
  /** false when it is only the stack's folder */
  readonly isGit: boolean;
}

/** @param directory the stack's folder; its real path counts when links lead to it */
export async function findRepository(directory: string): Promise<Repository> {
  const real = await realpath(directory).catch(() => directory);
  for (let candidate = real; ; candidate = dirname(candidate)) {
    if (await exists(join(candidate, '.git'))) return { root: candidate, isGit: true };
    if (candidate === dirname(candidate)) return { root: real, isGit: false };
  }
}

/**
 * Whether a path lies in the repository. Files in `.git` do not count: the configuration of git may hold the login of a CI job.
 * @param real absolute, with all links resolved
 */
export function liesIn({ root }: Repository, real: string): boolean {
  const names = relative(root, real).split(sep);
  return names[0] !== '..' && names.every((name) => name.toLowerCase() !== '.git');
}

/** A path with slashes, as patterns and git write it. */
export function slashes(path: string): string {
  return path.split(sep).join('/');
}

/** The end of a message, after the name of a file or folder that `liesIn` refuses. */
export function outsideMessage({ isGit }: Repository): { readonly message: string; readonly fix: string } {
  return isGit
    ? {
        message: 'lies outside the git repository of the stack',
        fix: 'put it into the repository, not a link to it',
      }
    : {
        message: 'lies outside the folder of the stack, which is in no git repository',
        fix: 'put it into that folder, not a link to it, or put both into one git repository',
      };
}

/** Links are not followed. `.git` may be a folder (an ordinary clone) or a file (a work tree or a submodule). */
export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

// Finds the stack file: the file of the given path, the one in the given directory, or without a path the nearest `trueup.yaml`
// in the current directory or a parent within the same repository. A stack file decides where this user's tokens are sent, so one
// above the current directory must not belong to another user. With `-` the manifests come from standard input, which may also hold
// the Stack.

export const stackFileName = 'trueup.yaml';

/** Means standard input, both as a path and as the file of a place. */
export const standardInput = '-';

/**
 * @param userId of the current user; undefined where files have no such owners
 * @returns the absolute path of the stack file, or why there is none
 */
export async function findStack(
  path: string | undefined,
  cwd: string,
  userId?: number,
): Promise<string | Diagnostic> {
  if (path === undefined || path === standardInput) return findUpwards(resolve(cwd), userId);
  const absolute = resolve(cwd, path);
  const kind = await kindOf(absolute);
  if (kind === 'file') return absolute;
  if (kind === undefined) return noStack(`there is no file or directory ${quoted(path)}`, 'correct the path');
  if ((await kindOf(join(absolute, stackFileName))) === 'file') return join(absolute, stackFileName);
  const other = join(absolute, 'trueup.yml');
  return (await kindOf(other)) === 'file'
    ? noStack(
        `the stack file of ${quoted(path)} is called "trueup.yml"`,
        `rename it to ${quoted(stackFileName)}`,
      )
    : noStack(`${quoted(path)} holds no ${stackFileName}`, await fixForFolder(absolute, cwd));
}

/** The fix for a folder without a stack file: it names the stack of a parent folder in the same repository, if there is one. */
async function fixForFolder(folder: string, cwd: string): Promise<string> {
  const repository = await findRepository(folder);
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    // Without a repository, a stack is not searched above the current directory either.
    const isNear = parent === resolve(cwd) || (repository.isGit && (await isWithin(repository, parent)));
    if (isNear && (await kindOf(join(parent, stackFileName))) === 'file')
      return parent === resolve(cwd)
        ? `the stack is in the parent folder: leave out the path, or give ${quoted('.')}`
        : `the stack is in a parent folder: give ${quoted(displayPath(parent, cwd))}`;
    if (!isNear || parent === dirname(parent)) break;
  }
  const below = await fixBelow(folder, cwd);
  if (below !== undefined) return below;
  const file = displayPath(join(folder, stackFileName), cwd);
  return `create ${quoted(file)}, for example with ${quoted(`trueup init ${displayPath(folder, cwd)}`)}`;
}

/** How far stacks are searched below a folder: an error must not take long in a large repository. */
const searched = { depth: 4, folders: 1000 };

/** Names the stacks below a folder; undefined if none is found. */
async function fixBelow(folder: string, cwd: string): Promise<string | undefined> {
  const found: string[] = [];
  let level = [folder];
  let left = searched.folders;
  for (let depth = 0; depth < searched.depth && left > 0; depth++) {
    const entries = await Promise.all(level.slice(0, left).map(foldersIn));
    left -= level.length;
    level = entries.flat();
    for (const each of level) if ((await kindOf(join(each, stackFileName))) === 'file') found.push(each);
  }
  const names = found.map((each) => slashes(displayPath(each, cwd))).toSorted();
  return names.length === 0 ? undefined : `give the path of a stack below it: ${quoteSome(names, 5)}`;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const isSearched = (name: string) => !name.startsWith('.') && name !== 'node_modules';
  return entries.flatMap((entry) =>
    entry.isDirectory() && isSearched(entry.name) ? [join(folder, entry.name)] : [],
  );
}

/** A path as the user would type it in the working directory. */
export function displayPath(absolute: string, cwd: string): string {
  return relative(cwd, absolute) || '.';
}

async function findUpwards(cwd: string, userId: number | undefined): Promise<string | Diagnostic> {
  const repository = await findRepository(cwd);
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (!(await isWithin(repository, directory))) break;
    const candidate = join(directory, stackFileName);
    if ((await kindOf(candidate)) === 'file')
      return (directory === cwd ? undefined : await refuseForeignOwner(candidate, cwd, userId)) ?? candidate;
    if (directory === dirname(directory)) break;
  }
  return noStack(
    repository.isGit
      ? `there is no ${stackFileName} here or in a parent directory within the git repository`
      : `there is no ${stackFileName} here, and parent directories are searched only within a git repository`,
    (await fixBelow(cwd, cwd)) ??
      'go to the directory of a stack, or give its path; "trueup init" writes a first stack',
  );
}

async function isWithin(repository: Repository, directory: string): Promise<boolean> {
  return liesIn(repository, await realpath(directory).catch(() => directory));
}

/** Refuses a file if its owner, or that of the link to it, is neither the current user nor the owner of the current directory. */
async function refuseForeignOwner(
  file: string,
  cwd: string,
  userId: number | undefined,
): Promise<Diagnostic | undefined> {
  if (userId === undefined) return undefined;
  const [here, target, link] = await Promise.all([stat(cwd), stat(file), lstat(file)]);
  const foreign = [target, link].find(({ uid }) => uid !== userId && uid !== here.uid);
  if (foreign === undefined) return undefined;
  const shown = displayPath(file, cwd);
  return {
    code: 'foreign-stack',
    severity: 'error',
    class: 'failure',
    message: `${quoted(shown)} belongs to the user with the id ${foreign.uid}, who is neither the current user (${userId}) nor the owner of the current directory (${here.uid})`,
    fix: `read it, and give its path if you trust it: ${quoted(shown)}`,
  };
}

function noStack(message: string, fix: string): Diagnostic {
  return { code: 'no-stack', severity: 'error', class: 'failure', message, fix };
}

/** Undefined when the path does not exist or cannot be read. */
async function kindOf(path: string): Promise<'file' | 'directory' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}
