/**
 * JSON as the secrets service reads and writes it: of a body the first value counts, numbers keep the digits they came
 * with, and answers escape what HTML would take for markup.
 * Invariant: a number is never rounded on its way from a client to a field and back (wire/cluster-auth 2.1, 2.4).
 */
import { requireWholeCharacters } from '../../well-formed-text.ts';
import { isObject } from './is-object.ts';
import { NumberLiteral } from './number-literal.ts';

/**
 * The first JSON value of a text, its numbers as literals; what stands behind it is not looked at.
 * @throws SyntaxError when there is none, it is broken, or a text in it is no whole characters
 */
export function firstJsonValue(text: string): unknown {
  return JSON.parse(text.slice(0, endOfFirstValue(text)), keepingNumbers);
}

type Source = { readonly source: string };

/** The third argument is newer than TypeScript's declaration of `JSON.parse`. */
function keepingNumbers(this: unknown, key: string, value: unknown, ...[context]: unknown[]): unknown {
  if (typeof value === 'number') return new NumberLiteral((context as Source).source);
  return requireWholeCharacters(key, value);
}

function endOfFirstValue(text: string): number {
  let depth = 0;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[{]|[\]}]|[^\s"[\]{},:]+/gs)) {
    if (token[0] === '{' || token[0] === '[') depth += 1;
    if (token[0] === '}' || token[0] === ']') depth -= 1;
    if (depth <= 0) return token.index + token[0].length;
  }
  return text.length;
}

/** A whole number of 64 bits: a bigint only where a number would not be exact. */
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

/** As kept in the database; `fromStoredText` reads it back. */
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

/** The same value, the members of all objects in it in the order of their names, which is how the service writes its maps. */
export function inOrderOfNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfNames);
  if (!isObject(value)) return value;
  const members = Object.entries(value).toSorted(([one], [other]) =>
    one < other ? -1 : Number(one > other),
  );
  return Object.fromEntries(members.map(([name, inner]) => [name, inOrderOfNames(inner)]));
}
