/** Brings a whole spec to its canonical form, field by field. Fields that are absent stay absent. */
import type { Field, FieldChange, FieldTable } from '../model/kind/field.ts';
import { isJsonObject, type Json } from '../model/json/json.ts';
import type { Spec } from '../model/resource/resource.ts';

/** The canonical form of a field's value; `null` becomes the field's default if there is one. */
export function canonicalValue(field: Field, value: Json): Json {
  if (value === null && field.default !== undefined) return canonicalDefault(field);
  if (field.members !== undefined && isJsonObject(value)) return canonicalSpec(field.members, value);
  return field.compare.canonical(value);
}

/** The canonical value for `null`, and for an absent field of a kind that is owned whole. */
export function canonicalDefault(field: Field): Json {
  return field.default === undefined || field.default === null
    ? field.compare.canonical(null)
    : canonicalValue(field, field.default);
}

/** Only the fields of the table, in the table's order. */
export function canonicalSpec(table: FieldTable, spec: Spec): Spec {
  const canonical: Record<string, Json> = {};
  for (const [name, field] of Object.entries(table)) {
    const value = spec[name];
    if (value !== undefined) canonical[name] = canonicalValue(field, value);
  }
  return canonical;
}

/**
 * The complete content after these changes are made to the live spec: every field, unmentioned ones at their defaults.
 * The ledger keeps it for kinds whose deletion requires proof that nobody changed the resource since.
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
