/**
 * What real services call fields that the manifests have under neutral names: who knows a service by its own
 * documentation writes those, and is told ours.
 */
import { camelCase } from '../../model/kind/field-names.ts';
import type { Dialect } from '../../model/stack/target.ts';

/** A service's own name of a field in camelCase, to ours. */
export type ServiceSpellings = ReadonlyMap<string, string>;

export function serviceSpellings(dialects: ReadonlyMap<string, Dialect>): ServiceSpellings {
  return new Map(
    [...dialects.values()].flatMap(({ rename }) =>
      Object.entries(rename).map(([neutral, wire]) => [camelCase(wire), camelCase(neutral)] as const),
    ),
  );
}
