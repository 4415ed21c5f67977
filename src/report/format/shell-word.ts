/**
 * Quotes a word of a command that trueup proposes, so that text from a user or a damaged file never becomes a command
 * itself.
 */
import { printable } from './printable.ts';

/** Characters without any special meaning in shells. */
const plain = /^[\w@%+:,./-]+$/;

/** The text unchanged, or quoted for POSIX shells; with unprintable characters as escapes in `$'…'`, which bash and zsh support. */
export function shellWord(text: string): string {
  if (plain.test(text)) return text;
  if (printable(text) === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${printable(text.replace(/[\\']/g, String.raw`\$&`))}'`;
}
