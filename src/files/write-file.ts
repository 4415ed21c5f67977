/**
 * Replaces a file atomically: a new one is written beside it, synced, and renamed over it. A reader sees the old text or the new one,
 * even after a crash. Also creates the folder for files that should not be committed, accessible to its owner only.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { withPath } from '../model/error-message.ts';

/** The name of the state folder, which is beside a stack. */
export const stateFolderName = '.trueup';

/** Creates a folder and its parents when needed; one named `.trueup` is created as a state folder. */
export async function makeFolder(folder: string): Promise<void> {
  const names = folder.split(sep);
  const ours = names.lastIndexOf(stateFolderName);
  if (ours !== -1) await makeStateFolder(names.slice(0, ours + 1).join(sep));
  await mkdir(folder, { recursive: true });
}

/** Creates a folder with any name as a state folder. */
export async function makeStateFolder(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  if (!(await createFolder(folder))) return;
  const ignore = join(folder, '.gitignore');
  await unlessExists(
    writeFile(ignore, '*\n', { flag: 'wx' }).catch((error: unknown) => {
      throw withPath(error, ignore);
    }),
  );
}

/** Creates the folder. @returns whether it is new. An empty `.trueup` counts as new: a killed run or an administrator created it */
async function createFolder(folder: string): Promise<boolean> {
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

/** As pieces, a long text is never in memory as a whole. */
type FileContent = string | Buffer | Iterable<string>;

/** Creates the file's directory when needed. @param mode by default, readable by the owner only */
export async function replaceFile(file: string, text: FileContent, mode = 0o600): Promise<void> {
  await (await prepareFile(file, text, mode)).replace();
}

/** A new file beside the one that it will replace. */
export interface PreparedFile {
  replace(): Promise<void>;
  discard(): Promise<void>;
}

/** The first half of `replaceFile`, which fails if there is no space or no permission. */
export async function prepareFile(file: string, text: FileContent, mode: number): Promise<PreparedFile> {
  await makeFolder(dirname(file));
  const temporary = `${file}.${randomUUID()}.new`;
  const discard = () => rm(temporary, { force: true });
  const orDiscard = async (step: Promise<void>) => {
    try {
      await step;
    } catch (error) {
      await discard().catch(() => {});
      throw withPath(error, file);
    }
  };
  await orDiscard(writeSynced(temporary, text, mode));
  const replace = async () => {
    await orDiscard(rename(temporary, file));
    await syncDirectory(dirname(file));
    await removeLeftovers(file).catch(() => {});
  };
  return { replace, discard };
}

async function writeSynced(file: string, text: FileContent, mode: number): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the rename survive a power cut. Systems that cannot sync a directory make renames durable themselves. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** The end of temporary names; other files beside the ledger are not ours. */
const temporaryEnd = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new$/;
const hour = 3_600_000;

/** Removes temporary files of runs that were killed while writing. Files younger than an hour may be in use. */
async function removeLeftovers(file: string): Promise<void> {
  const directory = dirname(file);
  const prefix = `${basename(file)}.`;
  const isTemporary = (name: string) =>
    name.startsWith(prefix) && temporaryEnd.test(name.slice(prefix.length));
  for (const name of (await readdir(directory)).filter(isTemporary)) {
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() && Date.now() - found.mtimeMs > hour) await rm(path, { force: true });
  }
}
