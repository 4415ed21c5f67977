/** Fields of a manifest that give the same thing, by its name or by its id: one of them replaces the other one of the defaults. */
import { type JsonObject, type Path, valueAt, withValueAt } from '../model/json.ts';
import type { Kind, ResourceProblem } from '../model/kind.ts';
import { type NamedReference, nameKey } from '../model/named-reference.ts';
import { quoted } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';
import { mergeDefaults } from './merge-defaults.ts';

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
