/**
 * The token of the admin API, in a file that only its owner can read.
 * Invariants: each `serve` makes a new token, and removes the file when it ends; a file with any other content is not
 * overwritten, and a file that another `serve` has written since is not removed.
 */
import { rm, stat } from 'node:fs/promises';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { replaceFile } from '../../ledger/local/replace-file.ts';
import { quoted } from '../../model/quoted.ts';
import type { CliHost } from '../cli-host.ts';

/** The default for `--admin-token-file`. */
export function adminTokenFile(data: string): string {
  return `${data}.admin-token`;
}

export function newAdminToken(host: Pick<CliHost, 'newId'>): string {
  return `admin.${host.newId()}`;
}

/** No file for the token was named, or the file has other content. */
export class AdminTokenError extends Error {
  override readonly name = 'AdminTokenError';
}

/**
 * Writes the token, and returns a function that removes the file.
 * @throws AdminTokenError when the file has other content than such a token
 */
export async function writeAdminToken(file: string, token: string): Promise<() => Promise<void>> {
  if ((await isThere(file)) && !/^admin\.[0-9a-f-]{36}\n$/.test(await readText(file))) {
    throw new AdminTokenError(`${quoted(file)} does not contain an admin token, so it is not overwritten`);
  }
  await replaceFile(file, `${token}\n`);
  return async () => {
    if ((await readText(file)) === `${token}\n`) await rm(file, { force: true });
  };
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

/** Empty when the file cannot be read. */
function readText(file: string): Promise<string> {
  return readRegularText(file, megabyte).catch(() => '');
}
