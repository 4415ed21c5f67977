/** Texts in quotes, as the service quotes what a client sent. */

const SHORT: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  '\\': String.raw`\\`,
  '\x07': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
};

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const PRINTABLE_ASCII = /^[ -~]$/;

/** In double quotes; what cannot be printed is escaped. */
export function quote(text: string): string {
  return quoteWith(text, PRINTABLE);
}

/** In double quotes and ASCII alone. */
export function quoteAscii(text: string): string {
  return quoteWith(text, PRINTABLE_ASCII);
}

function quoteWith(text: string, printable: RegExp): string {
  const characters = [...text].map((character) => {
    const short = SHORT[character];
    if (short !== undefined) return short;
    return printable.test(character) ? character : escaped(character.codePointAt(0) ?? 0);
  });
  return `"${characters.join('')}"`;
}

function escaped(point: number): string {
  const hex = point.toString(16);
  if (point < 0x80) return String.raw`\x${hex.padStart(2, '0')}`;
  return point < 0x1_0000 ? String.raw`\u${hex.padStart(4, '0')}` : String.raw`\U${hex.padStart(8, '0')}`;
}
