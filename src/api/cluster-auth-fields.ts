/**
 * Converts manifest fields to members of a mount's answers and back, and checks the types of these members: a value of an
 * unexpected type must not be sent back. Source: wire/cluster-auth 2.3, 2.4, 2.7.
 */
import { canonicalDefault, canonicalValue } from '../compare/comparisons.ts';
import { parseDuration } from '../model/duration.ts';
import { type FieldTable, snakeCase } from '../model/field.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Session } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';

/** The fields of the table that exist in the service, without those that only trueup uses. */
export function wireFieldNames(fields: FieldTable): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.local !== true);
}

/** The fields of an answer by their names in manifests, with unchanged values. */
export function returnedFields(names: readonly string[], data: JsonObject): Record<string, Json> {
  const answered: Record<string, Json> = {};
  for (const name of names) {
    const value = data[snakeCase(name)];
    if (value !== undefined) answered[name] = value;
  }
  return answered;
}

/** The body of a write. */
export function wireBody(values: Spec): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
}

// The types of members. Roles and configs are written whole, so live values are sent back: their types are checked before.

/** A list may be returned as one text, and a duration as text. Null and absent members have no value. */
export type MemberType = 'text' | 'list' | 'duration' | 'number' | 'switch';

const hasType: Readonly<Record<MemberType, (value: Json) => boolean>> = {
  text: isText,
  list: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  duration: (value) =>
    (typeof value === 'number' || typeof value === 'string') && parseDuration(value) !== undefined,
  number: (value) => typeof value === 'number',
  switch: (value) => typeof value === 'boolean',
};

const wrongType: Readonly<Record<MemberType, string>> = {
  text: 'not text',
  list: 'not a list of texts',
  duration: 'not a duration',
  number: 'not a number',
  switch: 'neither true nor false',
};

/** A clause that names the first member with a wrong type, as the service names it and without its value; undefined if there is none. */
export function wrongTypedMember(
  { dialect }: Pick<Session, 'dialect'>,
  data: JsonObject,
  types: Readonly<Record<string, MemberType>>,
): string | undefined {
  for (const [name, type] of Object.entries(types)) {
    const value = data[name] ?? null;
    if (value !== null && !hasType[type](value))
      return `its ${quoted(dialect.rename[name] ?? name)} is ${wrongType[type]}`;
  }
  return undefined;
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}

/** The canonical value of one field; the field's default if the spec lacks it. @throws on a name that the table lacks: a bug */
export function fieldValue<S extends Spec>(fields: FieldTable, spec: S, name: keyof S & string): Json {
  const field = fields[name];
  if (field === undefined) throw new Error(`no field ${name}`);
  const value: Json | undefined = spec[name];
  return value === undefined ? canonicalDefault(field) : canonicalValue(field, value);
}
