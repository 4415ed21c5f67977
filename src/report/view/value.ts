/**
 * Formats a value before any layout. All returned text is printable; of a secret it contains only whether it is set, its
 * version and its source.
 */
import { formatDuration } from '../../model/duration.ts';
import type { Shape } from '../../model/field.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { summarizeSecret } from '../../redaction/mask-text.ts';
import { printable } from './printable.ts';

/** A value ready for layout: one word, items that may wrap, or lines that may not. */
export type ShownValue =
  | { readonly as: 'word'; readonly text: string }
  | { readonly as: 'items'; readonly items: readonly string[] }
  | { readonly as: 'lines'; readonly lines: readonly string[] };

const absent = '(absent)';
export const unknown = '(unknown)';
const none = '(none)';

/** The value in its most compact complete form. */
export function formatValue(value: Json | undefined, shape: Shape): ShownValue {
  if (shape === 'secret' || value === undefined || value === null) return word(value, shape);
  if (typeof value === 'string' && shape === 'text' && value.includes('\n')) {
    return { as: 'lines', lines: textLines(value) };
  }
  if (Array.isArray(value) && value.length > 0) return formatArray(value);
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    return Object.values(value).every(isScalar)
      ? { as: 'items', items: members(value) }
      : { as: 'lines', lines: jsonLines(value) };
  }
  return word(value, shape);
}

/** The value on one line of any length: `1h30m`, `[a, b]`, `{branch: main}`, `set (version 2)`. */
export function formatInline(value: Json | undefined, shape: Shape): string {
  if (shape === 'secret') return formatSecret(value);
  if (value === undefined) return absent;
  if (value === null) return none;
  if (shape === 'duration' && isSeconds(value)) return formatDuration(value);
  return typeof value === 'string' ? formatString(value) : structure(value);
}

/** `set (version 2, from env REVIEWER_JWT)`. All other members of the value are dropped. */
export function formatSecret(value: Json | undefined): string {
  const known = summarizeSecret(value);
  if (!known?.set) return 'unset';
  const { version, env, file } = known;
  const details = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(env === undefined ? [] : [`from env ${printable(env)}`]),
    ...(file === undefined ? [] : [`from file ${printable(file)}`]),
  ];
  return details.length === 0 ? 'set' : `set (${details.join(', ')})`;
}

/** Text as printable lines. */
export function textLines(text: string): string[] {
  return text.split('\n').map(printable);
}

/** A structure as indented JSON, one member per line. */
export function jsonLines(value: Json): string[] {
  return JSON.stringify(value, null, 2).split('\n').map(printable);
}

export function isMultiline(value: Json): boolean {
  return typeof value === 'string' && value.includes('\n');
}

/** A string as in YAML: without quotes where that is unambiguous, else in quotes with visible escapes. */
export function formatString(text: string): string {
  return isBare(text) ? text : printable(quoted(text));
}

function word(value: Json | undefined, shape: Shape): ShownValue {
  return { as: 'word', text: formatInline(value, shape) };
}

function formatArray(items: readonly Json[]): ShownValue {
  if (items.some(isMultiline)) {
    return {
      as: 'lines',
      lines: items.flatMap((item) => (isMultiline(item) ? textLines(String(item)) : structure(item))),
    };
  }
  return items.every(isScalar)
    ? { as: 'items', items: items.map(structure) }
    : { as: 'lines', lines: jsonLines(items) };
}

function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

function isSeconds(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** A value inside another one, where commas separate values. */
function structure(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value.includes(',') ? printable(quoted(value)) : formatString(value);
  if (Array.isArray(value)) return `[${value.map(structure).join(', ')}]`;
  if (isJsonObject(value)) return `{${members(value).join(', ')}}`;
  return String(value);
}

function members(value: Readonly<Record<string, Json>>): string[] {
  return Object.entries(value).map(([key, member]) => `${formatString(key)}: ${structure(member)}`);
}

/** Whether a text needs no quotes: it cannot be mistaken for another type or our own marks, and hides no characters. */
function isBare(text: string): boolean {
  return (
    text !== '' &&
    text === text.trim() &&
    text === printable(text) &&
    !/^(true|false|null|~|[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(text) &&
    !/^[[\]{}()"'+-]|"| -> |: |\\[nrtu"\\]/.test(text)
  );
}
