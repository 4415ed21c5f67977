/**
 * The changes between two canonical specs of one kind. Unlike `diff`, it knows no desired side: nothing is reset, no value is
 * unknown, and a field that only one side has is a change.
 */
import type { Field, FieldChange, FieldTable } from '../model/kind/field.ts';
import { isJsonObject, type Json, ownMember, type Path, sameJson } from '../model/json/json.ts';
import type { Spec } from '../model/resource/resource.ts';

/** Instructions to trueup itself (`local`) are left out. */
export function changesBetween(table: FieldTable, before: Spec, after: Spec): FieldChange[] {
  return Object.entries(table).flatMap(([name, field]) =>
    field.local ? [] : fieldChanges(field, [name], [before[name], after[name]]),
  );
}

type Sides = readonly [before: Json | undefined, after: Json | undefined];

function fieldChanges(field: Field, path: Path, [before, after]: Sides): FieldChange[] {
  if (sameJson(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const { members } = field;
    if (members !== undefined)
      return Object.entries(members).flatMap(([name, member]) =>
        fieldChanges(member, [...path, name], [ownMember(before, name), ownMember(after, name)]),
      );
    if (field.compare.shape === 'map') return keyChanges(path, before, after);
  }
  return [changeOf(path, [before, after], field.compare.shape)];
}

function keyChanges(path: Path, ...[before, after]: [Spec, Spec]): FieldChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => {
    const sides: Sides = [ownMember(before, key), ownMember(after, key)];
    return sameJson(...sides) ? [] : [changeOf([...path, key], sides, 'scalar')];
  });
}

function changeOf(path: Path, [before, after]: Sides, shape: FieldChange['shape']): FieldChange {
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape,
  };
}
