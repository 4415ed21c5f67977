/**
 * Checks texts of requests: bytes must be UTF-8, and escapes in JSON must be whole characters.
 * Invariant: accepted text is stored as it was sent. A decoder would replace invalid bytes by U+FFFD without an error; here
 * the sender gets an error.
 */
import { isUtf8 } from 'node:buffer';

/** The text of some bytes; undefined if they are not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The text of a form's body; undefined if its bytes, or its decoded escapes, are not UTF-8. */
export function formTextOf(bytes: Buffer): string | undefined {
  const meant = bytes
    .toString('latin1')
    .replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return isUtf8(Buffer.from(meant, 'latin1')) ? textOf(bytes) : undefined;
}

/** The end of error texts. JSON writes a character beyond the first 65,536 as a surrogate pair. */
export const HALF_CHARACTER = 'with half of a surrogate pair';

/** For `JSON.parse`, as its reviver. @throws SyntaxError for a name or a text with half of a surrogate pair */
export function requireWellFormedText(name: string, value: unknown): unknown {
  const isWhole = name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed());
  if (!isWhole) throw new SyntaxError(`a text ${HALF_CHARACTER}`);
  return value;
}

/** The value of a JSON text. @throws SyntaxError for broken JSON, and for a text in it with half of a surrogate pair */
export function parseJson(text: string): unknown {
  // Checking each member takes time, and only an escape can be half of a pair.
  return JSON.parse(
    text,
    /\\u[dD][89a-fA-F]/.test(text) ? (name, value) => requireWellFormedText(name, value) : undefined,
  );
}
