/** Opens the archive of audit trails that is named on the command line, or by the stack. Nothing is read or written yet. */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Archive } from '../audit-trail/archive.ts';
import { postgresArchive } from '../audit-trail/postgres-archive.ts';
import { sqliteArchive } from '../audit-trail/sqlite-archive.ts';
import { findRepository, liesIn } from '../manifest/files/find-stack.ts';
import { type ArchivePlace, archiveUrl, type Stack } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';
import type { CliHost } from './host.ts';
import { readDatabaseAddress } from './read-secret.ts';

/** The place of the archive is not valid: the address of a database, or a file that lies elsewhere. */
export class ArchiveAddressError extends Error {
  override readonly name = 'ArchiveAddressError';
}

/**
 * The place that the command line names, in the words of `--to`: a file relative to where the command runs, or `postgres`, whose
 * address is where the stack says, or else where it always is.
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

/** When a database that does not answer is waited for no longer: a read ends with the run, a write when nobody waits. */
interface RunEnd {
  readonly over: AbortSignal;
  readonly leave: AbortSignal;
}

/**
 * Must be closed.
 * @param directory what a file of the stack is relative to. @param run how the run ends
 * @throws SecretError when the address of the database cannot be read, ArchiveAddressError when the place is not valid
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
  if (problem !== undefined) throw new ArchiveAddressError(problem);
  return postgresArchive(address, { read: run.over, write: run.leave });
}

/** A link in a repository must not lead to a file elsewhere, which would be written. @throws ArchiveAddressError */
async function fileBelow(directory: string, file: string): Promise<string> {
  const path = resolve(directory, file);
  const real = await realPlace(path);
  if (real !== undefined && liesIn(await findRepository(directory), real)) return path;
  throw new ArchiveAddressError(
    `the archive ${quoted(file)} of "spec.audit.archive" lies elsewhere, behind a link: name a file at or below the stack file`,
  );
}

/** Of what is not there yet, the nearest folder that is; undefined for a link that leads nowhere. */
async function realPlace(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  return isLink || dirname(path) === path ? undefined : realPlace(dirname(path));
}
