/** Opens the archive of audit trails that is named on the command line, or by the stack. Nothing is read or written yet. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Archive } from '../audit-trail/archive.ts';
import { postgresArchive } from '../audit-trail/postgres-archive.ts';
import { sqliteArchive } from '../audit-trail/sqlite-archive.ts';
import { findRepository, liesIn } from '../manifest/files/find-stack.ts';
import { type ArchivePlace, archiveUrl, type Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from './command-stop.ts';
import { exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { readDatabaseAddress } from './read-secret.ts';

/**
 * The archive that `--to` names: a file relative to the current directory, or `postgres`, whose address comes from the stack, or else
 * from the usual variable.
 */
export function namedArchive(
  name: string | undefined,
  stack: Pick<Stack, 'audit'>,
  { cwd }: Pick<CliHost, 'cwd'>,
): ArchivePlace | undefined {
  if (name === undefined) return undefined;
  if (name !== 'postgres') return { in: 'file', file: resolve(cwd, name) };
  const own = stack.audit?.archive;
  return own?.in === 'postgres' ? own : { in: 'postgres', url: archiveUrl };
}

/** How long a database may take to answer: a read ends with the run, a write when the user no longer waits. */
interface RunEnd {
  readonly runEnded: AbortSignal;
  readonly abandonWaits: AbortSignal;
}

/**
 * Must be closed.
 * @param directory what a file of the stack is relative to. @param run how the run ends
 * @throws CommandStop when the address of the database cannot be read, or the place is not valid
 */
export async function openArchive(
  place: ArchivePlace,
  {
    directory,
    host,
    run,
  }: {
    readonly directory: string;
    readonly host: Pick<CliHost, 'env' | 'secrets'>;
    readonly run: RunEnd;
  },
): Promise<Archive> {
  if (place.in === 'file')
    return sqliteArchive(isAbsolute(place.file) ? place.file : await fileBelow(directory, place.file));
  const what = "the address of the archive's database";
  const { address, problem } = await readDatabaseAddress(place.url, directory, { ...host, what });
  if (problem !== undefined) throw invalidAddress(problem);
  return postgresArchive(address, { read: run.runEnded, write: run.abandonWaits });
}

function invalidAddress(message: string): CommandStop {
  return new CommandStop('archive-address', message, { exit: exitCodes.invalid });
}

/** A link in a repository must not lead to a file elsewhere, which would be written. @throws CommandStop */
async function fileBelow(directory: string, file: string): Promise<string> {
  const path = resolve(directory, file);
  const real = await realPlace(path);
  if (real !== undefined && liesIn(await findRepository(directory), real)) return path;
  throw invalidAddress(
    `the archive ${quoted(file)} of "spec.audit.archive" lies elsewhere, behind a link: name a file at or below the stack file`,
  );
}

/** For a path that does not exist yet, the nearest existing folder; undefined for a broken link. */
async function realPlace(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  return isLink || dirname(path) === path ? undefined : realPlace(dirname(path));
}
