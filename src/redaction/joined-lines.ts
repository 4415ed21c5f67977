/**
 * Texts without their line breaks, to find secrets that a program has wrapped into lines. A report may also indent each line, quote it, or
 * mark it as added or removed. In JSON or a URL the line break is an escape.
 */
/** A part of a text; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A shorter secret may be two words, with which one line ends and the next begins. */
export const shortestWrapped = 16;

/** `encodings`: only line breaks inside base64 or hex are removed; `words`: only words with a line break are kept, with separators. */
export type JoinedPart = 'all' | 'words' | 'encodings';

const indentation = String.raw`[ \t]*(?:[-+|>#*]{1,3}[ \t]+)*`;

/** A run of backslashes is only read from its beginning, so that the time stays linear. */
const lineBreak = String.raw`(?:\r\n?|\n|(?<!\\)(?:(?:\\+r)?\\+n|\\+u000[aA])|(?:%0[dD])?%0[aA])`;

/** A line break with the indentation after it. */
const anyBreak = new RegExp(lineBreak + indentation, 'g');

/** Programs wrap base64 and hex into lines of 60 to 76 characters. */
const encodingBreak = new RegExp(String.raw`(?<=[\w+/-]{48})${lineBreak}${indentation}(?=[\w+/-])`, 'g');

const breaksIn = { all: anyBreak, words: anyBreak, encodings: encodingBreak } as const;

/** Between the words of a joined text. */
const separator = '\0';

/** A text without its line breaks. Offsets in it can be converted to those in the original. */
export class JoinedLines {
  readonly text: string;
  readonly #original: string;
  #length = 0;
  /** the kept parts of the original: their offsets in the joined text, and where they begin and end in the original */
  readonly #offsets: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  private constructor(original: string, part: JoinedPart) {
    this.#original = original;
    const breaks = breaksIn[part];
    if (part === 'words') this.#joinWords(breaks);
    else this.#joinAll(breaks);
    this.text = this.#joinedText();
  }

  /** @returns undefined if there are no line breaks to remove */
  static of(text: string, part: JoinedPart): JoinedLines | undefined {
    return text.search(breaksIn[part]) === -1 ? undefined : new JoinedLines(text, part);
  }

  /** The same range in the original, with the line breaks inside it. */
  inOriginal({ start, end }: TextRange): TextRange {
    return { start: this.#originOf(start), end: this.#originOf(end - 1) + 1 };
  }

  #joinAll(breaks: RegExp): void {
    let from = 0;
    for (const { index, 0: found } of this.#original.matchAll(breaks)) {
      this.#add(from, index);
      from = index + found.length;
    }
    this.#add(from, this.#original.length);
  }

  /** Most lines of a report end with another word than the next one begins with: a search in the few long words takes less time. */
  #joinWords(breaks: RegExp): void {
    const text = this.#original;
    let [from, space, first] = [0, text.indexOf(' '), 0];
    const addLine = (end: number) => {
      if (space !== -1 && space < from) space = text.indexOf(' ', from);
      if (space === -1 || space >= end) return this.#add(from, end);
      this.#add(from, space);
      first = this.#endWord(first);
      this.#add(text.lastIndexOf(' ', end - 1) + 1, end);
    };
    for (const { index, 0: found } of text.matchAll(breaks)) {
      addLine(index);
      from = index + found.length;
    }
    addLine(text.length);
    this.#endWord(first);
  }

  /** Drops a word without a line break, or a short one. @param first its first part @returns the first part of the next word */
  #endWord(first: number): number {
    const offset = this.#offsets[first] ?? this.#length;
    if (this.#offsets.length - first > 1 && this.#length - offset >= shortestWrapped) {
      this.#length += separator.length;
      return this.#offsets.length;
    }
    this.#offsets.length = this.#starts.length = this.#ends.length = first;
    this.#length = offset;
    return first;
  }

  #add(start: number, end: number): void {
    if (start >= end) return;
    this.#offsets.push(this.#length);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#length += end - start;
  }

  #joinedText(): string {
    let joined = '';
    for (let at = 0; at < this.#offsets.length; at += 1) {
      if (joined.length < (this.#offsets[at] ?? 0)) joined += separator;
      joined += this.#original.slice(this.#starts[at], this.#ends[at]);
    }
    return joined;
  }

  #originOf(offset: number): number {
    let [low, high] = [0, this.#offsets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#offsets[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset - (this.#offsets[low - 1] ?? 0) + (this.#starts[low - 1] ?? 0);
  }
}
