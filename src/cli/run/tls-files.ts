/**
 * The certificate and the key with which `serve` speaks TLS.
 * Invariant: a message names the files and repeats nothing that stands in them.
 */
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { messageOf } from '../../model/message-of.ts';
import { systemErrorMessage } from '../../model/system-error-message.ts';
import { quoted } from '../../model/quoted.ts';

/** The two files cannot be read, or are not a certificate and its key. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError';
}

/** Both in PEM; the certificate may be followed by those of its issuers. */
interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** @throws TlsFileError */
export async function readTlsFiles(files: TlsFiles, directory: string): Promise<TlsIdentity> {
  const identity = {
    cert: await read('certificate', files.cert, directory),
    key: await read('key', files.key, directory),
  };
  try {
    createSecureContext(identity);
  } catch (cause) {
    throw new TlsFileError(
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
    throw new TlsFileError(`the ${what} ${quoted(file)} cannot be read: ${why}`, { cause });
  }
}
