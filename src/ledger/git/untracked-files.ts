/** Finds files that git does not track, such as generated manifests: no commit says what is in them. */
import { type GitContext, runGit } from './git-command.ts';

/**
 * The untracked ones of these files, ignored ones included. Files in a tracked submodule or behind a tracked symbolic link count as
 * tracked. Empty without a repository: that is reported where the commit is asked for.
 * @param files relative to the place's directory, with slashes; also `../…`
 */
export async function untrackedFiles(place: GitContext, files: readonly string[]): Promise<string[]> {
  const listed = await runGit(['ls-files', '--stage', '-z', '--', ':/'], place).catch(() => undefined);
  if (listed?.code !== 0) return [];
  const entries = listed.out.toString().split('\0').filter(Boolean);
  const tracked = new Set(entries.map(pathOf));
  const links = new Set(entries.filter((entry) => /^1[26]0000 /.test(entry)).map(pathOf));
  return files.filter((file) => !tracked.has(file) && !foldersOf(file).some((folder) => links.has(folder)));
}

/** The path in `100644 <id> 0\tmanifests/app.yaml`. */
function pathOf(entry: string): string {
  return entry.slice(entry.indexOf('\t') + 1);
}

/** For `a/b/c.yaml`: `a` and `a/b`. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
