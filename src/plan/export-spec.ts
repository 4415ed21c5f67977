/**
 * The way back from live to a manifest: the shortest spec that asks for exactly what is live. A field that would come out
 * the same if nobody mentioned it is left out; one that the stack's defaults would change is written out. Pure.
 */
import { formatDuration } from '../model/kind/duration.ts';
import type { Field, FieldTable } from '../model/kind/field.ts';
import { isJsonObject, type Json, sameJson } from '../model/json/json.ts';
import type { Spec } from '../model/resource/resource.ts';
import { canonicalDefault, canonicalValue } from '../compare/canonical-spec.ts';

export interface ExportInput {
  readonly fields: FieldTable;
  /** as the service answers it and the kind describes it; a missing field is not written */
  readonly live: Spec;
  /** what the stack puts under the manifest, deprecated spellings folded (rule 3) */
  readonly defaults: Spec;
}

/** In the order of the table; values in canonical form, durations as people write them. */
export function exportSpec({ fields, live, defaults }: ExportInput): Spec {
  const written: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = exportField(field, live[name], defaults[name]);
    if (value !== undefined) written[name] = value;
  }
  return written;
}

/** undefined: to be left out. What no later write could change, or no read can tell, is nothing to ask for. */
function exportField(field: Field, live: Json | undefined, byDefault: Json | undefined): Json | undefined {
  if (live === undefined || field.local || field.createOnly || field.writeOnly) return undefined;
  if (field.members !== undefined && isJsonObject(live)) {
    return exportMembers(field.members, live, byDefault);
  }
  const value = canonicalValue(field, live);
  const leftOut = byDefault === undefined ? canonicalDefault(field) : canonicalValue(field, byDefault);
  if (sameJson(value, leftOut)) return undefined;
  // A manifest cannot say "none" of a field without a default: nothing is the nearest to it.
  if (value === null && field.default === undefined) return undefined;
  return asWritten({ field, live, value, byDefault });
}

/** Members that are left out keep their live values, so only those matter that say something. */
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
  // The line end behind the last line makes a block of text of it; those of other systems would make it unreadable.
  if (compare.shape === 'text' && typeof live === 'string') return live.includes('\r') ? value : live;
  if (compare.shape !== 'map' || !isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  // An empty map over a default one would be that default: maps are merged by key, and only null replaces them.
  if (keys.length === 0 && isJsonObject(byDefault)) return null;
  return Object.fromEntries(keys.map((key) => [key, value[key] ?? null]));
}
