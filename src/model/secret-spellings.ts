/**
 * The ways in which a secret may stand in a text: as it is, with characters of it escaped as in JSON, as in a JSON pointer or
 * percent-encoded, in base64 by itself or as a part of more, and in hex. Worked out once for each secret, for what is
 * searched may be large.
 */

/** A part of a text; `end` is exclusive. */
export interface Found {
  readonly start: number;
  readonly end: number;
}

/** Finds every place of one secret in a text. */
export type SpellingFinder = (text: string) => Found[];

/** Encodings of fewer characters are found in any text. */
const shortestEncoding = 5;

export function finderOf(secret: string): SpellingFinder {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const encoded = new Set([
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => base64Cores(bytes, before)),
  ]);
  const needles = [...encoded].filter((needle) => needle.length >= shortestEncoding);
  const loose = looseForm(secret);
  const plus = secret.includes(' ');
  return (text) => {
    const isEscaped = /[%\\~]/.test(text) || (plus && text.includes('+'));
    return [
      ...occurrences(text, secret),
      ...needles.flatMap((needle) => occurrences(text, needle).map((found) => widened(text, found))),
      ...(isEscaped ? matches(text, loose) : []),
    ];
  };
}

function occurrences(text: string, needle: string): Found[] {
  const found: Found[] = [];
  for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + 1))
    found.push({ start, end: start + needle.length });
  return found;
}

/** By hand, for `matchAll` compiles a pattern anew each time. @param pattern global */
function matches(text: string, pattern: RegExp): Found[] {
  const found: Found[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    found.push({ start: match.index, end: pattern.lastIndex });
  return found;
}

/**
 * What stands for a secret in base64 whatever surrounds it: the characters that hold bits of it alone.
 * @param before how many bytes stand before it, beyond whole groups of three
 */
function base64Cores(bytes: Buffer, before: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const shared = before === 0 ? 0 : before + 1;
  const core = whole.toString('base64').slice(shared, Math.floor((whole.length * 8) / 6));
  const spelt = (plus: string, slash: string) => core.replaceAll('+', plus).replaceAll('/', slash);
  return [core, spelt('-', '_'), spelt('+', '\\/'), spelt('%2B', '%2F'), spelt('%2b', '%2f')];
}

/** With a character at either end, which may hold some of its bits, and with the padding. */
function widened(text: string, { start, end }: Found): Found {
  const isDigit = (at: number) => /^[\w+/-]$/.test(text.charAt(at));
  let last = isDigit(end) ? end + 1 : end;
  while (text.charAt(last) === '=') last++;
  return { start: isDigit(start - 1) ? start - 1 : start, end: last };
}

/** Each character as it is, as `%XX`, or as `\uXXXX`, and as often escaped again as may be. */
function looseForm(secret: string): RegExp {
  return new RegExp([...secret].map(looseCharacter).join(''), 'g');
}

function looseCharacter(character: string): string {
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${anyCase(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const unicode = units.map((unit) => `\\\\+u${anyCase(unit, 4)}`).join('');
  const plain = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  return `(?:${[plain, percent, unicode, ...(shorthands[character] ?? [])].join('|')})`;
}

/** Hexadecimal digits in capitals or not. */
function anyCase(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Escapes that JSON, its pointers and forms have for some characters, as patterns. */
const shorthands: Readonly<Record<string, readonly string[]>> = {
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
