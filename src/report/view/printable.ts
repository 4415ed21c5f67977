/**
 * Makes text from outside safe to print, shortens it for limited sizes, and quotes it for a shell. Characters that could move a
 * cursor, or hide or reorder text, become visible escapes, so that line ends of the layout are the only control characters in
 * any output.
 */

/** Controls, format characters (bidi overrides, zero-width), line separators, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const familiar: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character as an escape such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** Like `unprintable`, but without line ends, because indented JSON is full of them. */
const unprintableInLine = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--\n]/gv;

/** The same for rendered JSON, whose line ends are kept: escapes inside its strings mean the same to a parser. */
export function printableJson(json: string): string {
  return json.replace(unprintableInLine, escaped);
}

/** JSON has no `\u{…}`: a character outside the basic plane is written as a surrogate pair. */
function escaped(character: string): string {
  return (
    familiar[character] ??
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }).join('')
  );
}

// Shortens a text or a list for reports of limited size, and says so.

/** The printable text, or its beginning. The rest is not converted, because a text may be very long. */
export function clip(text: string, max: number): string {
  const shown = printable(beginning(text, max));
  if (text.length <= max && shown.length <= max) return shown;
  return `${beginning(shown, max)}… (cut, ${text.length} characters in all)`;
}

/** Never ends with half of a surrogate pair, which is not a character. */
function beginning(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}

/** The first few lines, and how many more there are. */
export function firstFew(lines: readonly string[], few = 3): string[] {
  const more = lines.length - few;
  return more <= 1 ? [...lines] : [...lines.slice(0, few), `and ${more} more`];
}

// Quotes a word of a command that trueup proposes, so that text from a user or a damaged file never becomes a command
// itself.

/** Characters without any special meaning in shells. */
const plain = /^[\w@%+:,./-]+$/;

/** The text unchanged, or quoted for POSIX shells; with unprintable characters as escapes in `$'…'`, which bash and zsh support. */
export function shellWord(text: string): string {
  if (plain.test(text)) return text;
  if (printable(text) === text) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${printable(text.replace(/[\\']/g, String.raw`\$&`))}'`;
}
