/** Opens the archive of audit trails that is named on the command line, or by the stack. Nothing is read or written yet. */
import { isAbsolute, resolve } from 'node:path';
import type { Archive } from '../../audit/archive/archive.ts';
import { postgresArchive } from '../../audit/archive/postgres-archive.ts';
import { sqliteArchive } from '../../audit/archive/sqlite-archive.ts';
import { type ArchivePlace, archiveUrl, type Stack } from '../../model/stack/target.ts';
import type { CliHost } from '../cli-host.ts';
import { readDatabaseAddress } from '../run/database-address.ts';

/** The address of the archive's database is not valid. */
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
 * @throws SecretError when the address of the database cannot be read, ArchiveAddressError when it is not valid
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
    return sqliteArchive(isAbsolute(place.file) ? place.file : resolve(directory, place.file));
  const what = "the address of the archive's database";
  const { address, problem } = await readDatabaseAddress(place.url, directory, { ...host, what });
  if (problem !== undefined) throw new ArchiveAddressError(problem);
  return postgresArchive(address, { read: run.over, write: run.leave });
}
