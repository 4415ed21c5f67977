/**
 * Reading query parameters. Names are flat text (`page[size]`); encoded and unencoded brackets arrive the same.
 * Invariant: unknown parameters are ignored; of a repeated single-valued parameter the last one counts.
 */

import { badRequest } from './errors.ts';

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameter's value; undefined when it is absent. */
export function queryText(query: Query, name: string): string | undefined {
  const value = query[name];
  return typeof value === 'object' ? value.at(-1) : value;
}

/** Whether a parameter is switched on: `true`, or `1`. */
export function querySwitch(query: Query, name: string): boolean {
  return ['true', '1'].includes(queryText(query, name) ?? '');
}

/** The values of a parameter that may be repeated and may join several by commas; empty ones are dropped. */
export function queryList(query: Query, name: string): string[] {
  return [query[name] ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** The values of `include`, which may be written with hyphens. @throws ApiError 400 for one that is not known, in words that clients know */
export function includesOf(query: Query, known: readonly string[]): Set<string> {
  const names = queryList(query, 'include').map((name) => name.replaceAll('-', '_'));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw badRequest(`"${unknown}" is not a valid include parameter`, { parameter: 'include' });
  }
  return new Set(names);
}
