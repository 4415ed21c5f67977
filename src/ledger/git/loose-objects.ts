/**
 * Writes files, folders and commits as loose objects of git. git would need a process for each of them, and each write of a ledger
 * creates several.
 */
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';

interface ObjectsFolder {
  readonly directory: string;
  /** the hash that makes the ids: sha1 or sha256 */
  readonly format: string;
}

interface NewCommit {
  readonly tree: string;
  readonly message: string;
  /** name and address, as `trueup <trueup@localhost>` */
  readonly by: string;
  /** milliseconds since 1970 */
  readonly at: number;
}

const compress = promisify(deflate);

/** @returns the id */
export function writeBlob(to: ObjectsFolder, text: string): Promise<string> {
  return writeObject(to, 'blob', Buffer.from(text));
}

/** A commit without parents. @returns the id */
export function writeCommitObject(to: ObjectsFolder, { tree, message, by, at }: NewCommit): Promise<string> {
  const when = `${by} ${Math.floor(at / 1000)} +0000`;
  const text = `tree ${tree}\nauthor ${when}\ncommitter ${when}\n\n${message}\n`;
  return writeObject(to, 'commit', Buffer.from(text));
}

/** Writes the trees of these files. @param blobs ids by path, with slashes. @returns the id of the root tree */
export async function writeTree(to: ObjectsFolder, blobs: ReadonlyMap<string, string>): Promise<string> {
  const below = new Map<string, Map<string, string>>();
  const entries: TreeItem[] = [];
  for (const [path, id] of blobs) {
    const slash = path.indexOf('/');
    if (slash === -1) entries.push({ name: path, mode: '100644', id });
    else {
      const folder = path.slice(0, slash);
      const inside = below.get(folder) ?? new Map<string, string>();
      below.set(folder, inside.set(path.slice(slash + 1), id));
    }
  }
  for (const [name, inside] of below) entries.push({ name, mode: '40000', id: await writeTree(to, inside) });
  return writeObject(to, 'tree', treeOf(entries));
}

interface TreeItem {
  readonly name: string;
  readonly mode: '100644' | '40000';
  readonly id: string;
}

/** The content of a tree. Its order is git's: by the bytes of the names, where the name of a folder ends with a slash. */
function treeOf(entries: readonly TreeItem[]): Buffer {
  const named = entries.map((entry) => ({
    entry,
    key: Buffer.from(entry.mode === '40000' ? `${entry.name}/` : entry.name),
  }));
  named.sort((one, other) => Buffer.compare(one.key, other.key));
  return Buffer.concat(
    named.flatMap(({ entry: { name, mode, id } }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.from(id, 'hex'),
    ]),
  );
}

/** How many objects this process has begun to write. */
let written = 0;

async function writeObject(
  { directory, format }: ObjectsFolder,
  type: 'blob' | 'commit' | 'tree',
  content: Buffer,
): Promise<string> {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(format).update(whole).digest('hex');
  const folder = join(directory, id.slice(0, 2));
  await mkdir(folder, { recursive: true });
  const path = join(folder, id.slice(2));
  // A git command that runs meanwhile sees the whole object or none, even if the same object is written twice at once.
  written += 1;
  const unfinished = `${path}.${written}.new`;
  try {
    await writeFile(unfinished, await compress(whole));
    await rename(unfinished, path);
  } catch (error) {
    // On a full disk, the next write needs the space: it may be the one that releases the lock.
    await rm(unfinished, { force: true });
    throw error;
  }
  return id;
}
