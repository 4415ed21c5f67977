/** Reads the YAML seed of the embedded service. The service itself checks its shape. */
import { systemErrorMessage } from '../../model/system-error-message.ts';
import { messageOf } from '../../model/message-of.ts';
import { quoted } from '../../model/quoted.ts';
import { resolve } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { megabyte, type Obstacle, readRegular, UnfitFile } from '../../files/read-regular.ts';
import { findRepository, outsideMessage } from '../../manifest/files/find-repository.ts';
import { checkInRepository } from '../../manifest/files/read-text.ts';

/** The seed cannot be read, or is no YAML. The message names the file and repeats none of its content. */
export class SeedFileError extends Error {
  override readonly name = 'SeedFileError';
}

const maxSeedSize = 32 * megabyte;

/**
 * Reads a seed that the command line names, which may lie anywhere.
 * @param directory the base of a relative file name
 * @throws SeedFileError
 */
export function readSeedFile(file: string, directory: string): Promise<unknown> {
  return readSeed(file, () => readRegular<never>(resolve(directory, file), maxSeedSize));
}

/** Reads a seed that a stack names; like manifests, it must be a file of the repository. */
export async function readOwnSeed(file: string, directory: string): Promise<unknown> {
  const repository = await findRepository(directory);
  const path = resolve(directory, file);
  return readSeed(file, async () => {
    const bytes = await readRegular(path, maxSeedSize, (opened) =>
      checkInRepository(path, repository, opened),
    );
    if (bytes === 'outside') throw new Error(`it ${outsideMessage(repository).message}`);
    return bytes;
  });
}

async function readSeed(file: string, read: () => Promise<Buffer | Obstacle>): Promise<unknown> {
  try {
    const bytes = await read();
    if (typeof bytes === 'string') throw new UnfitFile(bytes, maxSeedSize);
    return load(bytes.toString('utf8'));
  } catch (cause) {
    throw new SeedFileError(`the seed ${quoted(file)} cannot be read: ${whyUnread(cause)}`, { cause });
  }
}

/** The parser's message is not repeated: it quotes the file, which may be any file of the machine. */
function whyUnread(cause: unknown): string {
  if (!(cause instanceof YAMLException)) return systemErrorMessage(cause) ?? messageOf(cause);
  const { mark } = cause;
  return mark === undefined
    ? 'it is no YAML'
    : `it is no YAML, as line ${mark.line + 1}, column ${mark.column + 1} shows`;
}
