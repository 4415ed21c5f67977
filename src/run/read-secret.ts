/**
 * Reads secrets from their sources, and the address of a PostgreSQL database, which is a secret because it holds credentials.
 * Values are only sent to services, never printed or stored.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { megabyte, readRegularText, UnfitFile } from '../files/read-file.ts';
import { realPathOutside } from '../manifest/files/admitted-files.ts';
import { systemErrorMessage } from '../model/error-message.ts';
import { quoted } from '../model/quoted.ts';
import type { SecretSource, Stack, TokenSource } from '../model/stack.ts';
import { maskUrls, missingFileToShow, variableToShow } from '../redaction/mask-text.ts';
import { CommandStop } from './command-stop.ts';
import { grantedVariables } from './fleet-process.ts';
import type { CliHost } from './host.ts';

/** The maximal size of a secret in bytes, far more than any token or JWT has. */
const maxSecretSize = megabyte;

/** The error for a secret that cannot be read. The message names the source and never a value. */
export function secretStop(message: string, cause?: unknown): CommandStop {
  return new CommandStop('secret-unreadable', message, { cause });
}

/** Where secrets are read from. */
export interface SecretContext {
  readonly env: CliHost['env'];
  /** what relative file names start from: the stack's directory */
  readonly directory: string;
  /** the files that manifests may name; all files when absent, as for sources in the stack itself */
  readonly files?: readonly string[] | undefined;
}

/** The context of sources that manifests name, which may be only files that the stack allows. */
export function secretContext(
  { directory, secrets }: Pick<Stack, 'directory' | 'secrets'>,
  { env }: Pick<CliHost, 'env'>,
): SecretContext {
  return { env, directory, files: secrets?.files };
}

/**
 * Reads a secret and trims it, so that the value that is sent is the value that redaction looks for.
 * @param what what the source should hold, for the message: `the token of target "acme"`
 * @throws CommandStop when the source has no value
 */
export async function readSecret(
  source: SecretSource,
  { env, directory, files }: SecretContext,
  what?: string,
): Promise<string> {
  const hint = what === undefined ? '' : `: it has to hold ${what}`;
  if ('env' in source) {
    const { value, problem } = variableIn(env, source.env);
    if (value === undefined) throw secretStop(`${problem}${hint}`);
    return value;
  }
  const outside = linkProblem(source.file, { directory, files });
  if (outside !== undefined) throw secretStop(`the secret file ${quoted(source.file)} ${outside}${hint}`);
  const file = resolve(directory, source.file);
  const text = await readRegularText(file, maxSecretSize).catch((error: NodeJS.ErrnoException) => {
    // The user may have written the secret itself as the file name, and the system's message would repeat it.
    const name = fileToShow(source.file, error.code);
    const why =
      error instanceof UnfitFile ? error.message : (systemErrorMessage(error) ?? error.code ?? error.name);
    throw secretStop(`the secret file ${name} cannot be read: ${why}${hint}`, error);
  });
  const value = text.trim();
  if (value === '') throw secretStop(`the secret file ${quoted(source.file)} is empty${hint}`);
  return value;
}

/** The token and the address with which a job of GitHub Actions requests a JWT. Source: wire/code-hosts 12 */
export const jwtRequest = {
  token: { env: 'ACTIONS_ID_TOKEN_REQUEST_TOKEN' },
  url: { env: 'ACTIONS_ID_TOKEN_REQUEST_URL' },
} as const satisfies Record<string, SecretSource>;

/** The secret that a run must have for a token: for a login its JWT, or the token that requests the JWT. */
export function secretBehind(token: TokenSource): SecretSource {
  if (!('login' in token)) return token;
  const { jwt } = token.login;
  return 'oidc' in jwt ? jwtRequest.token : jwt;
}

/** A source that was read, as a clause for messages. */
export function sourceToShow(source: SecretSource): string {
  return 'env' in source
    ? `the environment variable ${variableToShow(source.env)}`
    : `the file ${quoted(source.file)}`;
}

/**
 * Why a secret cannot be read; undefined when it seems to be there. Only regular files are read.
 * @param options.reads whether the content of a file may be read: by an apply, and never by a plan
 */
export async function whyAbsent(
  source: SecretSource,
  { env, directory, files }: SecretContext,
  options: { readonly reads: boolean },
): Promise<string | undefined> {
  if ('env' in source) return variableIn(env, source.env).problem;
  const outside = linkProblem(source.file, { directory, files });
  if (outside !== undefined) return `the file ${quoted(source.file)} ${outside}`;
  const unread = await whyUnreadable(resolve(directory, source.file), options);
  return unread && `the file ${fileToShow(source.file, unread.code)} ${unread.why}`;
}

/** What is wrong with a file's links, which may have changed since the manifests were checked. */
function linkProblem(file: string, { directory, files }: Omit<SecretContext, 'env'>): string | undefined {
  const real = files && realPathOutside(file, files, directory);
  return real && `links to ${quoted(real)}, which "spec.secrets" of the stack does not admit`;
}

/** The value of a variable, or why it has none that may be used. */
function variableIn(
  env: CliHost['env'],
  name: string,
):
  | { readonly value: string; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string } {
  const shown = `the environment variable ${variableToShow(name)}`;
  const granted = env[grantedVariables]?.split(' ');
  if (granted?.includes(name) === false)
    return { problem: `${shown} is not set: fleet.yaml does not grant it to the stacks of this repository` };
  const value = env[name]?.trim();
  if (value === undefined || value === '')
    return { problem: `${shown} is ${value === '' ? 'empty' : 'not set'}` };
  return { value };
}

/** A clause, and the code of the system error if there was one. */
interface Unread {
  readonly why: string;
  readonly code?: string;
}

/** The file name for a message. A name that does not exist or is invalid may be a secret, and is masked. */
function fileToShow(file: string, code: string | undefined): string {
  const isThere = !/^(ENOENT|ENOTDIR|ENAMETOOLONG|ERR_)/.test(code ?? '');
  return isThere ? quoted(file) : missingFileToShow(maskUrls(file));
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
    if (!found.isFile()) return { why: 'is not a regular file' };
    if (reads && (await readRegularText(file, maxSecretSize)).trim() === '') return { why: 'is empty' };
    return undefined;
  } catch (error) {
    if (error instanceof UnfitFile) return { why: `cannot be read: ${error.message}` };
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read: ${systemErrorMessage(error) ?? code}`;
    return { why, code };
  }
}

// Reads the address of a PostgreSQL database. It is a secret, because it holds credentials: no message repeats a part of it.

/** @param about.what its name in a message that it is missing. @returns a sentence as `problem` if it is not valid. @throws CommandStop */
export async function readDatabaseAddress(
  source: SecretSource,
  directory: string,
  { env, secrets, what }: Pick<CliHost, 'env' | 'secrets'> & { readonly what: string },
): Promise<{ readonly address: string; readonly problem?: string }> {
  const address = secrets.keep(await readSecret(source, { env, directory }, what), sourceToShow(source));
  if (URL.canParse(address)) secrets.keep(new URL(address).password, sourceToShow(source));
  const why = addressProblem(address);
  if (why === undefined) return { address };
  const from =
    'env' in source ? `the environment variable ${quoted(source.env)}` : `the file ${quoted(source.file)}`;
  return { address, problem: `${from} holds no address of a PostgreSQL database: ${why}` };
}

const addressForm = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** What is wrong with an address and what to write instead; undefined when it is valid. */
function addressProblem(address: string): string | undefined {
  if (!/^postgres(?:ql)?:\/\//i.test(address))
    return `it does not begin with "postgres://"; write ${addressForm}`;
  if (!URL.canParse(address))
    return `it is not a valid URL; write ${addressForm}, and percent-encode what is special in a URL, such as "/" as %2F and "@" as %40`;
  return undefined;
}
