/** Reads the YAML that the embedded service starts with. Its shape is the service's own business to check. */
import { resolve } from 'node:path';
import { load } from 'js-yaml';
import { megabyte, readRegularText } from '../files/read-regular.ts';

/** The seed cannot be read, or is no YAML. The message names the file. */
export class SeedFileError extends Error {
  override readonly name = 'SeedFileError';
}

/** The parsed YAML. @param directory what a relative file name starts from. @throws SeedFileError */
export async function readSeedFile(file: string, directory: string): Promise<unknown> {
  try {
    return load(await readRegularText(resolve(directory, file), 32 * megabyte));
  } catch (cause) {
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new SeedFileError(`the seed "${file}" cannot be read: ${why}`, { cause });
  }
}
