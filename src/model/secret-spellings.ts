/**
 * Finds a secret in a text in any of its spellings: plain, escaped as in JSON or a JSON pointer, percent-encoded, in base64
 * alone or as a part of more bytes, and in hex. The patterns are made once for each secret, because texts may be large.
 */

/** A part of a text; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Finds every place of one secret in a text. */
export type SecretFinder = (text: string) => TextRange[];

/** Shorter encodings would be found in any text by chance. */
const shortestEncoding = 5;

export function makeFinder(secret: string): SecretFinder {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = new Set([
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Cores(bytes, before)),
  ]);
  const needles = [...encoded].filter((needle) => needle.length >= shortestEncoding);
  const escaped = escapedPattern(secret);
  const plus = secret.includes(' ');
  return (text) => {
    const isEscaped = /[%\\~]/.test(text) || (plus && text.includes('+'));
    return [
      ...occurrences(text, secret),
      ...needles.flatMap((needle) => occurrences(text, needle).map((found) => withEdges(text, found))),
      ...(isEscaped ? matches(text, escaped) : []),
    ];
  };
}

function occurrences(text: string, needle: string): TextRange[] {
  const found: TextRange[] = [];
  for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + 1))
    found.push({ start, end: start + needle.length });
  return found;
}

/** Not by `matchAll`, which compiles the pattern again each time. @param pattern with the flag `g` */
function matches(text: string, pattern: RegExp): TextRange[] {
  const found: TextRange[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    found.push({ start: match.index, end: pattern.lastIndex });
  return found;
}

/**
 * The base64 characters that hold only bits of the secret, and so do not depend on the bytes around it.
 * @param before number of bytes before the secret, modulo three
 */
function base64Cores(bytes: Buffer, before: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const shared = before === 0 ? 0 : before + 1;
  const core = whole.toString('base64').slice(shared, Math.floor((whole.length * 8) / 6));
  const spelt = (plus: string, slash: string) => core.replaceAll('+', plus).replaceAll('/', slash);
  return [core, spelt('-', '_'), spelt('+', '\\/'), spelt('%2B', '%2F'), spelt('%2b', '%2f')];
}

/** Adds one character at each end, which may hold some bits of the secret, and the padding. */
function withEdges(text: string, { start, end }: TextRange): TextRange {
  const isDigit = (at: number) => /^[\w+/-]$/.test(text.charAt(at));
  let last = isDigit(end) ? end + 1 : end;
  while (text.charAt(last) === '=') last++;
  return { start: isDigit(start - 1) ? start - 1 : start, end: last };
}

/** Matches each character plain, as `%XX` or as `\uXXXX`, escaped any number of times. */
function escapedPattern(secret: string): RegExp {
  return new RegExp([...secret].map(escapedCharacter).join(''), 'g');
}

function escapedCharacter(character: string): string {
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${anyCase(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const unicode = units.map((unit) => `\\\\+u${anyCase(unit, 4)}`).join('');
  const plain = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  return `(?:${[plain, percent, unicode, ...(shortEscapes[character] ?? [])].join('|')})`;
}

/** A pattern for hexadecimal digits in upper or lower case. */
function anyCase(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Patterns for the short escapes of JSON, JSON pointers and HTML forms. */
const shortEscapes: Readonly<Record<string, readonly string[]>> = {
  '"': ['\\\\+"'],
  '/': ['\\\\+/', '~1'],
  '\\': ['\\\\{2,}'],
  '\b': ['\\\\+b'],
  '\f': ['\\\\+f'],
  '\n': ['\\\\+n', '%(?:25)*0[dD]%(?:25)*0[aA]'],
  '\r': ['\\\\+r'],
  '\t': ['\\\\+t'],
  ' ': ['\\+'],
  '~': ['~0'],
};
