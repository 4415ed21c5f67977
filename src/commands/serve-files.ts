/**
 * The files of `serve`: certificate and key for TLS, and the token of the admin API. Messages name the files and repeat nothing
 * of their content.
 */
import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { megabyte, readRegularText } from '../files/read-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { messageOf, systemErrorMessage } from '../model/error-message.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from '../run/command-stop.ts';
import type { CliHost } from '../run/host.ts';

/** Both in PEM; the certificate may be followed by those of its issuers. */
interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** @throws CommandStop when the files cannot be read, or are not a certificate and its key */
export async function readTlsFiles(files: TlsFiles, directory: string): Promise<TlsIdentity> {
  const identity = {
    cert: await read('certificate', files.cert, directory),
    key: await read('key', files.key, directory),
  };
  // Loaded only here, because that takes as long as a small plan, and most commands that load this file serve nothing.
  const { createSecureContext } = await import('node:tls');
  try {
    createSecureContext(identity);
  } catch (cause) {
    throw new CommandStop(
      'tls-files',
      `${quoted(files.cert)} and ${quoted(files.key)} are not a certificate and its key, both in PEM, the key without a passphrase`,
      { cause },
    );
  }
  return identity;
}

async function read(what: string, file: string, directory: string): Promise<string> {
  try {
    return await readRegularText(resolve(directory, file), megabyte);
  } catch (cause) {
    const why = systemErrorMessage(cause) ?? messageOf(cause);
    throw new CommandStop('tls-files', `the ${what} ${quoted(file)} cannot be read: ${why}`, { cause });
  }
}

// The token of the admin API, in a file that only its owner can read.
// Invariants: each `serve` makes a new token, and removes the file when it ends; a file with any other content is not
// overwritten, and a file that another `serve` has written since is not removed.

/** The default for `--admin-token-file`. */
export function adminTokenFile(data: string): string {
  return `${data}.admin-token`;
}

export function newAdminToken(host: Pick<CliHost, 'newId'>): string {
  return `admin.${host.newId()}`;
}

/**
 * Writes the token, and returns a function that removes the file.
 * @throws CommandStop when the file has other content than such a token
 */
export async function writeAdminToken(file: string, token: string): Promise<() => Promise<void>> {
  if ((await exists(file)) && !/^admin\.[0-9a-f-]{36}\n$/.test(await readText(file))) {
    throw new CommandStop(
      'admin-token-place',
      `${quoted(file)} does not contain an admin token, so it is not overwritten`,
    );
  }
  await replaceFile(file, `${token}\n`);
  return async () => {
    if ((await readText(file)) === `${token}\n`) await rm(file, { force: true });
  };
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

/** Empty when the file cannot be read. */
function readText(file: string): Promise<string> {
  return readRegularText(file, megabyte).catch(() => '');
}
