/**
 * The folder where trueup keeps what is not for git: ledger, history, and the embedded service's data and tokens. It is
 * born closed to others and with a `.gitignore` of its own that leaves all of it out. What already stands in such a
 * folder is somebody's choice, and so is what git does with it: nothing is added then.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';

/** Where it stands beside a stack. */
export const stateFolderName = '.trueup';

/** Makes a folder, and those above it, when there is none; where one of them is ours, as ours. */
export async function makeFolder(folder: string): Promise<void> {
  const names = folder.split(sep);
  const ours = names.lastIndexOf(stateFolderName);
  if (ours !== -1) await makeStateFolder(names.slice(0, ours + 1).join(sep));
  await mkdir(folder, { recursive: true });
}

/** The same for a folder that is to be ours, whatever it is called. */
export async function makeStateFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  if (!(await isNew(folder))) return;
  await unlessThere(writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }));
}

/** Also one of our name that is empty yet: whoever made it was killed just then, or made it for us. */
async function isNew(folder: string): Promise<boolean> {
  if (await unlessThere(mkdir(folder, { mode: 0o700 }))) return true;
  return basename(folder) === stateFolderName && (await readdir(folder)).length === 0;
}

async function unlessThere(making: Promise<void>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
