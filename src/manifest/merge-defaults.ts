/** Merges values over defaults: maps by key at any depth, everything else as a whole. */
import { isJsonObject, type Json, type JsonObject, type Path, valueAt, withValueAt } from '../model/json.ts';
import type { Kind, ResourceProblem } from '../model/kind.ts';
import { type NamedReference, nameKey } from '../model/named-reference.ts';
import { quoted } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';

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

// Fields of a manifest that give the same thing, by its name or by its id: one of them replaces the other one of the defaults.

/** Merges a spec over defaults; in both, a thing may be given by its name or by its id. */
export function mergeUnder(kind: Kind | undefined, defaults: JsonObject, own: JsonObject): JsonObject {
  return mergeDefaults(kind === undefined ? defaults : withoutReplaced(kind, defaults, own), own);
}

/** The defaults without the name of a thing that a spec gives by its id, and without the id of one that it gives by its name. */
export function withoutReplaced({ named }: Kind, defaults: JsonObject, own: JsonObject): JsonObject {
  const replaced = (named?.references ?? []).flatMap((reference): readonly Path[] => {
    const ids = idsOf(reference);
    const isGiven = (path: Path) => valueAt(own, path) !== undefined;
    if (isGiven(reference.name)) return ids;
    return ids.some(isGiven) ? [reference.name] : [];
  });
  return replaced.reduce((into, path) => withValueAt(into, path, undefined), defaults);
}

function idsOf({ id, besides = [] }: NamedReference): readonly Path[] {
  return [id, ...besides];
}

/** A problem for each thing that a spec gives by its name and by an id. */
export function namesWithIds({ named }: Kind, spec: Spec): ResourceProblem[] {
  return (named?.references ?? []).flatMap((reference): ResourceProblem[] => {
    const id = idsOf(reference).find((path) => valueAt(spec, path) !== undefined);
    if (id === undefined || valueAt(spec, reference.name) === undefined) return [];
    const [byName, byId] = [nameKey(reference.name), nameKey(id)];
    return [
      {
        code: 'name-and-id',
        severity: 'error',
        path: reference.name,
        side: 'key',
        message: `${quoted(byName)} and ${quoted(byId)} are both given`,
        allowed: `one of ${quoted(byName)} and ${quoted(byId)}`,
        fix: 'keep the name or the id',
        related: { message: 'the id', path: id },
      },
    ];
  });
}
