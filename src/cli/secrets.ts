/** Reads secrets from where manifests say they are. Values go to the wire and nowhere else. */
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { SecretSource } from '../model/target.ts';
import type { World } from './world.ts';

/** The source holds no secret; the message names the source and never a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Where sources are looked for. */
export interface SecretPlace {
  readonly env: World['env'];
  /** what relative file names start from: the stack's directory */
  readonly directory: string;
}

/**
 * @param what what the source is to hold, for whoever has to fill it: `the token of target "acme"`
 * @throws SecretError when it holds nothing
 */
export async function readSecret(
  source: SecretSource,
  { env, directory }: SecretPlace,
  what?: string,
): Promise<string> {
  const hint = what === undefined ? '' : `: it has to hold ${what}`;
  if ('env' in source) {
    const value = env[source.env];
    if (value === undefined || value === '')
      throw new SecretError(`${variableWords(source.env, value)}${hint}`);
    return value;
  }
  const file = resolve(directory, source.file);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SecretError(`the secret file "${source.file}" cannot be read: ${error.message}${hint}`, {
      cause: error,
    });
  });
  const value = text.trim();
  if (value === '') throw new SecretError(`the secret file "${source.file}" is empty${hint}`);
  return value;
}

/** Why a source holds nothing that could be read; undefined when it seems to. The value itself is not looked at. */
export async function whyAbsent(
  source: SecretSource,
  { env, directory }: SecretPlace,
): Promise<string | undefined> {
  if ('env' in source) {
    const value = env[source.env];
    return value === undefined || value === '' ? variableWords(source.env, value) : undefined;
  }
  const why = await whyUnreadable(resolve(directory, source.file));
  return why === undefined ? undefined : `the file "${source.file}" ${why}`;
}

function variableWords(name: string, value: string | undefined): string {
  return `the environment variable "${name}" is ${value === '' ? 'empty' : 'not set'}`;
}

async function whyUnreadable(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return 'is a directory';
    if (found.isFile() && found.size === 0) return 'is empty';
    await access(file, constants.R_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`;
  }
}
