/** Converts manifest fields to members of a mount's answers and back: `tokenMaxTtl` ⇄ `token_max_ttl`. */

import type { FieldTable } from '../../model/kind/field.ts';
import { snakeCase } from '../../model/kind/field-names.ts';
import type { Json, JsonObject } from '../../model/json/json.ts';
import type { Spec } from '../../model/resource/resource.ts';

/** The fields of the table that exist in the service, without those that only trueup uses. */
export function wireFieldNames(fields: FieldTable): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.local !== true);
}

/** The answered fields by their names in manifests, with unchanged values. */
export function returnedFields(names: readonly string[], data: JsonObject): Record<string, Json> {
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
