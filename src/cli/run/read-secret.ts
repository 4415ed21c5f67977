/** Reads secrets from where manifests say they are. Values go to the wire and nowhere else. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { megabyte, readRegularText, UnfitFile } from '../../files/read-regular.ts';
import { leadsOut } from '../../manifest/files/admitted-files.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import { missingFileToShow, variableToShow } from '../../model/source-names.ts';
import type { SecretSource, Stack } from '../../model/stack/target.ts';
import type { CliHost } from '../cli-host.ts';

/** Bytes of a token or a JWT, and far more than any has. */
const mostOfSecret = megabyte;

/** The source holds no secret; the message names the source and never a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Where sources are looked for. */
export interface SecretPlace {
  readonly env: CliHost['env'];
  /** what relative file names start from: the stack's directory */
  readonly directory: string;
  /** the files that manifests may name; any when absent, as for what the stack itself names */
  readonly files?: readonly string[] | undefined;
}

/** Where sources that manifests name are looked for, and which of them the stack admits. */
export function secretPlace(
  { directory, secrets }: Pick<Stack, 'directory' | 'secrets'>,
  { env }: Pick<CliHost, 'env'>,
): SecretPlace {
  return { env, directory, files: secrets?.files };
}

/**
 * White space around a secret is none of it, wherever it comes from: what is sent is what redaction looks for.
 * @param what what the source is to hold, for whoever has to fill it: `the token of target "acme"`
 * @throws SecretError when it holds nothing
 */
export async function readSecret(
  source: SecretSource,
  { env, directory, files }: SecretPlace,
  what?: string,
): Promise<string> {
  const hint = what === undefined ? '' : `: it has to hold ${what}`;
  if ('env' in source) {
    const value = env[source.env]?.trim();
    if (value === undefined || value === '')
      throw new SecretError(`${variableWords(source.env, value)}${hint}`);
    return value;
  }
  const strays = whyStrays(source.file, { directory, files });
  if (strays !== undefined) throw new SecretError(`the secret file "${source.file}" ${strays}${hint}`);
  const file = resolve(directory, source.file);
  const text = await readRegularText(file, mostOfSecret).catch((error: NodeJS.ErrnoException) => {
    // Somebody may have written the secret itself, or an address with one: the system's own words would repeat it.
    const name = fileToShow(source.file, error.code);
    const why = error instanceof UnfitFile ? error.message : (error.code ?? error.name);
    throw new SecretError(`the secret file ${name} cannot be read: ${why}${hint}`, { cause: error });
  });
  const value = text.trim();
  if (value === '') throw new SecretError(`the secret file "${source.file}" is empty${hint}`);
  return value;
}

/**
 * Why a source holds nothing that could be read; undefined when it seems to. Only regular files are read.
 * @param look.reads whether a file may be read for this: by an apply, and never by a plan
 */
export async function whyAbsent(
  source: SecretSource,
  { env, directory, files }: SecretPlace,
  look: { readonly reads: boolean },
): Promise<string | undefined> {
  if ('env' in source) {
    const value = env[source.env]?.trim();
    return value === undefined || value === '' ? variableWords(source.env, value) : undefined;
  }
  const strays = whyStrays(source.file, { directory, files });
  if (strays !== undefined) return `the file "${source.file}" ${strays}`;
  const unread = await whyUnreadable(resolve(directory, source.file), look);
  return unread && `the file ${fileToShow(source.file, unread.code)} ${unread.why}`;
}

/** A link may lead elsewhere by now than it did when manifests were checked. */
function whyStrays(file: string, { directory, files }: Omit<SecretPlace, 'env'>): string | undefined {
  const real = files && leadsOut(file, files, directory);
  return real && `is a link out of what "spec.secrets" of the stack admits, to "${real}"`;
}

function variableWords(name: string, value: string | undefined): string {
  return `the environment variable ${variableToShow(name)} is ${value === '' ? 'empty' : 'not set'}`;
}

/** A clause, and the system's code where that failed. */
interface Unread {
  readonly why: string;
  readonly code?: string;
}

/** What the system does not find, or takes for no name at all, may be no name. */
function fileToShow(file: string, code: string | undefined): string {
  const isThere = !/^(ENOENT|ENOTDIR|ENAMETOOLONG|ERR_)/.test(code ?? '');
  return isThere ? `"${file}"` : missingFileToShow(maskAddresses(file));
}

async function whyUnreadable(
  file: string,
  { reads }: { readonly reads: boolean },
): Promise<Unread | undefined> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) return { why: 'is a directory' };
    if (found.isFile() && found.size === 0) return { why: 'is empty' };
    await access(file, constants.R_OK);
    if (!found.isFile()) return { why: 'is no regular file' };
    if (reads && (await readRegularText(file, mostOfSecret)).trim() === '') return { why: 'is empty' };
    return undefined;
  } catch (error) {
    if (error instanceof UnfitFile) return { why: `cannot be read: ${error.message}` };
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { why: code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`, code };
  }
}
