/**
 * Replaces a file as a whole: a new one is written beside it, synced, and renamed over it. A reader sees the old text or the new
 * one and never a part, even when the machine stops in between.
 */
import { randomUUID } from 'node:crypto';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withPath } from '../../model/system-error-message.ts';
import { makeFolder } from './state-folder.ts';

/** Creates the file's directory when needed. @param mode where nothing is said, the file is readable by its owner only */
export async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
  await (await prepareFile(file, text, mode)).replace();
}

/** A new file beside the one that it is to replace. */
export interface PreparedFile {
  replace(): Promise<void>;
  discard(): Promise<void>;
}

/** The first half of `replaceFile`, which is the one that fails where there is no room or no right. */
export async function prepareFile(file: string, text: string, mode: number): Promise<PreparedFile> {
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

async function writeSynced(file: string, text: string, mode: number): Promise<void> {
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

/** The end of our temporary names; other files beside the ledger are not ours. */
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
