/** The two kinds of placeholders of a recorded case: values to fill in before sending, and values that differ each time. */

import { isRawJson } from './vectors.ts';

export type Values = Readonly<Record<string, string>>;

/** Replaces `${name}` in every text of a value; a name without a value stays. */
export function fill<T>(value: T, values: Values): T {
  return mapTexts(value, (text) =>
    text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole),
  );
}

/** The values that a recorded `<name>` matches. */
const forms: Readonly<Record<string, RegExp>> = {
  request_id: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  accessor: /^\S+$/,
  token: /^\S+$/,
  entity_id: /^\S+$/,
  uuid: /^\S+$/,
  cluster_id: /^\S+$/,
  cluster_name: /^\S+$/,
  time: /^(?:\d+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))$/,
  ttl: /^\d+$/,
};

/**
 * The answered value, with the recorded placeholder in place of each value that it matches. Both values are equal exactly
 * if the response is the recorded one.
 */
export function withPlaceholders(answered: unknown, recorded: unknown): unknown {
  if (typeof recorded === 'string') {
    const form = forms[/^<(\w+)>$/.exec(recorded)?.[1] ?? ''];
    const scalar = typeof answered === 'string' || typeof answered === 'number';
    return form !== undefined && scalar && form.test(String(answered)) ? recorded : answered;
  }
  if (Array.isArray(recorded) && Array.isArray(answered))
    return answered.map((element, index) => withPlaceholders(element, recorded[index]));
  if (isObject(recorded) && isObject(answered)) {
    return Object.fromEntries(
      Object.entries(answered).map(([key, value]) => [key, withPlaceholders(value, recorded[key])]),
    );
  }
  return answered;
}

/** Cuts off the texts of libraries, which are not compared, after the service's own text. */
export function withoutLibraryTexts<T>(value: T): T {
  return mapTexts(value, (text) =>
    text.replace(/(error converting input for field "[^"]*":|failed to decode JSON input:).*$/s, '$1 …'),
  );
}

function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((element: unknown) => mapTexts(element, change)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)])) as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !isRawJson(value);
}
