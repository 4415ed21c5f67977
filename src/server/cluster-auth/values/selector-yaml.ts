/**
 * YAML as the service's library reads it for a field of texts (wire/cluster-auth 2.5).
 * Invariant: each scalar becomes the text that the service makes of it, or null; a mapping keeps all of its pairs in their
 * order, repeated names included.
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

import { parsePrefixed } from './integers.ts';

/** A mapping: its names and values in their order. */
export class Pairs {
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
 * The value of a document: a text, null, a list or `Pairs`; undefined where there is nothing.
 * @throws an error for what the service cannot read
 */
export function readYaml(document: string): unknown {
  if (TAB_BEFORE_TOKEN.test(document)) throw new SyntaxError('a tab cannot begin a line');
  return loadAll(document, { schema: SCHEMA, json: true })[0];
}

/** In front of the first token, and behind the last one, a line has no tab in its indentation. */
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

/** The text of a scalar without quotes: of numbers in whatever notation, booleans and null; dates stay as they are written. */
function textOfPlain(source: string): string | null {
  const named = NAMED.get(source);
  if (named !== undefined) return named;
  if (!/^[+\-.\d]/.test(source)) return source;
  const digits = source.replaceAll('_', '');
  const whole = parsePrefixed(digits) ?? largeWhole(digits);
  if (whole !== undefined) return String(whole);
  return FLOAT.test(digits) ? textOfFloat(Number(digits)) : source;
}

/** Without a sign, 64 bits hold twice as much. */
function largeWhole(digits: string): bigint | undefined {
  const whole = /^[1-9]\d*$/.test(digits) ? BigInt(digits) : undefined;
  return whole === undefined || whole >= 2n ** 64n ? undefined : whole;
}

/** With as few digits as tell it apart, and with an exponent from a million on and below a ten thousandth. */
function textOfFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = Object.is(value, -0) ? '-' : '';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return sign + String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const TYPES = 'tag:yaml.org,2002:';

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

/** Types that the service does not know change nothing. */
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
