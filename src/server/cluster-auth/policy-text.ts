/**
 * The two languages of policies, HCL and JSON, read into blocks.
 * Invariant: unknown syntax is refused, and so is a repeated member, except for several blocks of HCL for one path.
 */
import type { ValueOrProblem } from './field-coercion.ts';
import { isObject, repeatsMembers } from './json-values.ts';

/** The content of braces: texts, numbers, booleans, lists and nested blocks. */
export type Block = Readonly<Record<string, unknown>>;

/** Paths with their blocks, in the order in which they are written. */
type Paths = ValueOrProblem<(readonly [path: string, block: Block])[]>;

/** Reads a policy's text. */
export function readPolicyText(text: string): Paths {
  return /^\s*\{/.test(text) ? jsonPaths(text) : hclPaths(text);
}

/** Reads `{"path": {"auth/*": {…}}}`, or the same with a list of such objects of paths. */
function jsonPaths(text: string): Paths {
  const value = parsed(text);
  if (value === undefined) return notJson('an object without repeated names');
  const { path = {}, name: _name, ...more } = value;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return { ok: false, problem: `"${unknown}" is not supported here` };
  const paths: unknown[] = Array.isArray(path) ? path : [path];
  if (!paths.every(isObject)) return notJson('an object of paths, or a list of such objects, at "path"');
  const blocks = paths.flatMap((each) => Object.entries(each));
  const hasBlock = (entry: readonly [string, unknown]): entry is [string, Block] => isObject(entry[1]);
  return blocks.every(hasBlock) ? { ok: true, value: blocks } : notJson('an object for each path');
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !repeatsMembers(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function notJson(wanted: string): Paths {
  return { ok: false, problem: `JSON must have ${wanted}` };
}

/**
 * Blanks and comments match without a group. The groups are a quoted text, an unterminated text or comment, and any other token: a
 * name, a number or a single character.
 */
const TOKEN =
  /\s+|(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\/|("(?:[^"\\\n]|\\.)*")|((?:\/\*|")[\s\S]*)|([A-Za-z_][\w-]*|-?\d+(?:\.\d+)?|[{}[\],=]|.)/gy;

function hclPaths(text: string): Paths {
  const tokens: string[] = [];
  for (const [, quoted, unterminated, other] of text.matchAll(TOKEN)) {
    if (unterminated !== undefined) return notHcl(unterminated.slice(0, 20));
    const token = quoted ?? other;
    if (token !== undefined) tokens.push(token);
  }
  const paths: (readonly [string, Block])[] = [];
  const reader = new Reader(tokens);
  while (!reader.isAtEnd) {
    const [key, second, third] = reader.ahead(3);
    if (key === 'name' && second === '=' && isText(third)) {
      reader.skip(3);
      continue;
    }
    if (key !== 'path' || !isText(second) || third !== '{') return notHcl(key);
    reader.skip(3);
    const block = reader.block();
    if (block === undefined) return notHcl(second);
    paths.push([unquoted(second), block]);
  }
  return { ok: true, value: paths };
}

function notHcl(near: string | undefined): Paths {
  return { ok: false, problem: `it is not understood at ${near ?? 'its end'}` };
}

/** Reads tokens one after the other. Methods return undefined for unexpected tokens. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  ahead(count: number): readonly (string | undefined)[] {
    return this.#tokens.slice(this.#at, this.#at + count);
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** Reads `key = value` and `key { … }` up to the closing brace. Each key may occur once. */
  block(): Block | undefined {
    const members = new Map<string, unknown>();
    for (let key = this.#next(); key !== '}'; key = this.#next()) {
      if (key === ',') continue;
      if (key === undefined || !/^["A-Za-z_]/.test(key) || members.has(plain(key))) return undefined;
      if (this.#tokens[this.#at] === '=') this.#at += 1;
      else if (this.#tokens[this.#at] !== '{') return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      members.set(plain(key), value);
    }
    return Object.fromEntries(members);
  }

  #next(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #value(): unknown {
    const token = this.#next();
    if (token === '{') return this.block();
    if (token === '[') return this.#list();
    if (isText(token)) return unquoted(token);
    if (token === 'true' || token === 'false') return token === 'true';
    return token !== undefined && /^-?\d/.test(token) ? Number(token) : undefined;
  }

  #list(): unknown[] | undefined {
    const values: unknown[] = [];
    while (this.#tokens[this.#at] !== ']') {
      const value = this.#value();
      if (value === undefined) return undefined;
      values.push(value);
      if (this.#tokens[this.#at] === ',') this.#at += 1;
    }
    this.#at += 1;
    return values;
  }
}

function isText(token: string | undefined): token is string {
  return token?.startsWith('"') ?? false;
}

function plain(key: string): string {
  return isText(key) ? unquoted(key) : key;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

function unquoted(token: string): string {
  return token.slice(1, -1).replaceAll(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter);
}
