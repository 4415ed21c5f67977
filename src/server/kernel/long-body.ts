/**
 * Bodies of the few endpoints that accept long ones: JSON whose members hold files in Base64.
 * Invariant: a long text is never copied as a whole, so the memory holds a body only once.
 */
import { randomUUID } from 'node:crypto';
import { parseJson } from './well-formed-text.ts';

/** A state of 256 MiB in Base64, and the other members. */
export const LONG_BODY_LIMIT_BYTES = 384 * 1024 * 1024;

/** A text that is longer stays in the bytes of its body. */
const LONG_BYTES = 1024 * 1024;
const SLICE_BYTES = 1024 * 1024;
const QUOTE = 34;
const BACKSLASH = 92;

/** A long text of a body. */
export class LongText {
  /** The bytes between the quotes. */
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The decoded bytes, piece by piece; characters outside of Base64 are ignored. @throws SyntaxError for a broken escape */
  *fromBase64(): Generator<Buffer> {
    let letters = '';
    for (const text of this.#slices()) {
      letters += text.replaceAll(/[^\w+/-]/g, '');
      const whole = letters.length - (letters.length % 4);
      yield Buffer.from(letters.slice(0, whole), 'base64');
      letters = letters.slice(whole);
    }
    yield Buffer.from(letters, 'base64');
  }

  /** The text in slices, with escapes decoded. Characters beyond ASCII are not in Base64, so their encoding does not matter. */
  *#slices(): Generator<string> {
    let rest = '';
    for (let at = 0; at < this.#bytes.length; at += SLICE_BYTES) {
      const slice = rest + this.#bytes.toString('latin1', at, at + SLICE_BYTES);
      const broken = /\\(?:u[\da-fA-F]{0,3})?$/.exec(slice)?.[0] ?? '';
      rest = broken;
      const text = slice.slice(0, slice.length - broken.length);
      yield text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
    }
    if (rest !== '') throw new SyntaxError('a broken escape');
  }
}

/** The value of a JSON text in UTF-8, with its long texts as `LongText`. @throws SyntaxError */
export function parseLongJson(body: Buffer): unknown {
  const mark = `long text ${randomUUID()} `;
  const { text, long } = withoutLongTexts(body, mark);
  return withLongTexts(parseJson(text), (value) => {
    const place = value.startsWith(mark) ? Number(value.slice(mark.length)) : -1;
    return long[place];
  });
}

/** The JSON text with a mark and a number in place of each long text. */
function withoutLongTexts(body: Buffer, mark: string): { text: string; long: readonly LongText[] } {
  const pieces: string[] = [];
  const long: LongText[] = [];
  let taken = 0;
  for (let start = body.indexOf(QUOTE); start !== -1; ) {
    const end = endOfText(body, start + 1);
    if (end - start > LONG_BYTES) {
      pieces.push(body.toString('utf8', taken, start + 1), mark, String(long.length));
      long.push(new LongText(body.subarray(start + 1, end)));
      taken = end;
    }
    start = body.indexOf(QUOTE, end + 1);
  }
  pieces.push(body.toString('utf8', taken));
  return { text: pieces.join(''), long };
}

/** The index of the quote that ends a text, or the length of the body if no quote does. */
function endOfText(body: Buffer, start: number): number {
  for (let quote = body.indexOf(QUOTE, start); quote !== -1; quote = body.indexOf(QUOTE, quote + 1)) {
    let escapes = 0;
    while (body[quote - 1 - escapes] === BACKSLASH && quote - 1 - escapes >= start) escapes += 1;
    if (escapes % 2 === 0) return quote;
  }
  return body.length;
}

function withLongTexts(value: unknown, longText: (text: string) => LongText | undefined): unknown {
  if (typeof value === 'string') return longText(value) ?? value;
  if (Array.isArray(value)) return value.map((item: unknown) => withLongTexts(item, longText));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withLongTexts(member, longText)]),
  );
}
