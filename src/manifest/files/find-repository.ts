/**
 * What a stack's files may lie in: the git repository around its folder, else that folder. What a link brings in from
 * elsewhere was never reviewed, and may be anybody's secret (rule 42). Found without git, by looking for `.git` upwards.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

export interface Repository {
  /** absolute, and without a link in it */
  readonly root: string;
  /** false when the stack's folder stands for it */
  readonly isGit: boolean;
}

/** @param directory of the stack; where it really lies counts, whichever link led there */
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

/** What to say of something whose name is at hand, and that `liesIn` refuses. */
export function outsideWords({ isGit }: Repository): { readonly message: string; readonly fix: string } {
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

/** A folder in an ordinary clone; a file in a work tree or a submodule. */
function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
