/** Finds files that git does not track, such as generated manifests: no commit says what is in them. */
import type { GitContext } from './git-command.ts';
import { readIndex } from './index-entries.ts';

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
