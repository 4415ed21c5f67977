/**
 * The namespace selector of a role: a label selector of the cluster, written as JSON or YAML, and read as the service's library
 * reads it (wire/cluster-auth 2.5, step 9). Only labels select; members that the service does not know are ignored,
 * and a selector without labels selects every namespace.
 */
import {
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  loadAll,
  mergeTag,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';
import { parsePrefixed } from './durations.ts';
import { firstJsonText } from './json-values.ts';

type Labels = Readonly<Record<string, string>>;

/** The labels that a namespace must have, or undefined for a text that the service refuses. */
export function matchLabelsIn(text: string): Labels | undefined {
  const json = /^\s*\{/.test(text) ? attempt(() => firstJsonText(text)) : BROKEN;
  // Tabs between JSON values become blanks; within a JSON text, tabs are always escaped.
  if (typeof json === 'string') return selectedBy(attempt(() => readYaml(json.replaceAll('\t', ' '))));
  const [first = ''] = text.split(/\n---[^\n]*(?:\n|$)/);
  return selectedBy(withoutRepetitions(attempt(() => readYaml(first))));
}

const BROKEN = Symbol('broken');

function attempt<T>(read: () => T): T | typeof BROKEN {
  try {
    return read();
  } catch {
    return BROKEN;
  }
}

/** The selector as the service reads it from YAML: of repeated members only the last one, and all in the order of their names. */
function withoutRepetitions(selector: unknown): unknown {
  if (!(selector instanceof Pairs)) return selector;
  const sorted = [...new Map(selector.entries)].toSorted(([one], [other]) =>
    String(one) < String(other) ? -1 : 1,
  );
  return Pairs.of(sorted);
}

/**
 * The labels of a parsed selector, none for an absent or null one; undefined for an invalid one. Members whose names differ only in
 * case are merged; a null among them drops those before it.
 */
function selectedBy(selector: unknown): Labels | undefined {
  if (selector === null || selector === undefined) return {};
  if (!(selector instanceof Pairs)) return undefined;
  const members = selector.entries.map(([name, value]) => [foldedText(name), value] as const);
  const hasExpressions = members.some(([name, value]) => name === 'matchexpressions' && value !== null);
  if (hasExpressions || members.some(([name]) => name === undefined)) return undefined;
  const given = members.flatMap(([name, value]) => (name === 'matchlabels' ? [value] : []));
  const parts = given.slice(given.lastIndexOf(null) + 1).map(labelsOf);
  return parts.every((part) => part !== undefined) ? Object.assign({}, ...parts) : undefined;
}

function foldedText(name: unknown): string | undefined {
  return typeof name === 'string' ? foldedName(name) : undefined;
}

/** The labels in a mapping; undefined if a label is a list or an object. A null becomes an empty text. */
function labelsOf(value: unknown): Labels | undefined {
  if (!(value instanceof Pairs)) return undefined;
  const labels = value.entries.map(([name, label]) => [name, label ?? ''] as const);
  return labels.every((pair): pair is [string, string] => pair.every((each) => typeof each === 'string'))
    ? Object.fromEntries(labels)
    : undefined;
}

/** A name in folded case, as the service's library compares it: `ſ` counts as `s`, and the Kelvin sign as `k`. */
export function foldedName(name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}

// YAML as the service's library reads it into a field whose values are texts (wire/cluster-auth 2.5).
// Invariant: each scalar becomes the same text as in the service, or null; a mapping keeps all of its pairs in order,
// including repeated names.

/** A mapping: its names and values in their order. */
class Pairs {
  readonly entries: [unknown, unknown][] = [];

  static of(entries: Iterable<[unknown, unknown]>): Pairs {
    const pairs = new Pairs();
    pairs.entries.push(...entries);
    return pairs;
  }

  get(name: unknown): unknown {
    return this.entries.findLast(([each]) => each === name)?.[1];
  }
}

/**
 * The value of a document: a text, null, a list or `Pairs`; undefined for an empty document.
 * @throws an error for a text that the service cannot read
 */
function readYaml(document: string): unknown {
  if (TAB_BEFORE_TOKEN.test(document)) throw new SyntaxError('a tab cannot begin a line');
  return loadAll(document, { schema: SCHEMA, json: true })[0];
}

/** A tab in the indentation before the first token or after the last one. */
const TAB_BEFORE_TOKEN = /^(?: *(?:#[^\n]*)?\n)* *\t|\n *\t\s*$/;

const NAMED: ReadonlyMap<string, string | null> = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, 'true'] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, 'false'] as const,
  ),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, 'NaN'] as const),
  ...['.inf', '.Inf', '.INF'].flatMap((word) => [
    [word, '+Inf'] as const,
    [`+${word}`, '+Inf'] as const,
    [`-${word}`, '-Inf'] as const,
  ]),
]);

const FLOAT = /^[+-]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][+-]?\d+)?$/;

/** The text of a scalar without quotes. Numbers and booleans get their canonical form, null stays null, and dates stay as written. */
function textOfPlain(source: string): string | null {
  const named = NAMED.get(source);
  if (named !== undefined) return named;
  if (!/^[+\-.\d]/.test(source)) return source;
  const digits = source.replaceAll('_', '');
  const whole = parsePrefixed(digits) ?? largeWhole(digits);
  if (whole !== undefined) return String(whole);
  return FLOAT.test(digits) ? textOfFloat(Number(digits)) : source;
}

/** The value of a whole number that fits into 64 bits without a sign; undefined for any other text. */
function largeWhole(digits: string): bigint | undefined {
  const whole = /^[1-9]\d*$/.test(digits) ? BigInt(digits) : undefined;
  return whole === undefined || whole >= 2n ** 64n ? undefined : whole;
}

/** The shortest digits that identify the number, with an exponent if its size is at least 1,000,000 or below 0.0001. */
function textOfFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = Object.is(value, -0) ? '-' : '';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return sign + String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const TYPES = 'tag:yaml.org,2002:';

/** js-yaml calls `identify` when it writes YAML. The tags here are only for reading. */
const loadedOnly = { identify: () => false };

const textTag = (type: string, implicit = false) =>
  defineScalarTag<string | null>(TYPES + type, { ...loadedOnly, implicit, resolve: textOfPlain });

const binaryTag = defineScalarTag(`${TYPES}binary`, {
  ...loadedOnly,
  resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
});

const pairing = {
  ...loadedOnly,
  create: () => new Pairs(),
  addPair: (pairs: Pairs, name: unknown, value: unknown) => {
    pairs.entries.push([name, value]);
    return '';
  },
  has: (pairs: Pairs, name: unknown) => pairs.entries.some(([each]) => each === name),
  keys: (pairs: Pairs) => pairs.entries.map(([name]) => name),
  get: (pairs: Pairs, name: unknown) => pairs.get(name),
};

/** A value with an unknown tag is read as if it had none. */
const unknownTypes = ['!', 'tag:'].flatMap((prefix) => [
  defineScalarTag(prefix, { ...loadedOnly, matchByTagPrefix: true, resolve: (source) => source }),
  defineSequenceTag(prefix, { ...seqTag, matchByTagPrefix: true }),
  defineMappingTag(prefix, { ...pairing, matchByTagPrefix: true }),
]);

const SCHEMA = new Schema([
  strTag,
  seqTag,
  mergeTag,
  defineMappingTag(`${TYPES}map`, pairing),
  textTag('int', true),
  ...['float', 'bool', 'null', 'timestamp'].map((type) => textTag(type)),
  binaryTag,
  ...unknownTypes,
]);
