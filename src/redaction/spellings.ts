/**
 * The ways to read the characters of a text: as they are, or as escapes of JSON, of URLs, of forms, of JSON pointers and of HTML, at
 * any depth (`\\\"`, `%2525`, `&amp;#43;`). Which one is meant is not known, so each possible reading is reported.
 */

/** Receives one reading: the offset after it, and one or two UTF-16 units. */
type Read = (end: number, unit: number, second?: number) => void;

export const backslash = 0x5c;
const [percent, plus, tilde, ampersand] = [0x25, 0x2b, 0x7e, 0x26];

/** The escapes of JSON: the unit of each, by its last character. */
const jsonEscapes: Readonly<Record<string, number>> = {
  '"': 0x22,
  "'": 0x27,
  '/': 0x2f,
  b: 0x08,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
};

/** A global pattern for the characters with which a spelling of the unit can begin. @param fold maps equal characters to one */
export function startsOfSpellings(unit: number, fold: (unit: number) => number): RegExp {
  const ascii = Array.from({ length: 128 }, (_, code) => code);
  const starts = new Set([
    unit,
    backslash,
    percent,
    ampersand,
    ...ascii.filter((code) => fold(code) === unit),
  ]);
  if (unit === 0x2f) starts.add(tilde);
  if (unit === 0x20) starts.add(plus);
  return new RegExp(
    `[${[...starts].map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')}]`,
    'g',
  );
}

/** The named character references that encoders of HTML write. */
const namedReferences: Readonly<Record<string, number>> = {
  amp: ampersand,
  lt: 0x3c,
  gt: 0x3e,
  quot: 0x22,
  apos: 0x27,
};

/** How often an escape of a URL or of HTML may itself be encoded. */
const maxDepth = 8;

/** A letter or a digit that is written as an escape. */
const escapedWord =
  /(?:%(?:25){0,8}|\\u00|(?:&|\\u0026)(?:amp;){0,8}#x0*)(?:3\d|[46][1-9a-f]|[57][\da])|(?:&|\\u0026)(?:amp;){0,8}#0*(?:4[89]|5[0-7]|6[5-9]|[78]\d|9[0789]|1[01]\d|12[0-2]);/i;

export function hasEscapedWords(text: string): boolean {
  return /[%\\&]/.test(text) && escapedWord.test(text);
}

/** Reports each reading of what begins at `at`. @returns the next offset where a reading can begin */
export function readSpellings(text: string, at: number, read: Read): number {
  if (at >= text.length) return at + 1;
  const unit = text.charCodeAt(at);
  if (unit === backslash) return readBackslashes(text, at, read);
  read(at + 1, unit);
  if (unit === percent) readPercents(text, at, read);
  else if (unit === ampersand) readReference(text, at + 1, read);
  else if (unit === plus) read(at + 1, 0x20);
  else if (unit === tilde) {
    const digit = text.charCodeAt(at + 1);
    if (digit === 0x30) read(at + 2, tilde);
    else if (digit === 0x31) read(at + 2, 0x2f);
  }
  return at + 1;
}

/** A run of backslashes is one backslash, the escape of what follows, or both. */
function readBackslashes(text: string, at: number, read: Read): number {
  let end = at + 1;
  while (text.charCodeAt(end) === backslash) end++;
  read(end, backslash);
  const letter = text.charAt(end);
  const escaped = jsonEscapes[letter];
  if (escaped !== undefined) read(end + 1, escaped);
  const unit = letter === 'u' ? unitAt(text, end + 1) : undefined;
  if (unit !== undefined) read(end + 5, unit);
  if (unit === ampersand) readReference(text, end + 5, read);
  if (end - at === 1) return end;
  read(end - 1, backslash);
  return end - 1;
}

const reference =
  /(?:amp;){0,8}(?:#0{0,8}(?<decimal>\d{1,7})|#x0{0,8}(?<hex>[\da-f]{1,6})|(?<name>amp|lt|gt|quot|apos));/iy;

/** A character reference of HTML. @param from the offset after its ampersand */
function readReference(text: string, from: number, read: Read): void {
  reference.lastIndex = from;
  const { decimal, hex, name } = reference.exec(text)?.groups ?? {};
  const point =
    decimal === undefined
      ? hex === undefined
        ? namedReferences[name?.toLowerCase() ?? '']
        : Number.parseInt(hex, 16)
      : Number(decimal);
  if (point === undefined || point > 0x10_ffff) return;
  const character = String.fromCodePoint(point);
  const second = character.length === 2 ? [character.charCodeAt(1)] : [];
  read(reference.lastIndex, character.charCodeAt(0), ...second);
}

function unitAt(text: string, at: number): number | undefined {
  const digits = text.slice(at, at + 4);
  return /^[\da-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

/** `%2541` may mean "%41" or, encoded twice, "A". */
function readPercents(text: string, at: number, read: Read): void {
  for (let digits = at + 1; digits <= at + 1 + 2 * maxDepth; digits += 2) {
    const byte = byteAt(text, digits);
    if (byte === undefined) return;
    const end = digits + 2;
    if (byte < 0x80) read(end, byte);
    else readMultibyte(text, end, byte, read);
    // A form has "\r\n" for a line feed.
    if (byte === 0x0d) {
      const next = percentByteAt(text, end);
      if (next?.byte === 0x0a) read(next.end, 0x0a);
    }
    if (byte !== percent) return;
  }
}

/** A character of two to four bytes in UTF-8, the first of which was read. */
function readMultibyte(text: string, from: number, lead: number, read: Read): void {
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const bytes = [lead];
  let end = from;
  while (bytes.length < length) {
    const next = percentByteAt(text, end);
    if (next === undefined) return;
    bytes.push(next.byte);
    end = next.end;
  }
  const encoded = Buffer.from(bytes);
  const character = encoded.toString();
  if (!Buffer.from(character).equals(encoded)) return;
  const second = character.length === 2 ? [character.charCodeAt(1)] : [];
  read(end, character.charCodeAt(0), ...second);
}

/** A byte as `%XX`, which may itself be encoded. */
function percentByteAt(text: string, at: number): { byte: number; end: number } | undefined {
  if (text.charCodeAt(at) !== percent) return undefined;
  let digits = at + 1;
  while (digits < at + 2 * maxDepth && byteAt(text, digits) === percent) digits += 2;
  const byte = byteAt(text, digits);
  return byte === undefined ? undefined : { byte, end: digits + 2 };
}

function byteAt(text: string, at: number): number | undefined {
  const [high, low] = [digitOf(text.charCodeAt(at)), digitOf(text.charCodeAt(at + 1))];
  return high === undefined || low === undefined ? undefined : high * 16 + low;
}

function digitOf(unit: number): number | undefined {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
