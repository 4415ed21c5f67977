/**
 * A file that is only ever replaced as a whole: a new one is written beside it, synced, and renamed over it, so that a
 * reader sees the old text or the new one, and never a half, even when the machine stops in between.
 */
import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from './state-folder.ts';

/** Makes the directory of the file when there is none. Readable by its owner only. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await makeFolder(dirname(file));
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    await writeSynced(fresh, text);
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  await syncDirectory(dirname(file));
  await sweep(file).catch(() => {});
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The rename itself, too, survives a power cut; some systems cannot sync a directory, and keep it safe themselves. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/** Whatever else stands beside the file is somebody else's. */
const freshEnd = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new$/;
const anHour = 3_600_000;

/** Takes away what runs that were killed while they wrote have left; what is young may be a write under way. */
async function sweep(file: string): Promise<void> {
  const directory = dirname(file);
  const prefix = `${basename(file)}.`;
  const isLeft = (name: string) => name.startsWith(prefix) && freshEnd.test(name.slice(prefix.length));
  for (const name of (await readdir(directory)).filter(isLeft)) {
    const left = join(directory, name);
    const { mtimeMs } = await stat(left).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > anHour) await rm(left, { force: true });
  }
}
