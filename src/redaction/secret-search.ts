/**
 * Finds a secret in a text in any of its spellings: plain, escaped as in JSON or a JSON pointer, percent-encoded, in base64
 * alone or as a part of more bytes, and in hex. A text can be read in several ways at once; the time grows linearly with the text,
 * for any length of the secret.
 */
import { JoinedLines, type JoinedPart, shortestWrapped, type TextRange } from './joined-lines.ts';
import { backslash, hasEscapedWords, readSpellings, startsOfSpellings } from './spellings.ts';

interface Found {
  start: number;
  end: number;
}

/** How many readings are followed at one offset. There are more only where a secret repeats itself and its own escapes. */
const maxReadings = 4;

/** Finds a sequence of UTF-16 units in all readings of a text, with the algorithm of Knuth, Morris and Pratt. */
class Matcher {
  readonly #units: Uint16Array;
  readonly #fallbacks: Int32Array;
  #least = 0;
  #found: Found[] = [];
  // A node is a reading of the text up to an offset: how many units of the sequence it ends with, and the node before its last unit.
  #lengths: number[] = [];
  #offsets: number[] = [];
  #before: number[] = [];
  #offset = 0;
  /** nodes at the current offset, at the next one, and at those beyond */
  #current: number[] = [];
  #next: number[] = [];
  readonly #later = new Map<number, number[]>();

  /** @param units a backslash is never followed by another: a run counts as one, because each level of escaping doubles it */
  constructor(units: Uint16Array) {
    this.#units = units;
    this.#fallbacks = fallbacksOf(units);
  }

  /** @param least length of a beginning that counts as found */
  begin(least: number): void {
    this.#least = Math.min(least, this.#units.length);
    this.#found = [];
    this.#later.clear();
    this.#next = [];
    this.startAt(0);
    this.#current = [];
  }

  /** Sorted, without overlaps. */
  found(): Found[] {
    return this.#found;
  }

  /** @returns false when no reading matches so far; then `startAt` continues where one may begin */
  moveTo(offset: number): boolean {
    this.#offset = offset;
    let nodes = this.#next;
    this.#next = [];
    const escapes = this.#later.get(offset);
    if (escapes !== undefined) {
      this.#later.delete(offset);
      // Escapes come first: of two readings of equal length, the one with its backslash is kept.
      for (const node of nodes) this.#arrive(escapes, node);
      nodes = escapes;
    }
    this.#current = nodes;
    for (const node of nodes) if ((this.#lengths[node] ?? 0) >= this.#least) this.#report(node);
    if (nodes.length > 0) return true;
    if (this.#later.size === 0) return false;
    nodes.push(this.#node(0, offset, -1));
    return true;
  }

  startAt(offset: number): void {
    this.#offset = offset;
    this.#lengths.length = this.#offsets.length = this.#before.length = 0;
    this.#current = [this.#node(0, offset, -1)];
  }

  /** Reads one or two units, which end at an offset. */
  read(end: number, unit: number, second?: number): void {
    for (const node of this.#current) {
      const first = this.#after(node, unit, end);
      const last = first === -1 || second === undefined ? first : this.#after(first, second, end);
      if (last === -1) continue;
      if (end === this.#offset + 1) this.#arrive(this.#next, last);
      else {
        const nodes = this.#later.get(end);
        if (nodes === undefined) this.#later.set(end, [last]);
        else this.#arrive(nodes, last);
      }
    }
  }

  #node(length: number, offset: number, before: number): number {
    this.#offsets.push(offset);
    this.#before.push(before);
    return this.#lengths.push(length) - 1;
  }

  /** The node after one more unit; -1 when it does not end with a beginning of the sequence. */
  #after(node: number, unit: number, end: number): number {
    const [units, fallbacks] = [this.#units, this.#fallbacks];
    let length = this.#lengths[node] ?? 0;
    if (unit === backslash && length > 0 && units[length - 1] === backslash)
      return this.#node(length, end, this.#before[node] ?? -1);
    while (length >= 0 && units[length] !== unit) length = fallbacks[length] ?? -1;
    return length < 0 ? -1 : this.#node(length + 1, end, node);
  }

  /** Adds a node, unless one of the same length is there. Of too many nodes, the shortest is dropped. */
  #arrive(nodes: number[], node: number): void {
    const length = this.#lengths[node] ?? 0;
    let smallest = 0;
    for (const [at, other] of nodes.entries()) {
      const otherLength = this.#lengths[other] ?? 0;
      if (otherLength === length) return;
      if (otherLength < (this.#lengths[nodes[smallest] ?? 0] ?? 0)) smallest = at;
    }
    if (nodes.length < maxReadings) nodes.push(node);
    else if ((this.#lengths[nodes[smallest] ?? 0] ?? 0) < length) nodes[smallest] = node;
  }

  /** Walks back to the first unit, or to the last reported end, so that all walks together are linear in the text. */
  #report(node: number): void {
    const last = this.#found.at(-1);
    const reported = last?.end ?? -1;
    let at = node;
    let left = this.#lengths[node] ?? 0;
    for (; left > 0 && (this.#offsets[at] ?? 0) > reported; left--) at = this.#before[at] ?? -1;
    const [start, end] = [this.#offsets[at] ?? 0, this.#offsets[node] ?? 0];
    if (last === undefined || (left === 0 && start >= reported)) this.#found.push({ start, end });
    else last.end = end;
  }
}

/** For each matched length, the next shorter one to continue with if the next unit does not match; -1 for none. */
function fallbacksOf(units: Uint16Array): Int32Array {
  const fallbacks = new Int32Array(units.length + 1);
  fallbacks[0] = -1;
  let shorter = 0;
  for (let at = 1; at < units.length; at++, shorter++) {
    if (units[at] === units[shorter]) fallbacks[at] = fallbacks[shorter] ?? -1;
    else {
      fallbacks[at] = shorter;
      while (shorter >= 0 && units[at] !== units[shorter]) shorter = fallbacks[shorter] ?? -1;
    }
  }
  if (units.length > 0) fallbacks[units.length] = shorter;
  return fallbacks;
}

/** A text in which several secrets are searched. What is derived from it is computed on demand, and once. */
export class SearchedText {
  readonly text: string;
  #hasEscapedWords: boolean | undefined;
  readonly #joined = new Map<JoinedPart, JoinedText | undefined>();

  constructor(text: string) {
    this.text = text;
  }

  get hasEscapedWords(): boolean {
    this.#hasEscapedWords ??= hasEscapedWords(this.text);
    return this.#hasEscapedWords;
  }

  /** The text without its line breaks; undefined if there are none. */
  joined(part: JoinedPart): JoinedText | undefined {
    if (!this.#joined.has(part)) {
      const lines = JoinedLines.of(this.text, part);
      this.#joined.set(part, lines && { lines, searched: new SearchedText(lines.text) });
    }
    return this.#joined.get(part);
  }
}

interface JoinedText {
  readonly lines: JoinedLines;
  readonly searched: SearchedText;
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
  const findEncoded = (text: SearchedText, shortest?: number): TextRange[] => {
    const found: TextRange[] = [];
    for (const pattern of hex)
      for (const range of pattern.find(text, shortest && shortest * 2)) found.push(range);
    for (const pattern of base64)
      for (const range of pattern.find(text, shortest && Math.ceil((shortest * 4) / 3)))
        found.push(withEdges(text.text, range));
    return found;
  };
  const joinedSecret = JoinedLines.of(secret, 'all')?.text ?? secret;
  const wrapped = joinedSecret === secret ? plain : new Pattern(joinedSecret);
  const part = joinedSecret.includes(' ') ? 'all' : 'words';
  return (text, shortest) => {
    const found = [...plain.find(text, shortest), ...findEncoded(text, shortest)];
    const encoded = text.joined('encodings');
    if (encoded !== undefined)
      for (const range of findEncoded(encoded.searched, shortest))
        found.push(encoded.lines.inOriginal(range));
    const joined = wrapped.length < shortestWrapped ? undefined : text.joined(part);
    if (joined !== undefined)
      for (const range of wrapped.find(joined.searched, shortest && Math.max(shortest, shortestWrapped)))
        found.push(joined.lines.inOriginal(range));
    return found;
  };
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

/** Maps equal characters of an encoding to one: base64 for URLs has two other digits, hex has both cases. */
const folds = {
  none: (unit: number) => unit,
  base64: (unit: number) => (unit === 0x2d ? 0x2b : unit === 0x5f ? 0x2f : unit),
  hex: (unit: number) => (unit >= 0x41 && unit <= 0x46 ? unit + 0x20 : unit),
} as const;

/** The maximal length of the word that the quick check searches. */
const wordLength = 32;

const nothing: readonly TextRange[] = [];

/** One text to find in all spellings of its characters. */
class Pattern {
  readonly length: number;
  readonly #text: string;
  readonly #encoding: keyof typeof folds;
  #prepared: { readonly matcher: Matcher; readonly starts: RegExp } | undefined;
  /** the word that the quick check searches, for beginnings of this length */
  #word: { readonly least: number; readonly part: string } | undefined;

  constructor(text: string, encoding: keyof typeof folds = 'none') {
    this.#text = text;
    this.#encoding = encoding;
    this.length = text.length;
  }

  /** Sorted, without overlaps. @param shortest also find beginnings of this length; by default only the whole text */
  find(searched: SearchedText, shortest = this.length): readonly TextRange[] {
    const least = Math.min(shortest, this.length);
    if (least === 0 || searched.text.length < least || !this.#mayBeIn(searched, least)) return nothing;
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

  /** Compiled on demand: most secrets are in no text. */
  #prepare(): { readonly matcher: Matcher; readonly starts: RegExp } {
    const fold = folds[this.#encoding];
    const units = Uint16Array.from({ length: this.#text.length }, (_, at) => fold(this.#text.charCodeAt(at)));
    return {
      matcher: new Matcher(units.filter((unit, at) => unit !== backslash || units[at - 1] !== backslash)),
      starts: startsOfSpellings(units[0] ?? 0, fold),
    };
  }

  /** A quick check that searches one word of the pattern: letters and digits are seldom escaped, and never in encodings. */
  #mayBeIn({ text, hasEscapedWords: isAnyEscaped }: SearchedText, least: number): boolean {
    if (isAnyEscaped && this.#encoding === 'none') return true;
    if (this.#word?.least !== least) this.#word = { least, part: this.#longestWord(least) };
    const { part } = this.#word;
    return text.includes(part) || (this.#encoding === 'hex' && text.includes(part.toUpperCase()));
  }

  #longestWord(least: number): string {
    const words = this.#text.slice(0, Math.min(least, 4 * wordLength)).match(/[a-z\d]+/gi) ?? [];
    const longest = words.reduce((longest, next) => (next.length > longest.length ? next : longest), '');
    return longest.slice(0, wordLength);
  }
}
