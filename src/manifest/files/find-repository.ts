/**
 * Finds the folder that a stack's files must lie in: the git repository around the stack's folder, else that folder itself. A
 * link to a file elsewhere would bring in a text that was never reviewed and may be a secret (rule 42). The repository is
 * found without git, by looking for `.git` upwards.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

export interface Repository {
  /** absolute, and without a link in it */
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

/** @param real absolute, and without a link in it */
export function liesIn({ root }: Repository, real: string): boolean {
  const below = relative(root, real);
  return below !== '..' && !below.startsWith(`..${sep}`);
}

/** A path with slashes, as patterns and git write it. */
export function slashes(path: string): string {
  return path.split(sep).join('/');
}

/** The end of a message, behind the name of a file or folder that `liesIn` refuses. */
export function outsideMessage({ isGit }: Repository): { readonly message: string; readonly fix: string } {
  return isGit
    ? {
        message: 'lies outside the git repository of the stack',
        fix: 'manifests are files of the repository: put it there, and no link to it',
      }
    : {
        message: 'lies outside the folder of the stack, around which there is no git repository',
        fix: 'put it into that folder, and no link to it, or both into one git repository',
      };
}

/** Links are not followed. `.git` may be a folder (an ordinary clone) or a file (a work tree or a submodule). */
export function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
