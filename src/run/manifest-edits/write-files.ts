/**
 * Replaces whole files. All are checked before the first is written: if one of them changed since it was read, or its new text cannot be
 * stored, none is written. Mode and byte order mark are kept.
 */
import { lstat, readFile, realpath, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type PreparedFile, prepareFile } from '../../files/write-file.ts';
import { displayPath, exists, liesIn, type Repository } from '../../manifest/files/find-stack.ts';
import { systemErrorMessage } from '../../model/error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { printable } from '../../report/view/printable.ts';
import { CommandStop } from '../command-stop.ts';
import { exitCodes } from '../exit-codes.ts';

export interface FileChange {
  /** absolute */
  readonly file: string;
  /** the repository that the file must be in */
  readonly repository: Repository;
  /** as it was read; undefined for a new file */
  readonly before: string | undefined;
  /** undefined removes the file */
  readonly after: string | undefined;
}

export const byteOrderMark = '\uFEFF';

interface Written {
  readonly files: readonly string[];
  /** the file that failed, with the error; it and those after it are unchanged */
  readonly failure?: { readonly file: string; readonly reason: unknown };
}

/** Writes nothing, and fails as `writeFiles` would: before a step that cannot be undone, and after which the files are written. */
export async function checkWritable(changes: readonly FileChange[]): Promise<void> {
  for (const { prepared } of await prepareChanges(changes)) await prepared.discard();
}

/** @throws if nothing is written: CommandStop for a file that changed since it was read, or the error of the system */
export async function writeFiles(changes: readonly FileChange[]): Promise<Written> {
  const steps = await prepareChanges(changes);
  const files: string[] = [];
  for (const [index, { file, prepared }] of steps.entries()) {
    try {
      await prepared.replace();
      files.push(file);
    } catch (reason) {
      for (const later of steps.slice(index)) await later.prepared.discard();
      if (files.length === 0) throw reason;
      return { files, failure: { file, reason } };
    }
  }
  return { files };
}

async function prepareChanges(changes: readonly FileChange[]): Promise<PreparedChange[]> {
  const checked: ReadFile[] = [];
  for (const change of changes) {
    const found = change.before === undefined ? await readNew(change) : await readTarget(change);
    if (found === undefined)
      throw new CommandStop(
        'file-changed',
        `nothing was written: ${quoted(printable(change.file))} is not as it was read; run it again`,
        { exit: exitCodes.stale },
      );
    checked.push(found);
  }
  return prepareAll(checked);
}

interface PreparedChange {
  readonly file: string;
  readonly prepared: PreparedFile;
}

/** Stores all new texts beside the files, before the first file is replaced. */
async function prepareAll(checked: readonly ReadFile[]): Promise<PreparedChange[]> {
  const steps: PreparedChange[] = [];
  try {
    for (const one of checked) steps.push({ file: one.file, prepared: await prepare(one) });
  } catch (error) {
    for (const { prepared } of steps) await prepared.discard();
    throw error;
  }
  return steps;
}

interface ReadFile {
  readonly file: string;
  /** the path without symbolic links */
  readonly real: string;
  readonly mode: number;
  readonly text: string | undefined;
}

/** An existing file. A symbolic link stays: its target is written. Undefined if the file changed, or is not in the repository. */
async function readTarget({ file, repository, before, after }: FileChange): Promise<ReadFile | undefined> {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined || !liesIn(repository, real)) return undefined;
  const { mode } = await lstat(real);
  const found = await readFile(real, 'utf8');
  const mark = found.startsWith(byteOrderMark) ? byteOrderMark : '';
  if (found !== mark + before) return undefined;
  return { file, real, mode: mode & 0o7777, text: after === undefined ? undefined : mark + after };
}

/** A new file, whose folder may be new, too. Undefined if the file exists, or would lie outside of the repository. */
async function readNew({ file, repository, after }: FileChange): Promise<ReadFile | undefined> {
  let folder = dirname(file);
  while (!(await exists(folder)) && folder !== dirname(folder)) folder = dirname(folder);
  const isFree = !(await exists(file)) && liesIn(repository, await realpath(folder));
  return isFree ? { file, real: file, mode: 0o644, text: after } : undefined;
}

async function prepare({ file, real, mode, text }: ReadFile): Promise<PreparedFile> {
  if (text !== undefined) return prepareFile(real, text, mode);
  const replace = async () => {
    for (const path of [real, file]) await rm(path, { force: true });
  };
  return { replace, discard: async () => {} };
}

/** @param done the files that were written */
export function partlyWritten(
  done: readonly string[],
  { file, reason }: NonNullable<Written['failure']>,
  cwd: string,
): CommandStop {
  const nameOf = (path: string) => quoted(printable(displayPath(path, cwd)));
  const why = reason instanceof Error ? (systemErrorMessage(reason) ?? reason.message) : String(reason);
  return new CommandStop(
    'files-partly-written',
    `only ${done.map(nameOf).join(', ')} ${done.length === 1 ? 'was' : 'were'} written, and not ${nameOf(file)}: ${why}`,
    { exit: exitCodes.partial },
  );
}
