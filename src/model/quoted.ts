/** Quotes a value inside a sentence, so that no value can end its quotes and continue the sentence in trueup's own voice. */

/** The text as a JSON string: in double quotes, with `"`, `\` and control characters escaped. Plain text stays as it is. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** For a value that usually stands without quotes, such as a name or an id: quoted only if it has other characters than those. */
export function quotedUnlessPlain(text: string): string {
  return /^[\p{L}\p{M}\p{N}_.@:/+-]*(?: [\p{L}\p{M}\p{N}_.@:/+-]+)*$/u.test(text) ? text : quoted(text);
}

/** A sentence in parts: text, a value in its quotes, text, and so on. Escaped quotes do not end a value. */
export function splitQuoted(sentence: string): string[] {
  return sentence.split(/("(?:[^"\\]|\\.)*")/s);
}

/** Whether a value in its quotes is clear without them: a space at its edge, or nothing, is seen only between quotes. */
export function isClearUnquoted(inQuotes: string): boolean {
  const value = inQuotes.slice(1, -1);
  return value !== '' && value === value.trim();
}
