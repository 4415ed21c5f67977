/**
 * From the JSON that a client sends to the type that a field has (wire/cluster-auth 2.4).
 * Invariant: coercion never drops or invents an element; what it cannot read is a problem told to the client.
 * The tails of the problems are our own words: the facts leave them to the original's libraries.
 */
import { parseDuration } from './durations.ts';

/** A value, or why there is none. */
export type Coerced<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

/** Reads one field. `undefined` as value means that the field counts as not sent. */
export type FieldReader<T> = (raw: unknown) => Coerced<T>;

type Readers = Readonly<Record<string, FieldReader<unknown>>>;

/** The fields that were sent, typed by their readers; a key that was not sent is not there. */
export type SentFields<R extends Readers> = {
  readonly [K in keyof R]?: R[K] extends FieldReader<infer T> ? Exclude<T, undefined> : never;
};

/**
 * Reads every field of `body` that has a reader, and leaves the others alone. The first that cannot be read fails the
 * whole, with the text `error converting input for field "NAME": …`.
 */
export function readFields<R extends Readers>(
  readers: R,
  body: Readonly<Record<string, unknown>>,
): Coerced<SentFields<R>> {
  const sent: Record<string, unknown> = {};
  for (const [name, raw] of Object.entries(body)) {
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (reader === undefined) continue;
    const coerced = reader(raw);
    if (!coerced.ok)
      return failed(`error converting input for field ${JSON.stringify(name)}: ${coerced.problem}`);
    if (coerced.value !== undefined) sent[name] = coerced.value;
  }
  return read(sent as SentFields<R>);
}

/** Text stays as it is, untrimmed; numbers become text, booleans `1` and `0`, null becomes empty. */
export const asText: FieldReader<string> = (raw) => {
  if (raw === null) return read('');
  if (typeof raw === 'string') return read(raw);
  if (typeof raw === 'number') return read(String(raw));
  if (typeof raw === 'boolean') return read(raw ? '1' : '0');
  return failed(`expected a string, got ${describe(raw)}`);
};

/** An array, or text split at commas; elements are trimmed, empty ones kept; empty text and null are no elements. */
export const asList: FieldReader<string[]> = (raw) => {
  if (raw === null || raw === '') return read([]);
  const elements: unknown[] = Array.isArray(raw) ? raw : typeof raw === 'string' ? raw.split(',') : [raw];
  const texts: string[] = [];
  for (const element of elements) {
    const text = asText(element);
    if (!text.ok) return failed(`expected a list of strings, got ${describe(element)} in it`);
    texts.push(text.value.trim());
  }
  return read(texts);
};

/** A duration in seconds, from an integer or a text; null counts as not sent. Negative ones are refused. */
export const asDuration: FieldReader<number | undefined> = (raw) => {
  if (raw === null) return read(undefined);
  const seconds = durationIn(raw);
  if (seconds === undefined) return failed(`could not parse duration from ${describe(raw)}`);
  return seconds < 0 ? failed(`cannot provide negative value '${seconds}'`) : read(seconds);
};

/** A whole number, from a number or a text; empty text and null are 0. */
export const asInteger: FieldReader<number> = (raw) => {
  if (raw === null || raw === '') return read(0);
  if (typeof raw === 'boolean') return read(raw ? 1 : 0);
  const number =
    typeof raw === 'number'
      ? raw
      : typeof raw === 'string' && /^[+-]?\d+$/.test(raw)
        ? Number(raw)
        : Number.NaN;
  return Number.isSafeInteger(number)
    ? read(number)
    : failed(`expected a whole number, got ${describe(raw)}`);
};

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** A boolean, or one of its customary spellings; empty text and null are false. */
export const asBoolean: FieldReader<boolean> = (raw) => {
  if (raw === null || raw === '') return read(false);
  if (typeof raw === 'boolean') return read(raw);
  const text = typeof raw === 'number' ? String(raw) : raw;
  const value = typeof text === 'string' ? parseBoolean(text) : undefined;
  return value === undefined ? failed(`expected a boolean, got ${describe(raw)}`) : read(value);
};

/** The boolean that `text` spells, undefined when it spells none; `yes` and `on` are none. */
export function parseBoolean(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}

function durationIn(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw : undefined;
  return typeof raw === 'string' ? parseDuration(raw) : undefined;
}

/** Names what was sent; never repeats more than a short text of it. */
function describe(raw: unknown): string {
  if (Array.isArray(raw)) return 'an array';
  if (raw !== null && typeof raw === 'object') return 'an object';
  return typeof raw === 'string' ? JSON.stringify(raw.slice(0, 40)) : String(raw);
}

function read<T>(value: T): Coerced<T> {
  return { ok: true, value };
}

function failed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}
