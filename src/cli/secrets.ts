/** Reads secrets from where manifests say they are. Values go to the wire and nowhere else. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SecretSource } from '../model/target.ts';
import type { World } from './world.ts';

/** The source holds no secret; the message names the source and never a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** @param directory what relative file names start from: the stack's directory */
export async function readSecret(
  source: SecretSource,
  { env }: Pick<World, 'env'>,
  directory: string,
): Promise<string> {
  if ('env' in source) {
    const value = env[source.env];
    if (value === undefined || value === '') {
      throw new SecretError(`the environment variable "${source.env}" is not set: set it to the token`);
    }
    return value;
  }
  const file = resolve(directory, source.file);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SecretError(`the secret file "${source.file}" cannot be read: ${error.message}`, {
      cause: error,
    });
  });
  const value = text.trim();
  if (value === '') throw new SecretError(`the secret file "${source.file}" is empty`);
  return value;
}
