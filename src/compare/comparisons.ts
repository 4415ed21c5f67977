/**
 * The comparisons that fields can use, and the canonical form of a whole spec. Equal canonical forms mean equal values, and the
 * conversion is idempotent. Values that the schema of a kind would refuse are returned unchanged, except secrets, whose values
 * are never returned.
 */
import ipaddr from 'ipaddr.js';
import { parseDuration } from '../model/duration.ts';
import type { Comparison, Field, FieldChange, FieldTable, Shape } from '../model/field.ts';
import { canonicalText, isJsonObject, type Json } from '../model/json.ts';
import type { Spec } from '../model/resource.ts';
import { summarizeSecret } from '../redaction/mask-text.ts';

/** The canonical form of a field's value; `null` becomes the field's default if there is one. */
export function canonicalValue(field: Field, value: Json): Json {
  if (value === null && field.default !== undefined) return canonicalDefault(field);
  if (field.members !== undefined && isJsonObject(value)) return canonicalSpec(field.members, value);
  return field.compare.canonical(value);
}

/** The canonical value for `null`, and for an absent field of a kind whose absent fields are reset. */
export function canonicalDefault(field: Field): Json {
  return field.default === undefined || field.default === null
    ? field.compare.canonical(null)
    : canonicalValue(field, field.default);
}

/** The canonical form of a spec: only the fields of the table, in the table's order. */
export function canonicalSpec(table: FieldTable, spec: Spec): Spec {
  const canonical: Record<string, Json> = {};
  for (const name in table) {
    const [field, value] = [table[name], spec[name]];
    if (field !== undefined && value !== undefined) canonical[name] = canonicalValue(field, value);
  }
  return canonical;
}

/**
 * The complete content after these changes are made to the live spec: every field, missing ones at their defaults.
 * The ledger keeps it for kinds whose deletion requires proof that the resource was not changed since.
 */
export function contentAfter(
  table: FieldTable,
  live: Spec | undefined,
  changes: readonly FieldChange[],
): Spec {
  const content: Record<string, Json> = {};
  for (const [name, field] of Object.entries(table)) {
    if (field.local || field.writeOnly) continue;
    const value = live?.[name];
    const before = value === undefined ? canonicalDefault(field) : canonicalValue(field, value);
    content[name] = changes.filter(({ path }) => path[0] === name).reduce(withChange, before);
  }
  return content;
}

function withChange(value: Json, { path, after }: FieldChange): Json {
  const [, member] = path;
  if (member === undefined) return after ?? null;
  const { [member]: _, ...rest } = isJsonObject(value) ? value : {};
  return after === undefined ? rest : { ...rest, [member]: after };
}

function comparison(shape: Shape, canonical: (value: Json) => Json): Comparison {
  return { shape, canonical: (value) => (value === null ? null : canonical(value)) };
}

function byText(one: Json, other: Json): number {
  const [a, b] = [canonicalText(one), canonicalText(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function unique(values: readonly Json[]): Json[] {
  return [...new Map(values.map((value) => [canonicalText(value), value])).values()].sort(byText);
}

/** A list, or text split at commas as the secrets service does (wire/cluster-auth 2.4). */
function elements(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? item.trim() : item));
  if (value === '' || value === null) return [];
  return typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value];
}

/** Equal when identical. */
export const scalar: Comparison = { shape: 'scalar', canonical: (value) => value };

/** Text for people, shown as a text diff; the service returns either `""` or `null` for an absent text. */
export const text: Comparison = { shape: 'text', canonical: (value) => (value === '' ? null : value) };

/** One word that the service returns as `""` or `null` when unset. */
export const optionalText: Comparison = {
  shape: 'scalar',
  canonical: (value) => (value === '' ? null : value),
};

/** One word. The secrets service returns `""`, or nothing, if the word is the default. */
export function wordOr(defaultWord: string): Comparison {
  return { shape: 'scalar', canonical: (value) => (value === null || value === '' ? defaultWord : value) };
}

/** Order and repetition count. */
export const list: Comparison = {
  shape: 'list',
  canonical: (value) => (value === null ? [] : [...elements(value)]),
};

/** Order and repetition do not count; `null` is the empty set. */
export const set: Comparison = {
  shape: 'set',
  canonical: (value) => (value === null ? [] : unique(elements(value))),
};

/** A map whose keys users choose, each compared by itself. `null` values are empty text. */
export const stringMap: Comparison = {
  shape: 'map',
  canonical: (value) => {
    if (!isJsonObject(value)) return {};
    const isCanonical = Object.values(value).every((member: Json) => typeof member === 'string');
    if (isCanonical) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, member === null ? '' : `${String(member)}`]),
    );
  },
};

/** Seconds, however written: `3600`, `"3600"`, `"1h"`, `"1h30m"`, `"7d"`; empty is 0. */
export const duration: Comparison = comparison('duration', (value) => {
  if (value === '') return 0;
  return typeof value === 'number' || typeof value === 'string' ? (parseDuration(value) ?? value) : value;
});

/** RFC 3339 with a zone: without one, the text would mean different moments on different machines. */
const moment = /^(\d{4})-(\d{2})-(\d{2})[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})$/;

/** Milliseconds since 1970; undefined for an invalid moment, such as one on February 30. */
export function parseMoment(text: string): number | undefined {
  const [, year, month, day] = moment.exec(text) ?? [];
  const parsed = Date.parse(text);
  if (day === undefined || Number.isNaN(parsed)) return undefined;
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > lastDay ? undefined : parsed;
}

/** A moment in any spelling, to the minute: the service cuts seconds off (wire/workspaces 2.1). */
export const minute: Comparison = comparison('scalar', (value) => {
  const parsed = typeof value === 'string' ? parseMoment(value) : undefined;
  return parsed === undefined ? value : new Date(Math.floor(parsed / 60_000) * 60_000).toISOString();
});

/**
 * CIDR blocks as the secrets service returns them: a single host without its suffix, host bits kept, IPv4-mapped IPv6
 * addresses as IPv4 (wire/cluster-auth 2.4).
 */
export const cidrSet: Comparison = {
  shape: 'set',
  canonical: (value) => (value === null ? [] : unique(elements(value).map((item) => canonicalCidr(item)))),
};

function canonicalCidr(value: Json): Json {
  if (typeof value !== 'string') return value;
  const [, v4, v6, port] = /^(?:([\d.]+)|\[(.+)\]):(\d{1,5})$/.exec(value.trim()) ?? [];
  return port === undefined ? canonicalBlock(value) : withPort(v4 ?? v6 ?? '', Number(port), value);
}

/** The canonical form of an address with a port, which the service accepts as well; port 0 means no port. */
function withPort(address: string, port: number, written: string): string {
  if (!isAddress(address) || port > 65_535) return written.trim();
  const canonical = canonicalBlock(address);
  if (port === 0) return canonical;
  return canonical.includes(':') ? `[${canonical}]:${port}` : `${canonical}:${port}`;
}

function canonicalBlock(value: string): string {
  const [text = '', prefix, ...more] = value.trim().split('/');
  const written = more.length === 0 && isAddress(text) ? ipaddr.parse(text) : undefined;
  if (written === undefined) return value.trim();
  const mapped = written instanceof ipaddr.IPv6 && written.isIPv4MappedAddress();
  const address = mapped ? written.toIPv4Address() : written;
  const length = prefixLength(prefix, bitsOf(written));
  const kept = mapped ? length - mappedBits : length;
  // A text that is not a block stays unchanged: the service treats it as the path of a socket, or as another block.
  if (Number.isNaN(kept) || kept < 0) return value.trim();
  return kept === bitsOf(address) ? address.toString() : `${address.toString()}/${kept}`;
}

type IpAddress = ReturnType<typeof ipaddr.parse>;

/** Length in bits of the prefix that marks an IPv4-mapped IPv6 address. */
const mappedBits = 96;

/** Whether a text is an address in a usual spelling: the parser itself would also read `10` as an address. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));
}

function bitsOf(address: IpAddress): number {
  return address.kind() === 'ipv4' ? 32 : 128;
}

/** NaN for a text that is not a prefix length of an address with this number of bits. */
function prefixLength(prefix: string | undefined, bits: number): number {
  if (prefix === undefined) return bits;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? Number(prefix) : Number.NaN;
}

function canonicalPem(value: Json): Json {
  if (typeof value !== 'string') return value;
  return value
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .trim();
}

/** PEM text: line ends and surrounding white space do not count. */
export const pem: Comparison = {
  shape: 'text',
  canonical: (value) => (value === null ? '' : canonicalPem(value)),
};

/** Several PEM texts in any order: the service accepts a signature by any of the keys. */
export const pemSet: Comparison = {
  shape: 'set',
  canonical: (value) => {
    if (value === null || value === '') return [];
    return unique((Array.isArray(value) ? value : [value]).map(canonicalPem).filter((item) => item !== ''));
  },
};

/** A structure that changes only as a whole. */
export const wholeValue: Comparison = { shape: 'scalar', canonical: (value) => value };

/** A secret: only `{ set, version }` and the name of its source are compared and shown, never the value. */
export const secretVersion: Comparison = comparison('secret', (value) => ({
  version: 1,
  ...summarizeSecret(value),
}));
