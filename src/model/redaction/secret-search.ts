/**
 * Finds a secret in a text in any of its spellings: plain, escaped as in JSON or a JSON pointer, percent-encoded, in base64
 * alone or as a part of more bytes, and in hex. The time grows linearly with the text, whatever the length of the secret.
 */
import { Matcher } from './matcher.ts';
import { backslash, hasEscapedWords, readSpellings, startsOfSpellings } from './spellings.ts';

/** A part of a text; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A text in which several secrets are searched. */
export interface SearchedText {
  readonly text: string;
  readonly hasEscapedWords: boolean;
}

export function searchedText(text: string): SearchedText {
  return { text, hasEscapedWords: hasEscapedWords(text) };
}

/**
 * Finds every place of one secret in a text.
 * @param shortest also find beginnings of the secret, from this number of characters on
 */
export type SecretFinder = (text: SearchedText, shortest?: number) => TextRange[];

/** Shorter encodings would be found in any text by chance. */
const shortestEncoding = 5;

export function makeFinder(secret: string): SecretFinder {
  const bytes = Buffer.from(secret);
  const plain = new Pattern(secret);
  const isFindable = ({ length }: Pattern) => length >= shortestEncoding;
  const hex = [new Pattern(bytes.toString('hex'), 'hex')].filter(isFindable);
  const base64 = [0, 1, 2]
    .map((before) => new Pattern(base64Core(bytes, before), 'base64'))
    .filter(isFindable);
  return (text, shortest) => [
    ...plain.find(text, shortest),
    ...hex.flatMap((pattern) => pattern.find(text, shortest && shortest * 2)),
    ...base64.flatMap((pattern) =>
      pattern
        .find(text, shortest && Math.ceil((shortest * 4) / 3))
        .map((found) => withEdges(text.text, found)),
    ),
  ];
}

/**
 * The base64 characters that hold only bits of the secret, and so do not depend on the bytes around it.
 * @param before number of bytes before the secret, modulo three
 */
function base64Core(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const shared = before === 0 ? 0 : before + 1;
  return whole.toString('base64').slice(shared, Math.floor((whole.length * 8) / 6));
}

/** Adds one character at each end, which may hold some bits of the secret, and the padding. */
function withEdges(text: string, { start, end }: TextRange): TextRange {
  const isDigit = (at: number) => /^[\w+/-]$/.test(text.charAt(at));
  let last = isDigit(end) ? end + 1 : end;
  while (text.charAt(last) === '=') last++;
  return { start: isDigit(start - 1) ? start - 1 : start, end: last };
}

/** Which characters of an encoding mean the same: base64 for URLs has two other digits, hex has both cases. */
const folds = {
  none: (unit: number) => unit,
  base64: (unit: number) => (unit === 0x2d ? 0x2b : unit === 0x5f ? 0x2f : unit),
  hex: (unit: number) => (unit >= 0x41 && unit <= 0x46 ? unit + 0x20 : unit),
} as const;

/** The part of a word that is searched first. */
const wordLength = 32;

/** One text to find in all spellings of its characters. */
class Pattern {
  readonly length: number;
  readonly #text: string;
  readonly #encoding: keyof typeof folds;
  #prepared: { readonly matcher: Matcher; readonly starts: RegExp } | undefined;

  constructor(text: string, encoding: keyof typeof folds = 'none') {
    this.#text = text;
    this.#encoding = encoding;
    this.length = text.length;
  }

  /** Sorted, without overlaps. @param shortest length of a beginning; without it only the whole is found */
  find(searched: SearchedText, shortest = this.length): TextRange[] {
    const least = Math.min(shortest, this.length);
    if (least === 0 || searched.text.length < least || !this.#mayBeIn(searched, least)) return [];
    const fold = folds[this.#encoding];
    this.#prepared ??= this.#prepare();
    const { matcher, starts } = this.#prepared;
    const { text } = searched;
    matcher.begin(least);
    for (let at = 0; at <= text.length; ) {
      if (!matcher.moveTo(at)) {
        starts.lastIndex = at;
        const start = starts.exec(text)?.index;
        if (start === undefined) break;
        at = start;
        matcher.startAt(at);
      }
      at = readSpellings(text, at, (end, unit, second) => matcher.read(end, fold(unit), second));
    }
    return matcher.found();
  }

  /** Compiled when a text may have it: most secrets are in no text. */
  #prepare(): { readonly matcher: Matcher; readonly starts: RegExp } {
    const fold = folds[this.#encoding];
    const units = Uint16Array.from({ length: this.#text.length }, (_, at) => fold(this.#text.charCodeAt(at)));
    return {
      matcher: new Matcher(units.filter((unit, at) => unit !== backslash || units[at - 1] !== backslash)),
      starts: startsOfSpellings(units[0] ?? 0, fold),
    };
  }

  /** A quick look for a word of it: letters and digits are seldom escaped, and in encodings never. */
  #mayBeIn({ text, hasEscapedWords: isAnyEscaped }: SearchedText, least: number): boolean {
    if (isAnyEscaped && this.#encoding === 'none') return true;
    const words = this.#text.slice(0, Math.min(least, 4 * wordLength)).match(/[a-z\d]+/gi) ?? [];
    const word = words.reduce((longest, next) => (next.length > longest.length ? next : longest), '');
    const part = word.slice(0, wordLength);
    return text.includes(part) || (this.#encoding === 'hex' && text.includes(part.toUpperCase()));
  }
}
