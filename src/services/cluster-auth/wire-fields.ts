/** Between a manifest's fields and a mount's members: `tokenMaxTtl` ⇄ `token_max_ttl`, by the one rule of names. */

import type { FieldTable } from '../../model/kind/field.ts';
import { snakeCase } from '../../model/kind/field-names.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Spec } from '../../model/resource/resource.ts';

/** The fields of the table that are members of the live resource; those of trueup itself are left out. */
export function wireFieldNames(fields: FieldTable): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.local !== true);
}

/** The fields that the service answered, under their names in manifests, values as they came. */
export function answeredFields(names: readonly string[], data: JsonObject): Record<string, Json> {
  const answered: Record<string, Json> = {};
  for (const name of names) {
    const value = data[snakeCase(name)];
    if (value !== undefined) answered[name] = value;
  }
  return answered;
}

/** The body of a write. */
export function wireBody(values: Spec): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
}
