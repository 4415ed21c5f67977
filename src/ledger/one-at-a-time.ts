/**
 * A short critical section between processes of one host: who creates the guard file goes on, everyone else waits. It
 * is held for one read and one write of a small file, so a guard that has stood for long belongs to nobody any more.
 */
import { open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder } from './state-folder.ts';

/** No write of a small file takes as long: its process was killed while it wrote. Milliseconds. */
const abandonedAfter = 5000;

/** @param guard absolute path of a file that nobody else uses */
export async function oneAtATime<T>(guard: string, work: () => Promise<T>): Promise<T> {
  await makeFolder(dirname(guard));
  while (!(await take(guard))) await pause(5);
  try {
    return await work();
  } finally {
    await rm(guard, { force: true });
  }
}

async function take(guard: string): Promise<boolean> {
  try {
    await (await open(guard, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const { mtimeMs } = await stat(guard).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (Date.now() - mtimeMs > abandonedAfter) await rm(guard, { force: true });
    return false;
  }
}
