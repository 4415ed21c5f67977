/**
 * The names that real services use for fields with neutral names in manifests. Users who know the service's documentation
 * write those names, and the message suggests ours.
 */
import { camelCase } from '../../model/kind/field-names.ts';
import type { Dialect } from '../../model/stack/target.ts';

/** From a service's own name of a field, in camelCase, to ours. */
export type ServiceSpellings = ReadonlyMap<string, string>;

export function serviceSpellings(dialects: ReadonlyMap<string, Dialect>): ServiceSpellings {
  return new Map(
    [...dialects.values()].flatMap(({ rename }) =>
      Object.entries(rename).map(([neutral, wire]) => [camelCase(wire), camelCase(neutral)] as const),
    ),
  );
}
