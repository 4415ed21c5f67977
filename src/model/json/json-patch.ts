/**
 * Field changes as RFC 6902 operations. Applied in order to the live canonical spec they give the desired one, up to
 * the order of sets: a set that grows by one is one `add`, not a rewrite of every index behind it (rule 19).
 */
import type { FieldChange } from '../kind/field.ts';
import { canonicalText, isJsonObject, type Json, type JsonObject, ownMember, type Path } from './json.ts';

type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** `/tags/a~1b`: a path as RFC 6901 writes it; the empty path is the whole document. */
export function jsonPointer(path: Path): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * The operations of all changes of one resource, in the order of the changes. For a resource that is to be created
 * they start from `{}`. The parent of a nested change already exists in the document: the differ guarantees that.
 */
export function toJsonPatch(changes: readonly FieldChange[]): PatchOperation[] {
  return changes.flatMap(operationsOf);
}

function operationsOf({ path, before, after, shape }: FieldChange): PatchOperation[] {
  const pointer = jsonPointer(path);
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: pointer }];
  if (before === undefined) return [{ op: 'add', path: pointer, value: after }];
  if (shape === 'set' && Array.isArray(before) && Array.isArray(after)) {
    return setOperations(pointer, before, after);
  }
  if (shape === 'map' && isJsonObject(before) && isJsonObject(after)) {
    return mapOperations(path, before, after);
  }
  return [{ op: 'replace', path: pointer, value: after }];
}

/** Removes from the end, so that no removal shifts the index of a later one; then adds at the end. */
function setOperations(pointer: string, before: readonly Json[], after: readonly Json[]): PatchOperation[] {
  const wanted = new Set(after.map(canonicalText));
  const found = new Set(before.map(canonicalText));
  const removals = before
    .flatMap((item, index) => (wanted.has(canonicalText(item)) ? [] : [index]))
    .reverse()
    .map((index): PatchOperation => ({ op: 'remove', path: `${pointer}/${index}` }));
  const additions = after
    .filter((item) => !found.has(canonicalText(item)))
    .map((value): PatchOperation => ({ op: 'add', path: `${pointer}/-`, value }));
  return [...removals, ...additions];
}

function mapOperations(path: Path, before: JsonObject, after: JsonObject): PatchOperation[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key): PatchOperation[] => {
    const pointer = jsonPointer([...path, key]);
    const [was, becomes] = [ownMember(before, key), ownMember(after, key)];
    if (canonicalText(was) === canonicalText(becomes)) return [];
    if (becomes === undefined) return [{ op: 'remove', path: pointer }];
    return [{ op: was === undefined ? 'add' : 'replace', path: pointer, value: becomes }];
  });
}
