/** One file's text, or why there is none. Only UTF-8 is text: anything else would be read wrong without a word. */
import { readFile } from 'node:fs/promises';
import type { Diagnostic } from '../model/diagnostic.ts';

/** @param file as the user would type it, for the diagnostic */
export async function readText(path: string, file: string): Promise<string | Diagnostic> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return unreadable(`"${file}" cannot be read: ${reason}`, 'check that it exists and may be read');
  }
  try {
    return decodeText(bytes);
  } catch {
    return unreadable(`"${file}" is not UTF-8 text`, 'save it as UTF-8');
  }
}

/** Without the byte order mark that some editors leave. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function unreadable(message: string, fix: string): Diagnostic {
  return { code: 'unreadable-file', severity: 'error', class: 'incomplete', message, fix };
}
