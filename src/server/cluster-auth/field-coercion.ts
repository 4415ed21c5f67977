/**
 * Converts the JSON of a request to the types of fields (wire/cluster-auth 2.4). Coercion never drops or invents an element; a value
 * that it cannot read is an error for the client. Numbers are literals (`json-values.ts`), so that a text field keeps the digits.
 */
import { parsePrefixed, readDuration } from './durations.ts';
import { type Int64, int64, isObject, NumberLiteral } from './json-values.ts';

/** A value, or the error. */
export type ValueOrProblem<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** Reads one field. `undefined` as value means that the field counts as not sent. */
export type FieldReader<T> = (raw: unknown) => ValueOrProblem<T>;

type Readers = Readonly<Record<string, FieldReader<unknown>>>;

/** The fields that were sent, typed by their readers; other keys are absent. */
export type SentFields<R extends Readers> = {
  readonly [K in keyof R]?: R[K] extends FieldReader<infer T> ? Exclude<T, undefined> : never;
};

/**
 * Reads every field of `body` that has a reader, and ignores the others. The first field that cannot be read is the error,
 * with the text `error converting input for field "NAME": …`.
 */
export function readFields<R extends Readers>(
  readers: R,
  body: Readonly<Record<string, unknown>>,
): ValueOrProblem<SentFields<R>> {
  const sent: Record<string, unknown> = {};
  for (const [name, raw] of Object.entries(body)) {
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (reader === undefined) continue;
    const coerced = reader(raw);
    if (!coerced.ok)
      return failed(`error converting input for field ${JSON.stringify(name)}: ${coerced.problem}`);
    if (coerced.value !== undefined) sent[name] = coerced.value;
  }
  return succeeded(sent as SentFields<R>);
}

/** Text stays unchanged and untrimmed; numbers become their text, booleans `1` and `0`, null becomes empty. */
export const asText: FieldReader<string> = (raw) => {
  const text = textOf(raw);
  return text === undefined ? failed(unconvertible('string', raw)) : succeeded(text);
};

/** An array, or text split at commas. Elements are trimmed, empty ones are kept; empty text and null give an empty list. */
export const asList: FieldReader<string[]> = (raw) => {
  if (raw === null || raw === '' || isEmptyObject(raw)) return succeeded([]);
  const text = raw instanceof NumberLiteral ? raw.text : raw;
  const elements: unknown[] = Array.isArray(text)
    ? text
    : typeof text === 'string'
      ? text.split(',')
      : [text];
  const texts: string[] = [];
  for (const [index, element] of elements.entries()) {
    const one = textOf(element);
    if (one === undefined) return failed(unconvertible('string', element, `[${index}]`));
    texts.push(trimSpace(one));
  }
  return succeeded(texts);
};

/** A duration in seconds, from an integer or a text; null counts as not sent. Negative ones are refused. */
export const asDuration: FieldReader<number | undefined> = (raw) => {
  if (raw === null) return succeeded(undefined);
  const text = raw instanceof NumberLiteral ? raw.text : raw;
  if (typeof text !== 'string') return failed('could not parse duration from input');
  const duration = readDuration(text);
  if ('problem' in duration) return failed(duration.problem);
  const { seconds } = duration;
  return seconds < 0 ? failed(`cannot provide negative value '${seconds}'`) : succeeded(seconds);
};

/** A whole number of 64 bits, from a number or a text; empty text and null are 0. */
export const asInteger: FieldReader<Int64> = (raw) => {
  if (raw === null || raw === '') return succeeded(0);
  if (typeof raw === 'boolean') return succeeded(raw ? 1 : 0);
  const text = raw instanceof NumberLiteral ? raw.text : raw;
  if (typeof text !== 'string') return failed(unconvertible('int', raw));
  const value = parsePrefixed(text);
  if (value !== undefined) return succeeded(int64(value));
  const isTooLarge = /^[+-]?\d+$/.test(text);
  return failed(unparsable('int', 'ParseInt', isTooLarge ? 'value out of range' : 'invalid syntax'));
};

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** A boolean, or one of its usual spellings; empty text and null are false. */
export const asBoolean: FieldReader<boolean> = (raw) => {
  if (raw === null || raw === '') return succeeded(false);
  if (typeof raw === 'boolean') return succeeded(raw);
  const text = raw instanceof NumberLiteral ? raw.text : raw;
  if (typeof text !== 'string') return failed(unconvertible('bool', raw));
  const value = parseBoolean(text);
  return value === undefined ? failed(unparsable('bool', 'ParseBool', 'invalid syntax')) : succeeded(value);
};

/** Texts by name, from an object or from `name=text` elements; null and empty text give an empty object. */
export const asPairs: FieldReader<Readonly<Record<string, string>>> = (raw) => {
  if (isObject(raw)) {
    const pairs = Object.entries(raw).map(([name, value]) => [name, textOf(value)] as const);
    const invalid = pairs.find(([, value]) => value === undefined);
    return invalid === undefined
      ? succeeded(Object.fromEntries(pairs) as Record<string, string>)
      : failed(`invalid key pair ${JSON.stringify(invalid[0])}`);
  }
  const list = asList(raw);
  if (!list.ok) return list;
  const invalid = list.value.find((pair) => !/^[^=]+=/.test(pair));
  if (invalid !== undefined) return failed(`invalid key pair ${JSON.stringify(invalid)}`);
  return succeeded(Object.fromEntries(list.value.map((pair) => pair.split(/=(.*)/s).slice(0, 2))));
};

/** The boolean of a text; undefined for any other text, `yes` and `on` included. */
export function parseBoolean(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}

function textOf(raw: unknown): string | undefined {
  if (raw === null) return '';
  if (typeof raw === 'string') return raw;
  if (raw instanceof NumberLiteral) return raw.text;
  return typeof raw === 'boolean' ? String(Number(raw)) : undefined;
}

/** The blanks that the service trims: those of Unicode, except the byte order mark. */
const BLANK = /[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;

/** Uses no regular expression, because one for trailing blanks would take quadratic time. */
function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANK.test(text.charAt(start))) start += 1;
  while (end > start && BLANK.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isEmptyObject(raw: unknown): boolean {
  return isObject(raw) && Object.keys(raw).length === 0;
}

/** The error of a value of the wrong type. It names only the type of the value, because the value may be a secret. */
function unconvertible(wanted: string, raw: unknown, place = ''): string {
  const type = Array.isArray(raw) ? '[]interface {}' : isObject(raw) ? 'map[string]interface {}' : typeof raw;
  return `'${place}' expected type '${wanted}', got unconvertible type '${type}'`;
}

function unparsable(wanted: string, parser: string, why: string): string {
  return `'' cannot parse value as '${wanted}': strconv.${parser}: ${why}`;
}

function succeeded<T>(value: T): ValueOrProblem<T> {
  return { ok: true, value };
}

function failed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

// Quotes texts that a client sent, as the service does.

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  '\\': String.raw`\\`,
  '\x07': String.raw`\a`,
  '\b': String.raw`\b`,
  '\f': String.raw`\f`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
  '\v': String.raw`\v`,
};

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const PRINTABLE_ASCII = /^[ -~]$/;

/** The text in double quotes; characters that cannot be printed are escaped. */
export function quote(text: string): string {
  return quoteWith(text, PRINTABLE);
}

/** The text in double quotes; all characters outside of printable ASCII are escaped. */
export function quoteAscii(text: string): string {
  return quoteWith(text, PRINTABLE_ASCII);
}

function quoteWith(text: string, printable: RegExp): string {
  const characters = [...text].map((character) => {
    const short = SHORT_ESCAPES[character];
    if (short !== undefined) return short;
    return printable.test(character) ? character : escaped(character.codePointAt(0) ?? 0);
  });
  return `"${characters.join('')}"`;
}

function escaped(point: number): string {
  const hex = point.toString(16);
  if (point < 0x80) return String.raw`\x${hex.padStart(2, '0')}`;
  return point < 0x1_0000 ? String.raw`\u${hex.padStart(4, '0')}` : String.raw`\U${hex.padStart(8, '0')}`;
}
