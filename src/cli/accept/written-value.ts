/** A live value as a manifest has it: in the spelling that stands there already, where it means the same. */
import { formatDuration } from '../../model/kind/duration.ts';
import type { Comparison, Field } from '../../model/kind/field.ts';
import { isJsonObject, type Json, sameJson } from '../../model/json/json.ts';
import { exportSpec } from '../../plan/export-spec.ts';

/** @param live canonical @param written what the manifest says now */
export function writtenValue(
  field: Field | undefined,
  live: Json | undefined,
  written: Json | undefined,
): Json | undefined {
  if (field === undefined || live === undefined) return live;
  const { compare, members } = field;
  if (members !== undefined && isJsonObject(live)) return exportSpec({ fields: members, live, defaults: {} });
  if (compare.shape === 'set' && Array.isArray(live)) return writtenSet(compare, live, written);
  if (compare.shape === 'duration' && typeof live === 'number')
    return typeof written === 'number' ? live : formatDuration(live);
  return typeof live === 'string' ? withoutFraction(compare, live) : live;
}

/** A moment as people write it, if that means the same. */
function withoutFraction(compare: Comparison, live: string): string {
  const short = live.replace(/(?<=:\d\d)\.000Z$/, 'Z');
  return sameJson(compare.canonical(short), live) ? short : live;
}

/** Items that stay keep their places and spellings, so that their lines stay; new ones come behind. */
function writtenSet(compare: Comparison, live: readonly Json[], written: Json | undefined): Json {
  const canonical = (item: Json): Json => {
    const form = compare.canonical([item]);
    return Array.isArray(form) && form.length === 1 ? (form[0] ?? null) : item;
  };
  const items: readonly Json[] = Array.isArray(written) ? written : [];
  const kept = items.filter((item) => live.some((other) => sameJson(other, canonical(item))));
  const added = live.filter((item) => !kept.some((other) => sameJson(canonical(other), item)));
  return [...kept, ...added];
}
