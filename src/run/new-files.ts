/** Files that a command writes and that must not exist yet. No symbolic link of the repository is followed. */
import { lstatSync, realpathSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../files/write-file.ts';
import { liesIn } from '../manifest/files/find-stack.ts';
import { withPath } from '../model/error-message.ts';

/**
 * The first path that leads through a symbolic link in the repository or below the directory; `.` if the directory itself does. No such
 * link is followed: otherwise, anyone who can write to the repository could choose which file is written.
 * @param paths relative to the directory, with slashes
 * @param directory absolute, without a link above the repository @param root of the repository, without a link in it
 */
export function linkedPath(paths: readonly string[], directory: string, root: string): string | undefined {
  if (liesIn({ root, isGit: false }, directory) && realOf(directory) !== directory) return '.';
  return paths.find((path) => isLinked(path, directory));
}

function isLinked(path: string, directory: string): boolean {
  const names = path.split('/');
  return names.some((_, at) =>
    lstatSync(join(directory, ...names.slice(0, at + 1)), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
}

/** The real path, as far as it exists. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** Writes a file that must not exist; an incomplete one is removed. */
export async function writeNew(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await writeFile(path, text, { flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'write') await rm(path, { force: true }).catch(() => {});
    throw withPath(error, path);
  });
}
