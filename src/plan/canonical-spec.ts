/** Brings a whole spec to its canonical form, field by field. Fields that are absent stay absent. */
import type { Field, FieldTable } from '../model/field.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { Spec } from '../model/resource.ts';

/** The canonical form of one field's value; `null` becomes the field's default where it has one. */
export function canonicalValue(field: Field, value: Json): Json {
  if (value === null && field.default !== undefined) return canonicalDefault(field);
  if (field.members !== undefined && isJsonObject(value)) return canonicalSpec(field.members, value);
  return field.compare.canonical(value);
}

/** What `null`, or a field that is owned and left out, stands for. */
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
 * The whole content that a write leaves behind: what was declared, else what was live, else the default. It is what
 * the ledger keeps for kinds whose deletion needs the proof that nobody changed them since.
 */
export function contentAfter(table: FieldTable, desired: Spec, live: Spec | undefined): Spec {
  const content: Record<string, Json> = {};
  for (const [name, field] of Object.entries(table)) {
    if (field.local || field.writeOnly) continue;
    const value = desired[name] === undefined ? live?.[name] : desired[name];
    content[name] = value === undefined ? canonicalDefault(field) : canonicalValue(field, value);
  }
  return content;
}
