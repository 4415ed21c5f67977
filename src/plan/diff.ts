/**
 * The differ: what a resource asks for against what the service answers, field by field. Pure, and blind to kinds: all
 * it knows is a table of fields. Equal canonical forms are no difference; a field that is not managed is not looked at.
 */
import type { Field, FieldChange, FieldTable } from '../model/field.ts';
import { isJsonObject, type Json, type JsonObject, type Path, sameJson } from '../model/json.ts';
import type { Spec } from '../model/resource.ts';
import { canonicalDefault, canonicalValue } from './canonical-spec.ts';

export interface DiffInput {
  readonly fields: FieldTable;
  readonly desired: Spec;
  /** undefined: there is no live resource. A missing member: the service does not answer that field (RULES 12). */
  readonly live: Spec | undefined;
  /** values last applied, by field; undefined when the ledger does not know the resource */
  readonly recorded: Spec | undefined;
  /** what a field means that the manifest leaves out */
  readonly absent: 'unmanaged' | 'default';
  /** fields whose live value cannot be told, and why */
  readonly unknown?: Readonly<Record<string, string>>;
}

export interface Difference {
  readonly fields: readonly FieldChange[];
  readonly notes: readonly string[];
}

/** What would have to change for `live` to be `desired`. Empty when nothing would. */
export function diff(input: DiffInput): Difference {
  const changes: FieldChange[] = [];
  const notes: string[] = [];
  for (const [name, field] of Object.entries(input.fields)) {
    if (field.local) continue;
    const wanted = wantedValue(input, name, field);
    if (wanted.note !== undefined) notes.push(wanted.note);
    if (wanted.value === undefined) continue;
    const found = compareField({
      path: [name],
      field,
      wanted: wanted.value,
      live: input.live?.[name],
      exists: input.live !== undefined,
      recorded: input.recorded?.[name],
      unknown: input.unknown?.[name],
      origin: wanted.origin,
    });
    const differs = found.length > 0 && input.live !== undefined;
    if (field.createOnly && differs) notes.push(createOnlyNote(name, found[0]));
    else changes.push(...found);
  }
  return { fields: changes, notes };
}

interface Wanted {
  readonly value?: Json;
  readonly origin?: string | undefined;
  readonly note?: string;
}

/** The value to compare with, and where it comes from when the manifest does not say it (RULES 6, 16). */
function wantedValue(
  input: Pick<DiffInput, 'desired' | 'absent' | 'recorded'>,
  name: string,
  field: Field,
): Wanted {
  const declared = input.desired[name];
  if (declared !== undefined) {
    return { value: canonicalValue(field, declared), origin: declared === null ? 'default' : undefined };
  }
  if (input.absent === 'default' && !field.writeOnly)
    return { value: canonicalDefault(field), origin: 'default' };
  if (input.recorded?.[name] === undefined || field.writeOnly || field.createOnly) return {};
  if (field.default === undefined) {
    return { note: `${name} is no longer declared and has no default: it is left as it is` };
  }
  return { value: canonicalDefault(field), origin: 'no longer declared' };
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
}

function compareField(input: FieldInput): FieldChange[] {
  const { field, wanted, live, exists, recorded } = input;
  if (!exists) return [change(input, {})];
  if (input.unknown !== undefined) return [change(input, { unknown: input.unknown })];
  if (live === undefined) {
    if (recorded !== undefined && sameJson(recorded, wanted)) return [];
    return [change(input, { unknown: 'not answered by the service' })];
  }
  const before = canonicalValue(field, live);
  if (field.members !== undefined && isJsonObject(wanted) && isJsonObject(before)) {
    return compareMembers(input, field.members, wanted, before);
  }
  if (field.compare.shape === 'map' && isJsonObject(wanted) && isJsonObject(before)) {
    return compareKeys(input, wanted, before);
  }
  return sameJson(before, wanted) ? [] : [change(input, { before })];
}

function change(input: FieldInput, known: { before?: Json; unknown?: string }): FieldChange {
  return {
    path: input.path,
    ...known,
    after: input.wanted,
    shape: input.field.compare.shape,
    ...(input.origin === undefined ? {} : { origin: input.origin }),
  };
}

/** An object whose members are fields of their own: those that are absent are not managed, or reset when they were. */
function compareMembers(input: FieldInput, members: FieldTable, wanted: Spec, live: Spec): FieldChange[] {
  const recorded = isJsonObject(input.recorded) ? input.recorded : undefined;
  return Object.entries(members).flatMap(([name, field]) => {
    const member = wantedValue({ desired: wanted, absent: 'unmanaged', recorded }, name, field);
    if (member.value === undefined) return [];
    return compareField({
      path: [...input.path, name],
      field,
      wanted: member.value,
      live: live[name],
      exists: true,
      recorded: recorded?.[name],
      unknown: undefined,
      origin: member.origin ?? input.origin,
    });
  });
}

/** A map whose keys users choose: every key is compared by itself. */
function compareKeys(input: FieldInput, wanted: JsonObject, live: JsonObject): FieldChange[] {
  const keys = [...new Set([...Object.keys(live), ...Object.keys(wanted)])].sort();
  return keys.flatMap((key) => {
    const [before, after] = [live[key], wanted[key]];
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

function createOnlyNote(name: string, change: FieldChange | undefined): string {
  return `${name} is set when the resource is created and never again: live ${JSON.stringify(change?.before ?? null)}, declared ${JSON.stringify(change?.after ?? null)}`;
}
