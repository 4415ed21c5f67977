/** Merges values over defaults: maps by key at any depth, everything else as a whole. */
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** Values of `own` always win; `defaults` only fill in missing ones. `null`, `{}` and `[]` in `own` are not missing. */
export function mergeDefaults(defaults: JsonObject, own: JsonObject): JsonObject {
  const names = new Set([...Object.keys(own), ...Object.keys(defaults)]);
  return Object.fromEntries(
    [...names].map((name) => [name, mergeMember(ownMember(defaults, name), ownMember(own, name))]),
  );
}

/** Ignores inherited members: a field may be called `constructor`. */
function ownMember(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function mergeMember(fallback: Json | undefined, own: Json | undefined): Json {
  if (own === undefined) return fallback ?? null;
  return isJsonObject(own) && isJsonObject(fallback) ? mergeDefaults(fallback, own) : own;
}

/** How many segments of a path, from its start, exist in a value. */
export function depthOf(value: Json | undefined, path: readonly string[]): number {
  let at = value;
  for (const [depth, name] of path.entries()) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return depth;
    at = Array.isArray(at) ? at[Number(name)] : isJsonObject(at) ? at[name] : undefined;
  }
  return path.length;
}
