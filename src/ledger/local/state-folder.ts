/**
 * The folder for files that should not be committed: ledger, history, and the embedded service's data and tokens. It is created
 * with access for its owner only and with a `.gitignore` that excludes everything. When the folder exists and has files, no
 * `.gitignore` is added: its user has decided what git does with them.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { withPath } from '../../model/system-error-message.ts';

/** The folder's name beside a stack. */
export const stateFolderName = '.trueup';

/** Creates a folder and its parents when needed; one with our name is created as a state folder. */
export async function makeFolder(folder: string): Promise<void> {
  const names = folder.split(sep);
  const ours = names.lastIndexOf(stateFolderName);
  if (ours !== -1) await makeStateFolder(names.slice(0, ours + 1).join(sep));
  await mkdir(folder, { recursive: true });
}

/** Creates a folder with any name as a state folder. */
export async function makeStateFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  if (!(await isNew(folder))) return;
  const ignore = join(folder, '.gitignore');
  await unlessExists(
    writeFile(ignore, '*\n', { flag: 'wx' }).catch((error: unknown) => {
      throw withPath(error, ignore);
    }),
  );
}

/** Creates the folder. An empty one with our name counts as new, too: the run that created it was killed, or it was made for us. */
async function isNew(folder: string): Promise<boolean> {
  if (await unlessExists(mkdir(folder, { mode: 0o700 }))) return true;
  return basename(folder) === stateFolderName && (await readdir(folder)).length === 0;
}

/** @returns false when the file or folder existed */
async function unlessExists(creation: Promise<void>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
