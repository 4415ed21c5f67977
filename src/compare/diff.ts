/**
 * Compares a desired spec with a live one, field by field, or two canonical specs of which neither is desired. Pure; knows only a
 * table of fields, not the kinds. Values with equal canonical forms count as equal.
 */
import type { Field, FieldChange, FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, type JsonObject, ownMember, type Path, sameJson } from '../model/json.ts';
import type { Spec } from '../model/resource.ts';
import { canonicalDefault, canonicalValue } from './comparisons.ts';

export interface DiffInput {
  readonly fields: FieldTable;
  readonly desired: Spec;
  /** undefined: the resource does not exist. A missing member: the service does not return that field. */
  readonly live: Spec | undefined;
  /** values last applied, by field; undefined when the ledger has no record of the resource */
  readonly recorded: Spec | undefined;
  /** how a field that the manifest lacks is treated */
  readonly absent: 'unmanaged' | 'default';
  /** fields whose live value is unknown, each with the reason */
  readonly unknown?: Readonly<Record<string, string>>;
  /** fields of `desired` whose value does not come from the manifest, each with where it comes from */
  readonly origins?: Readonly<Record<string, string>>;
  /** Whether a key of a map must not be in a path, because it contains a secret: then the map changes as a whole. */
  isHidden?(key: string): boolean;
}

interface FieldDiff {
  readonly fields: readonly FieldChange[];
  readonly notes: readonly string[];
}

/** The changes that make `live` equal to `desired`. Empty when they are equal. */
export function diff(input: DiffInput): FieldDiff {
  return diffEach(input.fields, (name, field) => diffField(input, name, field));
}

function diffEach(table: FieldTable, compare: (name: string, field: Field) => FieldDiff): FieldDiff {
  const found: FieldDiff[] = [];
  for (const name in table) {
    const field = table[name];
    const difference = field === undefined ? nothing : compare(name, field);
    if (difference !== nothing) found.push(difference);
  }
  if (found.length === 0) return nothing;
  return { fields: found.flatMap(({ fields }) => fields), notes: found.flatMap(({ notes }) => notes) };
}

function diffField(input: DiffInput, name: string, field: Field): FieldDiff {
  if (field.local) return nothing;
  const { live, desired, absent } = input;
  // Only an existing resource has fields to reset.
  const recorded = live === undefined ? undefined : input.recorded?.[name];
  const declared = desired[name];
  // Most fields were never declared, or are as declared.
  if (declared === undefined && recorded === undefined && absent === 'unmanaged') return nothing;
  if (declared !== undefined && isAsDeclared(input, name, field)) return nothing;
  const wanted = wantedValue({ name, field, declared, recorded, absent });
  if (wanted === nothing) return nothing;
  if (wanted.value === undefined) return { fields: [], notes: wanted.notes };
  const found = compareField({
    path: [name],
    field,
    wanted: wanted.value,
    live: live?.[name],
    exists: live !== undefined,
    recorded,
    unknown: input.unknown?.[name],
    origin: wanted.origin ?? input.origins?.[name],
    isHidden: (key) => input.isHidden?.(key) === true,
  });
  if (live === undefined || !field.createOnly) return found;
  return { fields: [], notes: found.fields.flatMap((change) => createOnlyNote(name, change)) };
}

const nothing: FieldDiff = { fields: [], notes: [] };

/** A quick check. False for a field with members, because a member that is no longer declared may have to be reset. */
function isAsDeclared({ desired, live, unknown }: DiffInput, name: string, field: Field): boolean {
  const [declared, found] = [desired[name], live?.[name]];
  if (declared === undefined || found === undefined || field.members !== undefined) return false;
  return (
    unknown?.[name] === undefined && sameJson(canonicalValue(field, found), canonicalValue(field, declared))
  );
}

interface FieldRequest {
  readonly name: string;
  readonly field: Field;
  readonly declared: Json | undefined;
  readonly recorded: Json | undefined;
  readonly absent: DiffInput['absent'];
}

interface WantedValue {
  /** canonical; undefined: the field is not managed */
  readonly value?: Json;
  /** where the value comes from, if not from the manifest */
  readonly origin?: string | undefined;
  readonly notes: readonly string[];
}

/** The value to compare with. */
function wantedValue({ name, field, declared, recorded, absent }: FieldRequest): WantedValue {
  if (declared !== undefined) {
    const origin = declared === null ? 'default' : undefined;
    return { value: canonicalValue(field, declared), origin, notes: [] };
  }
  if (absent === 'default' && !field.writeOnly) {
    return { value: canonicalDefault(field), origin: 'default', notes: [] };
  }
  if (recorded === undefined || field.writeOnly || field.createOnly) return nothing;
  if (field.default === undefined) {
    return { notes: [`${name} is no longer declared and has no default: it keeps its value`] };
  }
  return { value: canonicalDefault(field), origin: 'no longer declared', notes: [] };
}

interface FieldInput {
  readonly path: Path;
  readonly field: Field;
  readonly wanted: Json;
  readonly live: Json | undefined;
  readonly exists: boolean;
  readonly recorded: Json | undefined;
  readonly unknown: string | undefined;
  readonly origin: string | undefined;
  isHidden(key: string): boolean;
}

function compareField(input: FieldInput): FieldDiff {
  const { field, wanted, live, recorded } = input;
  if (!input.exists) return only(change(input, {}));
  if (input.unknown !== undefined) return only(change(input, { unknown: input.unknown }));
  if (live === undefined) {
    const isRecorded = recorded !== undefined && sameJson(recorded, wanted);
    return isRecorded ? nothing : only(change(input, { unknown: notReturned }));
  }
  const before = canonicalValue(field, live);
  if (field.members !== undefined && isJsonObject(wanted) && isJsonObject(before)) {
    return compareMembers(input, field.members, wanted, before);
  }
  if (field.compare.shape === 'map' && isJsonObject(wanted) && isJsonObject(before)) {
    const fields = compareKeys(input, wanted, before);
    const isHidden = fields.some(({ path }) => input.isHidden(path.at(-1) ?? ''));
    return isHidden ? only(change(input, { before })) : { fields, notes: [] };
  }
  return sameJson(before, wanted) ? nothing : only(change(input, { before }));
}

/** Why the value before is unknown when the service did not return the field. */
export const notReturned = 'not returned by the service';

function only(change: FieldChange): FieldDiff {
  return { fields: [change], notes: [] };
}

function change(input: FieldInput, found: { before?: Json; unknown?: string }): FieldChange {
  const origin = originOf(input);
  return {
    path: input.path,
    ...found,
    after: input.wanted,
    shape: input.field.compare.shape,
    ...(origin === undefined ? {} : { origin }),
  };
}

/** Where the value comes from, and the meaning of a default whose value does not show it. */
function originOf({ field, wanted, origin }: FieldInput): string | undefined {
  const isDefault = field.default !== undefined && sameJson(wanted, canonicalDefault(field));
  const words = [origin, isDefault ? field.defaultMeans : undefined].filter((word) => word !== undefined);
  return words.length === 0 ? undefined : words.join(': ');
}

/** For an object whose members are separate fields: absent members are not managed, or reset if they were before. */
function compareMembers(input: FieldInput, members: FieldTable, wanted: Spec, live: Spec): FieldDiff {
  const recorded = isJsonObject(input.recorded) ? input.recorded : undefined;
  return diffEach(members, (name, field) => {
    const path = [...input.path, name];
    const member = wantedValue({
      name: path.join('.'),
      field,
      declared: wanted[name],
      recorded: recorded?.[name],
      absent: 'unmanaged',
    });
    if (member.value === undefined) return { fields: [], notes: member.notes };
    return compareField({
      path,
      field,
      wanted: member.value,
      live: live[name],
      exists: true,
      recorded: recorded?.[name],
      unknown: undefined,
      origin: member.origin ?? input.origin,
      isHidden: input.isHidden,
    });
  });
}

/** For a map whose keys users choose: each key is compared by itself. */
function compareKeys(input: FieldInput, wanted: JsonObject, live: JsonObject): FieldChange[] {
  if (sameJson(live, wanted)) return [];
  const keys = [...new Set([...Object.keys(live), ...Object.keys(wanted)])].sort();
  return keys.flatMap((key) => {
    const [before, after] = [ownMember(live, key), ownMember(wanted, key)];
    if (sameJson(before, after)) return [];
    return {
      path: [...input.path, key],
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      shape: 'scalar' as const,
      ...(input.origin === undefined ? {} : { origin: input.origin }),
    };
  });
}

/** The note about a create-only field that differs; none if the live value is unknown. */
function createOnlyNote(name: string, { before, after, unknown }: FieldChange): string[] {
  if (unknown !== undefined) return [];
  const [live, declared] = [before, after].map((value) => JSON.stringify(value ?? null));
  return [`${name} can only be set at creation: live ${live}, declared ${declared}`];
}

// The changes between two canonical specs of one kind. Unlike for `diff`, neither is the desired one: nothing is reset, no value is
// unknown, and a field that only one of them has is a change.

/** The changed fields, without instructions to trueup itself (`local`). */
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
