/**
 * Quotes values inside sentences, so that no value can end its quotes and look like text of trueup, and formats counts with
 * their nouns.
 */

/** The text as a JSON string: in double quotes, with `"`, `\` and control characters escaped. Plain text stays as it is. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** For a value that usually needs no quotes, such as a name or an id: quoted only if it has unusual characters. */
export function quotedUnlessPlain(text: string): string {
  return /^[\p{L}\p{M}\p{N}_.@:/+-]*(?: [\p{L}\p{M}\p{N}_.@:/+-]+)*$/u.test(text) ? text : quoted(text);
}

/** A sentence in parts: text, a value in its quotes, text, and so on. Escaped quotes do not end a value. */
export function splitQuoted(sentence: string): string[] {
  return sentence.split(/("(?:[^"\\]|\\.)*")/s);
}

/** Whether a quoted value is clear without its quotes: a space at its edge, or an empty text, is visible only between quotes. */
export function isClearUnquoted(inQuotes: string): boolean {
  const value = inQuotes.slice(1, -1);
  return value !== '' && value === value.trim();
}

// Counts with their nouns, singular or plural.

/** `1 file`, `3 files`, `2 directories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Quoted names for a message: `"a", "b" and 7 more`. */
export function quoteSome(names: readonly string[], most = 10): string {
  const more = names.length - most;
  const shown = names.slice(0, most).map(quoted);
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
