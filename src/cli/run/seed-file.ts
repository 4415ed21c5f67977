/** Reads the YAML that the embedded service starts with. Its shape is the service's own business to check. */
import { systemWords } from '../../model/system-words.ts';
import { messageOf } from '../../model/message-of.ts';
import { resolve } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { megabyte, type Obstacle, readRegular, UnfitFile } from '../../files/read-regular.ts';
import { findRepository, outsideWords } from '../../manifest/files/find-repository.ts';
import { whyOutside } from '../../manifest/files/read-text.ts';

/** The seed cannot be read, or is no YAML. The message names the file, and repeats nothing of it. */
export class SeedFileError extends Error {
  override readonly name = 'SeedFileError';
}

const mostOfSeed = 32 * megabyte;

/**
 * The parsed YAML of a file that the command line names: it may lie anywhere.
 * @param directory what a relative file name starts from
 * @throws SeedFileError
 */
export function readSeedFile(file: string, directory: string): Promise<unknown> {
  return readSeed(file, () => readRegular<never>(resolve(directory, file), mostOfSeed));
}

/** The same of one that a stack names: like its manifests, it is a file of the repository. */
export async function readOwnSeed(file: string, directory: string): Promise<unknown> {
  const repository = await findRepository(directory);
  const path = resolve(directory, file);
  return readSeed(file, async () => {
    const bytes = await readRegular(path, mostOfSeed, (opened) => whyOutside(path, repository, opened));
    if (bytes === 'outside') throw new Error(`it ${outsideWords(repository).message}`);
    return bytes;
  });
}

async function readSeed(file: string, read: () => Promise<Buffer | Obstacle>): Promise<unknown> {
  try {
    const bytes = await read();
    if (typeof bytes === 'string') throw new UnfitFile(bytes, mostOfSeed);
    return load(bytes.toString('utf8'));
  } catch (cause) {
    throw new SeedFileError(`the seed "${file}" cannot be read: ${whyUnread(cause)}`, { cause });
  }
}

/** The parser's own words quote what stands there, and it may be any file. */
function whyUnread(cause: unknown): string {
  if (!(cause instanceof YAMLException)) return systemWords(cause) ?? messageOf(cause);
  const { mark } = cause;
  return mark === undefined
    ? 'it is no YAML'
    : `it is no YAML, as line ${mark.line + 1}, column ${mark.column + 1} shows`;
}
