/**
 * A word of a command that trueup proposes, as a shell reads it back: what a user or a damaged file says never becomes
 * a command of its own.
 */
import { printable } from './printable.ts';

/** What means nothing to a shell anywhere in a word. */
const plain = /^[\w@%+:,./-]+$/;

/** The text as it is, or quoted for POSIX shells; what cannot be printed as escapes between `$'…'`, as bash and zsh have them. */
export function shellWord(text: string): string {
  if (plain.test(text)) return text;
  if (printable(text) === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${printable(text.replace(/[\\']/g, String.raw`\$&`))}'`;
}
