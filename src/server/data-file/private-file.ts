/**
 * Files that are their owner's alone: they hold a reviewer JWT, hashes of tokens and the key of a proof.
 * Invariant: no moment exists in which others can read what is in them.
 */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/**
 * Makes the file when there is none. An existing one is not opened: closing it would take SQLite's locks of it away.
 * @throws Error for a device, a pipe or a folder: its mode is the system's, and no database can be in it
 */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(file).isFile())
      throw new Error('it is no regular file; name a file, or one that is yet to be made');
  }
}

/** Closes what an earlier version left open. What SQLite makes beside the file from now on gets the mode of the file. */
export function keepPrivate(file: string): void {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const mode = statSync(each, { throwIfNoEntry: false })?.mode ?? OWNER_ONLY;
    if ((mode & 0o077) === 0) continue;
    try {
      chmodSync(each, OWNER_ONLY);
    } catch (error) {
      // a file of somebody else, or a file system that has no modes
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    }
  }
}
