/** Checks the RFC 6902 operations that a plan file shows beside the fields of a change. */
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, type Json, type Path, sameJson } from '../model/json.ts';

interface Document {
  [name: string]: Json;
}

/** Whether the operations turn the values before into those after, and change nothing else. A set may come in another order. */
export function leadsToAfter(patch: readonly object[], fields: readonly FieldChange[]): boolean {
  const before = documentOf(fields, (field) => field.before);
  const after = documentOf(fields, (field) => field.after);
  try {
    jsonPatch.applyPatch(before, structuredClone(patch) as Operation[], true);
  } catch {
    return false;
  }
  for (const { path, shape } of fields) {
    if (shape === 'set') for (const document of [before, after]) sortSet(document, path);
  }
  return sameJson(before, after);
}

/** The values of one side of the changes, each at its path. */
function documentOf(
  fields: readonly FieldChange[],
  side: (field: FieldChange) => Json | undefined,
): Document {
  const document = emptyDocument();
  for (const field of fields) {
    const value = side(field);
    const [parent, name] = placeOf(document, field.path);
    if (value !== undefined) parent[name] = structuredClone(value);
  }
  return document;
}

/** An object without a prototype, because the paths come from a file and may contain `__proto__`. */
function emptyDocument(): Document {
  return Object.create(null);
}

/** The object that holds the member at a path, and the name of that member. Adds objects that are missing. */
function placeOf(document: Document, path: Path): [Document, string] {
  let parent = document;
  for (const name of path.slice(0, -1)) {
    parent[name] ??= emptyDocument();
    parent = parent[name] as Document;
  }
  return [parent, path.at(-1) ?? ''];
}

function sortSet(document: Document, path: Path): void {
  const [parent, name] = placeOf(document, path);
  const set = parent[name];
  if (Array.isArray(set))
    parent[name] = set.toSorted((one, other) => (canonicalText(one) < canonicalText(other) ? -1 : 1));
}
