/**
 * Exports a live resource: the shortest spec that declares exactly the live state. A field is left out when its absence gives
 * the same value, and written when the stack's defaults would change it. Pure.
 */
import { formatDuration } from '../model/duration.ts';
import type { Field, FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, sameJson } from '../model/json.ts';
import type { Spec } from '../model/resource.ts';
import { canonicalDefault, canonicalValue } from '../compare/comparisons.ts';

interface ExportInput {
  readonly fields: FieldTable;
  /** the live spec after the kind's `toManifest`; a missing field is not written */
  readonly live: Spec;
  /** the stack's defaults for the kind, with deprecated fields upgraded */
  readonly defaults: Spec;
}

/** The spec in the order of the table. Values are in canonical form, except durations, which are written like `1h30m`. */
export function exportSpec({ fields, live, defaults }: ExportInput): Spec {
  const written: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = exportField(field, live[name], defaults[name]);
    if (value !== undefined) written[name] = value;
  }
  return written;
}

/** The value to write; undefined: leave the field out. Fields that cannot be changed later, or cannot be read, are never exported. */
function exportField(field: Field, live: Json | undefined, byDefault: Json | undefined): Json | undefined {
  if (live === undefined || field.local || field.createOnly || field.writeOnly) return undefined;
  if (field.members !== undefined && isJsonObject(live)) {
    return exportMembers(field.members, live, byDefault);
  }
  const value = canonicalValue(field, live);
  const valueIfAbsent = byDefault === undefined ? canonicalDefault(field) : canonicalValue(field, byDefault);
  if (sameJson(value, valueIfAbsent)) return undefined;
  // A field without a default cannot be null in a manifest, so it is left out.
  if (value === null && field.default === undefined) return undefined;
  return asWritten({ field, live, value, byDefault });
}

/** Absent members keep their live values, so an object without members is written only if there is no default for it. */
function exportMembers(members: FieldTable, live: Spec, byDefault: Json | undefined): Json | undefined {
  const isMerged = isJsonObject(byDefault);
  const written = exportSpec({ fields: members, live, defaults: isMerged ? byDefault : {} });
  return isMerged && Object.keys(written).length === 0 ? undefined : written;
}

interface Value {
  readonly field: Field;
  readonly live: Json;
  /** canonical */
  readonly value: Json;
  readonly byDefault: Json | undefined;
}

function asWritten({ field: { compare }, live, value, byDefault }: Value): Json {
  if (compare.shape === 'duration' && typeof value === 'number') return formatDuration(value);
  // Keep the final line end, which YAML needs for a block of text; "\r" would make YAML write an unreadable quoted text.
  if (compare.shape === 'text' && typeof live === 'string') return live.includes('\r') ? value : live;
  if (compare.shape !== 'map' || !isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  // Maps are merged by key, so an empty map would become the default one; only null replaces it.
  if (keys.length === 0 && isJsonObject(byDefault)) return null;
  return Object.fromEntries(keys.map((key) => [key, value[key] ?? null]));
}
