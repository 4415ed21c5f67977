/**
 * Makes text from outside (live names, values, a service's words) safe to print. Characters that could move a cursor, or hide
 * or reorder text become visible escapes, so that line ends of the layout are the only control characters in any output.
 */

/** Controls, format characters (bidi overrides, zero-width), line separators, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const familiar: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character as an escape such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** The same for rendered JSON, whose line ends are kept: escapes inside its strings mean the same to a parser. */
export function printableJson(json: string): string {
  return json.replace(unprintable, (character) => (character === '\n' ? '\n' : escaped(character)));
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
