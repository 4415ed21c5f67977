/**
 * Writes new texts over files, each as a whole. All are looked at before the first is written: a file that is not as it was read
 * stops them all.
 */
import { lstat, readFile, realpath, rm } from 'node:fs/promises';
import { replaceFile } from '../../ledger/local/replace-file.ts';
import { findRepository, liesIn, type Repository } from '../../manifest/files/find-repository.ts';

export interface FileChange {
  /** absolute */
  readonly file: string;
  /** as it was read */
  readonly before: string;
  /** undefined: the file goes */
  readonly after: string | undefined;
}

const byteOrderMark = '\uFEFF';

/** @returns a file that changed since it was read, and nothing is written; undefined when all are written */
export async function writeChanges(
  changes: readonly FileChange[],
  directory: string,
): Promise<string | undefined> {
  const repository = await findRepository(directory);
  const looked: LookedAt[] = [];
  for (const change of changes) {
    const found = await lookAt(change, repository);
    if (found === undefined) return change.file;
    looked.push(found);
  }
  for (const one of looked) await write(one);
  return undefined;
}

interface LookedAt {
  readonly file: string;
  /** without a link in it */
  readonly real: string;
  readonly mode: number;
  readonly text: string | undefined;
}

/** The link of a file stays a link: what it leads to is written, if that is a file of the repository. */
async function lookAt(
  { file, before, after }: FileChange,
  repository: Repository,
): Promise<LookedAt | undefined> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined || !liesIn(repository, real)) return undefined;
  const { mode } = await lstat(real);
  const found = await readFile(real, 'utf8');
  const mark = found.startsWith(byteOrderMark) ? byteOrderMark : '';
  if (found !== mark + before) return undefined;
  return { file, real, mode: mode & 0o7777, text: after === undefined ? undefined : mark + after };
}

async function write({ file, real, mode, text }: LookedAt): Promise<void> {
  if (text !== undefined) return replaceFile(real, text, mode);
  for (const path of [real, file]) await rm(path, { force: true });
}
