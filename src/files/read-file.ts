/**
 * Reads a file named by a user, only if it is a regular file and not too long: a pipe without a writer would block, and some devices
 * never end.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

/** Why a file is not read: it is a folder, not a regular file (a pipe, a device), or longer than the limit. */
export type Obstacle = 'folder' | 'irregular' | 'too-long';

/** A file that is not read. The message is a clause that follows the file's name. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle, maxBytes: number) {
    super(words[obstacle](maxBytes));
    this.obstacle = obstacle;
  }
}

const words: Readonly<Record<Obstacle, (maxBytes: number) => string>> = {
  folder: () => 'it is a folder, not a file',
  irregular: () => 'it is not a regular file; pipes and devices are not supported',
  'too-long': (maxBytes) => `it has more than ${maxBytes / megabyte} MB; check that it is the right file`,
};

export const megabyte = 1024 * 1024;

/** The text of a file, as `readRegularBytes` reads it. */
export async function readRegularText(path: string, maxBytes: number): Promise<string> {
  return (await readRegularBytes(path, maxBytes)).toString('utf8');
}

/**
 * The bytes of a file. Symbolic links are followed.
 * @param maxBytes limit in bytes
 * @throws UnfitFile for a file that is not regular or exceeds the limit; the system's error if it cannot be opened or read
 */
export async function readRegularBytes(path: string, maxBytes: number): Promise<Buffer> {
  const bytes = await readRegular(path, maxBytes);
  if (typeof bytes === 'string') throw new UnfitFile(bytes, maxBytes);
  return bytes;
}

/**
 * Checks the file before opening it, because opening a device can have effects. The file may be replaced in between, so the
 * opened file is checked again.
 * @param maxBytes limit in bytes
 * @param check of the opened file; returns why not to read it, or undefined
 */
export async function readRegular<O extends string = never>(
  path: string,
  maxBytes: number,
  check: (opened: Stats) => Promise<O | undefined> = async () => undefined,
): Promise<Buffer | Obstacle | O> {
  const found = whyIrregular(await stat(path));
  if (found !== undefined) return found;
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    const why = whyIrregular(opened) ?? (await check(opened));
    if (why !== undefined) return why;
    return opened.size > maxBytes ? 'too-long' : await readWhole(handle, opened.size, maxBytes);
  } finally {
    await handle.close();
  }
}

function whyIrregular(found: Stats): Obstacle | undefined {
  if (found.isFile()) return undefined;
  return found.isDirectory() ? 'folder' : 'irregular';
}

/** Stops as soon as the limit is exceeded, even if the file grows while it is read. */
async function readWhole(handle: FileHandle, size: number, maxBytes: number): Promise<Buffer | Obstacle> {
  let bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > maxBytes) return 'too-long';
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
  }
}
