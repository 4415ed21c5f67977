/**
 * Text from outside (live names, values, a service's words) made safe to print. What could move a cursor, hide, or
 * reorder text becomes a visible escape, so that no output holds a control character but the line ends of a layout.
 */

/** Controls, format characters (bidi overrides, zero-width), line separators, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const familiar: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, each unprintable character as an escape such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** The same for finished JSON, whose own line ends stay: escapes inside its strings mean the same to a parser. */
export function printableJson(json: string): string {
  return json.replace(unprintable, (character) => (character === '\n' ? '\n' : escaped(character)));
}

/** JSON has no `\u{…}`: a character beyond the first plane is written as its two halves. */
function escaped(character: string): string {
  return (
    familiar[character] ??
    Array.from({ length: character.length }, (_, index) => {
      return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
    }).join('')
  );
}
