/** Texts of JWTs, roles and configs as messages show them. A JWT may hold anything, so what is long is not shown. */
import { quoted } from '../../model/quoted.ts';

/** Longer than any name or address that is meant. A part of a longer text is not shown: a part of a secret is not masked. */
const longest = 300;

/** A list shows so many members, and the number of the others. */
const most = 8;

/** The text in quotes. */
export function shown(text: string): string {
  return text.length > longest ? `a text of ${text.length} characters` : quoted(text);
}

/** `"a", "b"`; `nothing` for an empty list. */
export function shownList(texts: readonly string[]): string {
  if (texts.length === 0) return 'nothing';
  const more = texts.length - most;
  return `${texts.slice(0, most).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
