/**
 * Reads a JSON text in pieces, and keeps only the values that its listener requests.
 * Invariant: it accepts the same texts as `JSON.parse`; its memory does not grow with the text.
 */

/** The path of a value from the root: names of members and indices of lists. */
export type JsonPath = readonly (string | number)[];

/** A requested value is too long to be kept. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

export interface JsonListener {
  /** A value begins, at most `PATH_LIMIT` levels deep. @returns true to request its whole text */
  begin(path: JsonPath, kind: 'object' | 'array' | 'other'): boolean;
  /** The text of a requested value. */
  text(path: JsonPath, text: string): void;
  /** A value ends, at most two levels deep, whose text was not requested. */
  end(path: JsonPath): void;
}

/** The listener gets paths up to this depth; deeper values are checked and skipped. */
const PATH_LIMIT = 4;
const NESTING_LIMIT = 10_000;
/** The largest number of characters of one kept value; bodies of the API have the same limit. */
export const KEPT_LIMIT = 16 * 1024 * 1024;

type State =
  | 'value'
  | 'first item'
  | 'first key'
  | 'key'
  | 'colon'
  | 'after'
  | 'string'
  | 'escape'
  | 'token'
  | 'done';

const TOKEN = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const TOKEN_END = /[\s,\]}]/g;
const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPED = /["\\/bfnrt]/;

export class JsonScanner {
  readonly #listener: JsonListener;
  #state: State = 'value';
  /** The open objects and lists: true for an object, false for a list. */
  readonly #open: boolean[] = [];
  /** The name or index of the current member of each open container, up to `PATH_LIMIT`. */
  readonly #path: (string | number)[] = [];
  /** The value or name that is being kept, with the depth at which it ends. */
  #kept:
    | { readonly pieces: string[]; length: number; readonly depth: number; readonly isName: boolean }
    | undefined;
  #token = '';
  /** The remaining digits of `\uXXXX`. */
  #digits = 0;
  #isName = false;
  #text = '';
  /** Where the kept text begins in the current piece. */
  #keptFrom = 0;

  constructor(listener: JsonListener) {
    this.#listener = listener;
  }

  /** Reads the next piece. @throws SyntaxError, TooLongError */
  push(text: string): void {
    this.#text = text;
    this.#keptFrom = 0;
    let at = 0;
    while (at < text.length) at = this.#step(at);
    const kept = this.#kept;
    if (kept === undefined) return;
    kept.pieces.push(text.slice(this.#keptFrom));
    kept.length += text.length - this.#keptFrom;
    if (kept.length > KEPT_LIMIT) throw new TooLongError(`more than ${KEPT_LIMIT} characters`);
  }

  /** @throws SyntaxError when the text is incomplete */
  end(): void {
    if (this.#state === 'token') this.push(' ');
    if (this.#state !== 'done') throw new SyntaxError('Unexpected end of JSON input');
  }

  #step(at: number): number {
    switch (this.#state) {
      case 'string':
        return this.#readString(at);
      case 'escape':
        return this.#readEscape(at);
      case 'token':
        return this.#readToken(at);
      default:
        return this.#readStructure(at);
    }
  }

  #readStructure(start: number): number {
    const text = this.#text;
    let at = start;
    let code = text.charCodeAt(at);
    while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
    if (at >= text.length) return at;
    const char = text.charAt(at);
    switch (this.#state) {
      case 'first item':
        if (char === ']') return this.#close(at);
        return this.#beginValue(at, char);
      case 'value':
        return this.#beginValue(at, char);
      case 'first key':
        if (char === '}') return this.#close(at);
        return this.#beginName(at, char);
      case 'key':
        return this.#beginName(at, char);
      case 'colon':
        if (char !== ':') throw this.#unexpected(at);
        this.#state = 'value';
        return at + 1;
      case 'after':
        return this.#readAfter(at, char);
      default:
        throw this.#unexpected(at);
    }
  }

  #readAfter(at: number, char: string): number {
    const isObject = this.#open.at(-1) === true;
    if (char === (isObject ? '}' : ']')) return this.#close(at);
    if (char !== ',') throw this.#unexpected(at);
    this.#state = isObject ? 'key' : 'value';
    return at + 1;
  }

  #beginName(at: number, char: string): number {
    if (char !== '"') throw this.#unexpected(at);
    this.#isName = true;
    this.#state = 'string';
    if (this.#kept === undefined && this.#open.length <= PATH_LIMIT) this.#keep(at, true);
    return at + 1;
  }

  #beginValue(at: number, char: string): number {
    if (this.#open.length <= PATH_LIMIT) this.#reportValue(at, char);
    if (char === '{' || char === '[') return this.#openContainer(at, char === '{');
    if (char === '"') {
      this.#isName = false;
      this.#state = 'string';
      return at + 1;
    }
    this.#token = '';
    this.#state = 'token';
    return at;
  }

  #reportValue(at: number, char: string): void {
    const depth = this.#open.length;
    if (this.#open.at(-1) === false) {
      const index = this.#path[depth - 1];
      this.#path[depth - 1] = typeof index === 'number' ? index + 1 : 0;
    }
    if (this.#kept !== undefined) return;
    const kind = char === '{' ? 'object' : char === '[' ? 'array' : 'other';
    this.#path.length = depth;
    if (this.#listener.begin(this.#path, kind)) this.#keep(at, false);
  }

  #openContainer(at: number, isObject: boolean): number {
    if (this.#open.length >= NESTING_LIMIT) throw new SyntaxError(`more than ${NESTING_LIMIT} levels`);
    this.#open.push(isObject);
    if (this.#open.length <= PATH_LIMIT) this.#path.length = this.#open.length - 1;
    this.#state = isObject ? 'first key' : 'first item';
    return at + 1;
  }

  #close(at: number): number {
    this.#open.pop();
    return this.#endValue(at + 1);
  }

  #readString(start: number): number {
    const text = this.#text;
    let at = start;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return this.#endString(at + 1);
      if (code === BACKSLASH) {
        this.#state = 'escape';
        this.#digits = 0;
        return at + 1;
      }
      if (code < 32) throw this.#unexpected(at);
    }
    return at;
  }

  #endString(at: number): number {
    if (!this.#isName) return this.#endValue(at);
    this.#state = 'colon';
    if (this.#kept?.isName) this.#path[this.#open.length - 1] = JSON.parse(this.#takeKept(at)) as string;
    return at;
  }

  #readEscape(at: number): number {
    const char = this.#text.charAt(at);
    if (this.#digits > 0) {
      if (!/[\da-fA-F]/.test(char)) throw this.#unexpected(at);
      this.#digits -= 1;
    } else if (char === 'u') {
      this.#digits = 4;
    } else if (!ESCAPED.test(char)) {
      throw this.#unexpected(at);
    }
    if (this.#digits === 0) this.#state = 'string';
    return at + 1;
  }

  #readToken(at: number): number {
    TOKEN_END.lastIndex = at;
    const end = TOKEN_END.exec(this.#text)?.index ?? this.#text.length;
    this.#token += this.#text.slice(at, end);
    if (this.#token.length > KEPT_LIMIT) throw new TooLongError(`more than ${KEPT_LIMIT} characters`);
    if (end === this.#text.length) return end;
    if (!TOKEN.test(this.#token))
      throw new SyntaxError(`unexpected ${JSON.stringify(this.#token.slice(0, 40))}`);
    return this.#endValue(end);
  }

  /** A value has ended before `at`. */
  #endValue(at: number): number {
    const depth = this.#open.length;
    if (this.#kept?.depth === depth) {
      const text = this.#takeKept(at);
      this.#path.length = depth;
      this.#listener.text(this.#path, text);
    } else if (this.#kept === undefined && depth <= 2) {
      this.#path.length = depth;
      this.#listener.end(this.#path);
    }
    this.#state = depth === 0 ? 'done' : 'after';
    return at;
  }

  #keep(at: number, isName: boolean): void {
    this.#kept = { pieces: [], length: 0, depth: this.#open.length, isName };
    this.#keptFrom = at;
  }

  /** The kept text, which ends before `at`. */
  #takeKept(at: number): string {
    const text = [...(this.#kept?.pieces ?? []), this.#text.slice(this.#keptFrom, at)].join('');
    this.#kept = undefined;
    return text;
  }

  #unexpected(at: number): SyntaxError {
    return new SyntaxError(`unexpected ${JSON.stringify(this.#text.charAt(at))}`);
  }
}
