/**
 * JSON as the secrets service reads and writes it: only the first value of a body counts, numbers keep the digits that were sent,
 * and answers escape HTML (wire/cluster-auth 2.1, 2.4).
 */
import { requireWellFormedText } from '../kernel/well-formed-text.ts';

/** A body with more content than any client needs: reading it would delay all other requests. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

/** The most names and values that a body may have. Roles and configs have some hundreds. */
export const MAX_PARTS = 100_000;

/** The limits of bodies in one dialect. */
export interface JsonLimits {
  /** The most strings, names of members included; undefined: no limit. */
  readonly maxStrings: number | undefined;
  /** How deep values may be nested. */
  readonly maxNesting: number;
}

const NO_LIMITS: JsonLimits = { maxStrings: undefined, maxNesting: 300 };

/**
 * The first JSON value of a text, its numbers as literals; the rest is not read.
 * @throws SyntaxError when the value is missing or broken, or has a text with half of a surrogate pair; JsonLimitError when it
 * exceeds the limits
 */
export function firstJsonValue(text: string, limits = NO_LIMITS): unknown {
  return JSON.parse(text.slice(0, endOfFirstValue(text, limits)), keepingNumbers);
}

/**
 * The text of the first JSON value.
 * @throws as `firstJsonValue`
 */
export function firstJsonText(text: string): string {
  const first = text.slice(0, endOfFirstValue(text, NO_LIMITS));
  JSON.parse(first);
  return first;
}

type Source = { readonly source: string };

/** A reviver of `JSON.parse`. The third argument is newer than TypeScript's declaration. */
function keepingNumbers(this: unknown, key: string, value: unknown, ...[context]: unknown[]): unknown {
  if (typeof value === 'number') return new NumberLiteral((context as Source).source);
  return requireWellFormedText(key, value);
}

const TOO_MANY_TEXTS = 'refused JSON input due to high complexity: exceeded maximum number of strings';

/** A bracket, the opening quote of a text, or another scalar. `endOfText` finds the end of a text. */
const PART = /["[\]{}]|[^\s"[\]{},:]+/g;

function endOfFirstValue(
  text: string,
  { maxStrings = Number.POSITIVE_INFINITY, maxNesting }: JsonLimits,
): number {
  const part = new RegExp(PART);
  let [depth, parts, texts] = [0, 0, 0];
  for (let found = part.exec(text); found !== null; found = part.exec(text)) {
    const [token] = found;
    if (token === '"') {
      part.lastIndex = endOfText(text, found.index);
      texts += 1;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    else parts += 1;
    if (texts > maxStrings) throw new JsonLimitError(TOO_MANY_TEXTS);
    if (parts > MAX_PARTS || depth > maxNesting)
      throw new JsonLimitError('failed to decode JSON input: there is too much in it');
    if (depth <= 0) return part.lastIndex;
  }
  return text.length;
}

/** The index after the closing quote, or the end of the text if that is missing. */
function endOfText(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text[first - 1] === '\\') first -= 1;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** A whole number of 64 bits: a bigint only if a number would not be exact. */
export type Int64 = number | bigint;

export function int64(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const escaped: Readonly<Record<string, string>> = {
  '<': String.raw`\u003c`,
  '>': String.raw`\u003e`,
  '&': String.raw`\u0026`,
  '\u2028': String.raw`\u2028`,
  '\u2029': String.raw`\u2029`,
};

/** The text of an answer; large whole numbers are written with all of their digits. */
export function jsonText(value: unknown): string {
  return storedText(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escaped[character] ?? character);
}

type RawJson = { rawJSON(text: string): unknown };

/** The text to store in the database; `fromStoredText` reads it back. */
export function storedText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(inner)) : inner,
  );
}

export function fromStoredText(text: string): unknown {
  return JSON.parse(text, function (this: unknown, _key: string, value: unknown, ...[context]: unknown[]) {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return int64(BigInt((context as Source).source));
  });
}

/** The same value with the members of all objects sorted by name, as the service writes its maps. */
export function inOrderOfNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfNames);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) =>
    one < other ? -1 : Number(one > other),
  );
  return Object.fromEntries(members.map(([name, inner]) => [name, inOrderOfNames(inner)]));
}

// Numbers that keep the digits of the request (wire/cluster-auth 2.4).

/** A number of a body, as it was written: `1.50` and `1.5` differ. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): number {
    return Number(this.text);
  }
}

// Type guards for JSON objects, for values from requests.

/** Whether the value is a JSON object, and not a list, null or a number. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof NumberLiteral)
  );
}

// Detects JSON that two parsers could read differently.

/**
 * Whether any object in a JSON text has a member twice: JSON.parse keeps the last one, other parsers keep the first.
 * @param value the parsed text
 */
export function repeatsMembers(text: string, value: unknown): boolean {
  const written = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  return written !== countMembers(value);
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  return members.reduce<number>(
    (sum, member) => sum + countMembers(member),
    Array.isArray(value) ? 0 : members.length,
  );
}
