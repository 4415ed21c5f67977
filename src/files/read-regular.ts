/**
 * Reads a file that somebody has named: the whole of it, if it is a regular one and not too long. Nothing is waited for, as
 * for a pipe that nobody writes to, and nothing has no end, as a device may.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

/** Why a file is not read: it is a folder, or no file of text at all, or has more bytes than any that is meant. */
export type Obstacle = 'folder' | 'irregular' | 'too-long';

/** What the file of a name must not be; the message says it, behind the name. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle, most: number) {
    super(words[obstacle](most));
    this.obstacle = obstacle;
  }
}

const words: Readonly<Record<Obstacle, (most: number) => string>> = {
  folder: () => 'it is a folder, and has to be a file',
  irregular: () => 'it is no regular file; write what it holds into one, for pipes and devices are not read',
  'too-long': (most) => `it has more than ${most / megabyte} MB; check that it is the file that is meant`,
};

export const megabyte = 1024 * 1024;

/**
 * The text in it. A link is followed: what counts is what it leads to.
 * @param most bytes
 * @throws UnfitFile for what is no regular file or has more than that, or what the system says
 */
export async function readRegularText(path: string, most: number): Promise<string> {
  const bytes = await readRegular(path, most);
  if (typeof bytes === 'string') throw new UnfitFile(bytes, most);
  return bytes.toString('utf8');
}

/**
 * Looks before it opens, for to open a device can do something. What was looked at may be another file by then, so what was
 * opened is judged again.
 * @param most bytes
 * @param judge what else is to be said of the opened file; undefined for nothing
 */
export async function readRegular<O extends string = never>(
  path: string,
  most: number,
  judge: (opened: Stats) => Promise<O | undefined> = async () => undefined,
): Promise<Buffer | Obstacle | O> {
  const found = whyIrregular(await stat(path));
  if (found !== undefined) return found;
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    const why = whyIrregular(opened) ?? (await judge(opened));
    if (why !== undefined) return why;
    return opened.size > most ? 'too-long' : await readWhole(handle, opened.size, most);
  } finally {
    await handle.close();
  }
}

function whyIrregular(found: Stats): Obstacle | undefined {
  if (found.isFile()) return undefined;
  return found.isDirectory() ? 'folder' : 'irregular';
}

/** Also of a file that grows meanwhile no more than the bound, and one byte by which that is known. */
async function readWhole(handle: FileHandle, size: number, most: number): Promise<Buffer | Obstacle> {
  let bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > most) return 'too-long';
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)]);
  }
}
