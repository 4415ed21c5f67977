/**
 * The YAML of a namespace selector, read as the service reads it (wire/cluster-auth 2.5): a label is a text, so every
 * scalar is one: a number in decimal digits whatever its notation, a boolean, a date as it is written.
 */
import {
  defineMappingTag,
  defineScalarTag,
  loadAll,
  mapTag,
  mergeTag,
  Schema,
  seqTag,
  strTag,
} from 'js-yaml';

/**
 * The first document of a text; null where it is empty. Of several members of one name the last counts.
 * @throws an error for what the service refuses
 */
export function readSelectorYaml(text: string): unknown {
  if (tabBeforeToken.test(text)) throw new SyntaxError('a line begins with a tab');
  const [first = null] = loadAll(text, { schema, json: true });
  return first;
}

/** The service takes no tab for a blank at the beginning of a line outside of brackets. */
const tabBeforeToken = /^(?: *(?:#[^\n]*)?\n)* *\t|\n *\t\s*$/;

const words: readonly (readonly [RegExp, string | null])[] = [
  [/^(?:|~|null|Null|NULL)$/, null],
  [/^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, 'true'],
  [/^(?:[nN]|no|No|NO|false|False|FALSE|off|Off|OFF)$/, 'false'],
  [/^\.(?:nan|NaN|NAN)$/, 'NaN'],
  [/^\+?\.(?:inf|Inf|INF)$/, '+Inf'],
  [/^-\.(?:inf|Inf|INF)$/, '-Inf'],
];

/** What the service makes of a scalar without quotes. */
function plainText(source: string): string | null {
  const word = words.find(([form]) => form.test(source));
  if (word !== undefined) return word[1];
  const digits = /^[+\-.\d]/.test(source) ? source.replaceAll('_', '') : '';
  const whole = wholeNumber(digits);
  if (whole !== undefined) return whole.toString();
  const isFraction = /^[+-]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][+-]?\d+)?$/.test(digits);
  return isFraction ? fractionText(Number(digits)) : source;
}

/** Of 64 bits, also in hexadecimal, octal and binary digits. */
function wholeNumber(text: string): bigint | undefined {
  const form = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9]\d*)$/;
  const [, sign, size = ''] = form.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const value = BigInt(size.replace(/^0(?=\d)/, '0o'));
  if (value >= 2n ** (sign === '' ? 64n : 63n)) return undefined;
  return sign === '-' ? -value : value;
}

/** The service writes an exponent from a million on, and below a ten thousandth. */
function fractionText(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const sign = power < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

const core = 'tag:yaml.org,2002:';
const readOnly = { identify: () => false };

const plainTag = (name: string, implicit: boolean) =>
  defineScalarTag<string | null>(core + name, { ...readOnly, implicit, resolve: plainText });

/** The service ignores a tag that it does not know. */
const anyTag = ['!', 'tag:'].flatMap((prefix) => [
  defineScalarTag(prefix, { ...readOnly, matchByTagPrefix: true, resolve: (source) => source }),
  defineMappingTag(prefix, { ...mapTag, matchByTagPrefix: true }),
]);

const schema = new Schema([
  strTag,
  seqTag,
  mapTag,
  mergeTag,
  plainTag('int', true),
  ...['float', 'bool', 'null', 'timestamp'].map((name) => plainTag(name, false)),
  defineScalarTag(`${core}binary`, {
    ...readOnly,
    resolve: (source) => Buffer.from(source, 'base64').toString('utf8'),
  }),
  ...anyTag,
]);
