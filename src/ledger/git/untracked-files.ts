/** Which files no commit tells of: of manifests that are made by a program, the commit beside them says nothing. */
import { type GitContext, runGit } from './git-command.ts';

/**
 * Of these files those that git does not track, ignored ones too. What lies in a submodule or behind a symbolic link is
 * tracked as that. None where there is no repository: who asks for its commit is told so.
 * @param files relative to the place's directory, with slashes; also `../…`
 */
export async function untrackedFiles(place: GitContext, files: readonly string[]): Promise<string[]> {
  const listed = await runGit(['ls-files', '--stage', '-z', '--', ':/'], place).catch(() => undefined);
  if (listed?.code !== 0) return [];
  const entries = listed.out.toString().split('\0').filter(Boolean);
  const tracked = new Set(entries.map(pathOf));
  const gates = new Set(entries.filter((entry) => /^1[26]0000 /.test(entry)).map(pathOf));
  return files.filter((file) => !tracked.has(file) && !foldersOf(file).some((folder) => gates.has(folder)));
}

/** Of `100644 <id> 0\tmanifests/app.yaml`. */
function pathOf(entry: string): string {
  return entry.slice(entry.indexOf('\t') + 1);
}

/** `a` and `a/b` of `a/b/c.yaml`. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
