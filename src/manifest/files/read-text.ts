/**
 * Reads the text of one file, or reports why it cannot be used. Only UTF-8 is accepted: other encodings would be misread silently.
 * A file that is not a regular file of the repository, or is too long, is refused and none of its content is shown.
 */
import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { readRegular, type Obstacle as FileObstacle } from '../../files/read-file.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import { liesIn, outsideMessage, type Repository } from './find-stack.ts';

/** The maximal size of a text of manifests, in bytes. */
export const maxTextBytes = 32 * 1024 * 1024;

/** @param file as the user would type it, for the diagnostic */
export async function readText(
  path: string,
  { file, repository }: { readonly file: string; readonly repository: Repository },
): Promise<string | Diagnostic> {
  try {
    const bytes = await readOwn(path, repository);
    return bytes instanceof Uint8Array ? decodeText(file, bytes) : refusals[bytes](file, repository);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return {
      code: 'unreadable-file',
      severity: 'error',
      class: 'incomplete',
      message: `${quoted(file)} cannot be read: ${reason}`,
      fix: 'check that it exists and may be read',
    };
  }
}

/** Drops the byte order mark that some editors write. @param file `-` for standard input */
export function decodeText(file: string, bytes: Uint8Array): string | Diagnostic {
  if (bytes.length > maxTextBytes) return tooLong(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return notText(file, bytes);
  }
}

type TextObstacle = FileObstacle | 'outside';

/** Reads a regular file, and checks that the file that was opened lies in the repository. */
async function readOwn(path: string, repository: Repository): Promise<Uint8Array | TextObstacle> {
  let reportsEmpty = false;
  const read = await readRegular(path, maxTextBytes, (opened) => {
    reportsEmpty = opened.size === 0;
    return checkInRepository(path, repository, opened);
  });
  // Only files of the kernel, such as those in /proc, report a size of 0 and have content.
  return typeof read !== 'string' && reportsEmpty && read.length > 0 ? 'irregular' : read;
}

/** Checks that the opened file lies in the repository; undefined when it does. */
export async function checkInRepository(
  path: string,
  repository: Repository,
  opened: Stats,
): Promise<'outside' | undefined> {
  const real = await realpath(path);
  const there = await lstat(real);
  const isThere = there.ino === opened.ino && there.dev === opened.dev;
  return isThere && liesIn(repository, real) ? undefined : 'outside';
}

const refusals: Readonly<Record<TextObstacle, (file: string, repository: Repository) => Diagnostic>> = {
  outside: (file, repository) => {
    const { message, fix } = outsideMessage(repository);
    return refusal('outside-repository', file, { message, fix });
  },
  folder: (file) => irregular(file),
  irregular: (file) => irregular(file),
  'too-long': (file) => tooLong(file),
};

/** The problem of a file that was given as the stack, but holds no Stack and lies elsewhere. @param repository of the user */
export function fileOutsideRepository(file: string, { isGit }: Repository): Diagnostic {
  const where = isGit ? 'git repository around the current folder' : 'current folder';
  return refusal('outside-repository', file, {
    message: `holds no stack, and lies outside the ${where}`,
    fix: 'give the path of a stack; its manifests are files of its repository',
  });
}

function irregular(file: string): Diagnostic {
  return refusal('no-regular-file', file, {
    message: 'is not a regular file',
    fix: 'put a regular file there; the output of a program can be piped in, with "-" as the path',
  });
}

function tooLong(file: string): Diagnostic {
  const message = `has more than ${maxTextBytes / 1024 / 1024} MB`;
  return refusal('too-long', file, { message, fix: 'divide its manifests among several files' });
}

function notText(file: string, bytes: Uint8Array): Diagnostic {
  const { line, column } = firstInvalidByte(bytes);
  return refusal('not-utf-8', file, { message: 'is not UTF-8 text', fix: 'save it as UTF-8', line, column });
}

/** @param about.message the end of the message, after the name of the file */
function refusal(
  code: Diagnostic['code'],
  file: string,
  about: { readonly message: string; readonly fix: string; readonly line?: number; readonly column?: number },
): Diagnostic {
  const { message, fix, line = 1, column = 1 } = about;
  return {
    code,
    severity: 'error',
    class: 'invalid',
    message: `${file === '-' ? 'standard input' : quoted(file)} ${message}`,
    place: { file, line, column, length: 1, text: '' },
    fix,
  };
}

/** The place of the first invalid byte, where decoding with replacement characters first differs from the input. */
function firstInvalidByte(bytes: Uint8Array): { readonly line: number; readonly column: number } {
  const lenient = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const odd = bytes.findIndex((byte, index) => byte !== lenient[index]);
  const before = Buffer.from(bytes.subarray(0, odd))
    .toString('utf8')
    .split(/\r\n?|\n/);
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
