/**
 * Interprets two conditions of a login as the service does: the namespace selector, whose scalars are strings
 * (wire/cluster-auth 2.5), and the addresses and CIDR blocks that tokens are bound to.
 */
import { isDeepStrictEqual } from 'node:util';
import ipaddr from 'ipaddr.js';
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
import { quoted } from '../../model/quoted.ts';

interface SelectorProblem {
  /** a clause about the selector */
  readonly message: string;
  readonly fix?: string;
}

/** Why the text is refused, by the service or as an obvious mistake; undefined when it is a LabelSelector. */
export function selectorProblem(text: string): SelectorProblem | undefined {
  if (documentEnd(text) !== undefined)
    return { message: 'it contains several documents, of which the service reads only the first' };
  const selector = parse(text);
  if (selector === null) return undefined;
  if (!isMap(selector)) return { message: 'it is not a LabelSelector in JSON or YAML' };
  if (isSet(selector['matchExpressions'])) return { message: 'it has matchExpressions' };
  const unknown = Object.keys(selector).find((name) => !members.has(name));
  if (unknown !== undefined)
    return {
      message: `${quoted(unknown)} is not a field of a LabelSelector, so the service ignores it`,
      fix: 'did you mean "matchLabels"?',
    };
  const labels = selector['matchLabels'];
  if (!isSet(labels)) return undefined;
  if (!isMap(labels)) return { message: 'its matchLabels are not a map of labels' };
  // Scalars are strings by now, or null, which the service stores as an empty string.
  const invalid = Object.entries(labels).find(([, value]) => typeof value === 'object' && value !== null);
  return invalid && { message: `the value of its label ${quoted(invalid[0])} is not a string` };
}

/** True for a selector without labels, which every namespace matches. The empty text is no selector. */
export function selectsEverything(text: string): boolean {
  if (text === '') return false;
  const selector = parse(text);
  if (selector === null) return true;
  if (!isMap(selector) || isSet(selector['matchExpressions'])) return false;
  // It is unknown whether the service ignores the case of member names, so any spelling counts as "matchLabels".
  return Object.entries(selector).every(
    ([name, value]) => name.toLowerCase() !== 'matchlabels' || !isSet(value) || isEmptyMap(value),
  );
}

/** The labels of a selector; none if the text is not a LabelSelector. */
export function selectorLabels(text: string): readonly (readonly [string, string])[] {
  const selector = parse(text);
  const labels = isMap(selector) ? selector['matchLabels'] : undefined;
  return isMap(labels)
    ? Object.entries(labels).map(([name, value]) => [name, labelText(value)] as const)
    : [];
}

/**
 * Whether two texts, in JSON or YAML, have the same labels. A text that the service might read differently than this file is
 * equal only to itself, so that a difference is shown rather than hidden.
 */
export function isSameSelector(one: string, other: string): boolean {
  if (one === other) return true;
  const [some, others] = [one, other].map((text) => (text === '' ? undefined : labelsIn(text)));
  return some !== undefined && others !== undefined && isDeepStrictEqual(some, others);
}

/** The labels of a selector that has nothing else; undefined if a service may read them differently. */
function labelsIn(text: string): Readonly<Record<string, string>> | undefined {
  if (documentEnd(text) !== undefined) return undefined;
  const selector = parse(text);
  if (selector === null) return {};
  if (!isMap(selector) || Object.keys(selector).some((name) => name !== 'matchLabels')) return undefined;
  const labels = selector['matchLabels'] ?? {};
  if (!isMap(labels)) return undefined;
  const known = selectorLabels(text);
  return known.flat().every((word) => isCertain(word, text)) ? Object.fromEntries(known) : undefined;
}

/** Whether every service reads the word in the same way: it is written literally, without escapes. */
function isCertain(word: string, text: string): boolean {
  if (isJson(text)) return true;
  const escaped = word.replaceAll(/\W/gu, '\\$&');
  const written = new RegExp(`(?<![\\w.+-])${escaped}(?![\\w.])`);
  return written.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null|~)$/i.test(word);
}

function labelText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const members: ReadonlySet<string> = new Set(['matchLabels', 'matchExpressions']);

/** The first document; null when it is empty, undefined when it cannot be parsed. */
function parse(text: string): unknown {
  try {
    return readSelectorYaml(text.slice(0, documentEnd(text)));
  } catch {
    return undefined;
  }
}

/** The end of the first of several documents, which may consist of comments only; undefined if there is just one. */
function documentEnd(text: string): number | undefined {
  return /(?<=\n)---[^\S\n]*(#.*)?(?=\n|$)/.exec(text)?.index;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyMap(value: unknown): boolean {
  return isMap(value) && Object.keys(value).length === 0;
}

// The YAML of a namespace selector, read as the service reads it (wire/cluster-auth 2.5). A label is a string, so every scalar
// becomes a string: a number in any notation as decimal digits, a boolean as `true` or `false`, a date as it is written.

/**
 * The first document of a text; null if it is empty. If several members have the same name, the last one counts.
 * @throws an error for text that the service refuses
 */
function readSelectorYaml(text: string): unknown {
  if (tabBeforeToken.test(text)) throw new SyntaxError('a line begins with a tab');
  const [first = null] = loadAll(text, { schema, json: true });
  return first;
}

/** Outside of brackets, the service refuses a tab as indentation. */
const tabBeforeToken = /^(?: *(?:#[^\n]*)?\n)* *\t|\n *\t\s*$/;

const words: readonly (readonly [RegExp, string | null])[] = [
  [/^(?:|~|null|Null|NULL)$/, null],
  [/^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, 'true'],
  [/^(?:[nN]|no|No|NO|false|False|FALSE|off|Off|OFF)$/, 'false'],
  [/^\.(?:nan|NaN|NAN)$/, 'NaN'],
  [/^\+?\.(?:inf|Inf|INF)$/, '+Inf'],
  [/^-\.(?:inf|Inf|INF)$/, '-Inf'],
];

/** Converts a scalar without quotes as the service does. */
function plainText(source: string): string | null {
  const word = words.find(([form]) => form.test(source));
  if (word !== undefined) return word[1];
  const digits = /^[+\-.\d]/.test(source) ? source.replaceAll('_', '') : '';
  const integer = parseInteger(digits);
  if (integer !== undefined) return integer.toString();
  const isFraction = /^[+-]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][+-]?\d+)?$/.test(digits);
  return isFraction ? fractionText(Number(digits)) : source;
}

/** An integer of 64 bits, also in hexadecimal, octal and binary digits. */
function parseInteger(text: string): bigint | undefined {
  const form = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9]\d*)$/;
  const [, sign, size = ''] = form.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const value = BigInt(size.replace(/^0(?=\d)/, '0o'));
  if (value >= 2n ** (sign === '' ? 64n : 63n)) return undefined;
  return sign === '-' ? -value : value;
}

/** The service writes an exponent from 1,000,000 on, and below 0.0001. */
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

// IP addresses and CIDR blocks that tokens are bound to: parses texts, and compares blocks.

/** True for an IPv4 or IPv6 address with or without a prefix length, or with a port, which the service accepts too. */
export function isAddressBlock(text: string): boolean {
  const [address = '', prefix, ...more] = withoutPort(text).split('/');
  if (more.length > 0) return false;
  const bits = addressBits(address);
  if (bits === undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/**
 * The block that the service stores for an IPv4 address written as IPv6 with a prefix below 96; undefined for any other text.
 * The service reads the prefix as one of IPv4, so it would never return the block as declared (wire/cluster-auth 2.4).
 */
export function storedAsIPv4(text: string): string | undefined {
  const [address = '', prefix] = text.split('/');
  if (prefix === undefined || Number(prefix) >= 96 || !ipaddr.IPv6.isValid(address)) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  if (!parsed.isIPv4MappedAddress()) return undefined;
  const plain = parsed.toIPv4Address().toString();
  return Number(prefix) < 32 ? `${plain}/${Number(prefix)}` : plain;
}

/**
 * True when `outer` contains every address of `inner`; false when either is not a block. Ports do not count, and an IPv4 address
 * written as IPv6 counts as the IPv4 address, as in the service (wire/cluster-auth 2.4).
 */
export function containsBlock(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  if (!isAddressBlock(outer) || !isAddressBlock(inner)) return false;
  const [wide, narrow] = [parseBlock(outer), parseBlock(inner)];
  if (wide === undefined || narrow === undefined || wide[0].kind() !== narrow[0].kind()) return false;
  return wide[1] <= narrow[1] && narrow[0].match(wide[0], wide[1]);
}

function withoutPort(text: string): string {
  const [, v4, v6, port] = /^(?:([\d.]+)|\[(.+)\]):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) <= 65_535 ? (v4 ?? v6 ?? text) : text;
}

/** Undefined unless the address has its plain spelling: the parser itself would also read `10` as an address. */
function addressBits(address: string): number | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 32;
  return ipaddr.IPv6.isValid(address) && !address.includes('%') ? 128 : undefined;
}

function parseBlock(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [written = '', writtenPrefix] = withoutPort(text).split('/');
  if (addressBits(written) === undefined) return undefined;
  const address = ipaddr.process(written);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  if (writtenPrefix === undefined) return [address, bits];
  const prefix = Number(writtenPrefix);
  const isMapped = bits === 32 && addressBits(written) === 128;
  // A bug of the service: it applies a prefix below 96 to the IPv4 address itself.
  return [address, Math.min(isMapped && prefix >= 96 ? prefix - 96 : prefix, bits)];
}
