/**
 * Describes every field of the documents that users write, from the JSON Schema and the field table of each kind: the one source
 * of `trueup explain` and of the reference pages.
 */
import type { TSchema } from 'typebox';
import { jsonSchema } from '../../model/define-kind.ts';
import type { Field, FieldTable } from '../../model/field.ts';
import { isJsonObject, type Json, type JsonObject, textsOf } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { orList } from '../../model/quoted.ts';
import { manifestSchema } from './manifest-schema.ts';
import { stackSchema } from './stack-schema.ts';

interface KindDescription {
  readonly name: string;
  readonly summary: string;
  /** in the order of the schema, each one before its members */
  readonly fields: readonly FieldDescription[];
}

export interface FieldDescription {
  /** below the document, without positions in lists: `spec.vcsRepo.branch`, `spec.targets.url` */
  readonly path: string;
  /** `text`, `"remote", "local" or "agent"`, `a list of maps`; without null */
  readonly type: string;
  /** how a text is written, as a clause */
  readonly format?: string;
  /** the allowed words, where they are too many for `type` */
  readonly values: readonly string[];
  readonly required: boolean;
  /** the effect of leaving the field out, as a clause */
  readonly default: string;
  /** what `null` does, as a clause; absent where null is an error */
  readonly null?: string;
  readonly description: string;
  /** at least one: from the schema, or made from the type */
  readonly examples: readonly Json[];
  readonly deprecated: boolean;
  /** sent only when the resource is created */
  readonly createOnly: boolean;
}

/** The kinds of manifests, and the stack. */
export function describeKinds(kinds: Registry): readonly KindDescription[] {
  const manifests = [...kinds.values()].map((kind) => ({
    name: kind.name,
    summary: kind.summary,
    fields: describeMembers(manifestSchema(kind), [], {
      fieldAt: ([top, ...path]) => (top === 'spec' ? fieldIn(kind.fields, path) : undefined),
      absent: kind.absent,
    }),
  }));
  return [...manifests, describeDocument('Stack', stackSchema)];
}

/** A document that is not a resource, such as the Stack. */
export function describeDocument(name: string, schema: TSchema): KindDescription {
  const { description = '', ...members } = jsonSchema(schema);
  const fields = describeMembers(members, [], { fieldAt: () => undefined });
  return { name, summary: String(description), fields };
}

interface Source {
  fieldAt(path: readonly string[]): Field | undefined;
  /** absent for the stack */
  readonly absent?: Kind['absent'];
}

function fieldIn(table: FieldTable | undefined, [name = '', ...rest]: readonly string[]): Field | undefined {
  const field = table?.[name];
  return rest.length === 0 ? field : fieldIn(field?.members, rest);
}

function describeMembers(schema: JsonObject, path: readonly string[], source: Source): FieldDescription[] {
  const members = asObject(schema['properties']);
  // The fields in `else` are those of manifests: they are required unless the document is a removal request.
  const required = [
    ...textsOf(schema['required'] ?? []),
    ...textsOf(asObject(schema['else'])['required'] ?? []),
  ];
  return Object.entries(members).flatMap(([name, member]) => {
    const at = [...path, name];
    const own = asObject(member);
    return [
      describeField(own, at, { ...source, isRequired: required.includes(name) }),
      ...describeBelow(own, at, source),
    ];
  });
}

/** The members of a map, or of the maps in a list. */
function describeBelow(schema: JsonObject, path: readonly string[], source: Source): FieldDescription[] {
  const holder = isJsonObject(schema['items']) ? schema['items'] : schema;
  return describeMembers(holder, path, source);
}

function describeField(
  schema: JsonObject,
  path: readonly string[],
  { isRequired, ...source }: Source & { readonly isRequired: boolean },
): FieldDescription {
  const field = source.fieldAt(path);
  const format = schema['patternErrorMessage'];
  return {
    path: path.join('.'),
    type: describeType(schema),
    ...(typeof format === 'string' ? { format } : {}),
    values: valuesOf(schema),
    required: isRequired,
    default: isRequired ? 'none: the field is required' : leftOut(schema, path, { ...source, field }),
    ...([schema['type']].flat().includes('null') ? { null: meaningOfNull(schema, field) } : {}),
    description: sentence(String(schema['description'] ?? '')),
    examples: examplesOf(schema, field?.default),
    deprecated: schema['deprecated'] === true,
    createOnly: field?.createOnly === true,
  };
}

/** What happens to a field that is left out: the kind decides whether it is not managed or set to its default. */
function leftOut(
  schema: JsonObject,
  [top, ...below]: readonly string[],
  { field, absent }: { readonly field: Field | undefined; readonly absent?: Kind['absent'] },
): string {
  if (schema['default'] !== undefined) return JSON.stringify(schema['default']);
  // Fields of the spec that are compared: not local ones, and no deeper members that the field table lacks.
  const followsKind = top === 'spec' && (below.length === 1 || field !== undefined) && field?.local !== true;
  if (followsKind && absent === 'unmanaged') return 'not managed';
  if (followsKind && absent === 'default' && field?.writeOnly !== true)
    return meaningOfDefault(field) ?? 'not set';
  return 'not set';
}

/** Finds the meaning of null in a description: `none` in the text `"" or null: none.` */
const nullClause = /\bnull(?:, or removing the field)?: (.*?)(?:\.(?=\s|$)|$)/s;

function meaningOfNull(schema: JsonObject, field: Field | undefined): string {
  const [, clause] = nullClause.exec(String(schema['description'] ?? '')) ?? [];
  return meaningOfDefault(field) ?? clause ?? 'the default of the service';
}

/** A default with its meaning; undefined for one whose value does not show its meaning, such as `""`. */
function meaningOfDefault(field: Field | undefined): string | undefined {
  const value = field?.default;
  if (value === undefined || value === null || value === '') return undefined;
  return `${JSON.stringify(value)}${field?.defaultMeans === undefined ? '' : `: ${field.defaultMeans}`}`;
}

function sentence(text: string): string {
  return text === '' || text.endsWith('.') ? text : `${text}.`;
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

// Examples of a field, from its JSON Schema: those that it names, or one that follows from its type, its words or its members.

/** @param defaultValue the service's default; an enum or a boolean gets another value as its example, other types get this one */
function examplesOf(schema: JsonObject, defaultValue?: Json): readonly Json[] {
  const { examples } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples;
  const example = exampleFromType(schema, schema['default'] ?? defaultValue);
  return example === undefined ? [] : [example];
}

function exampleFromType(schema: JsonObject, defaultValue: Json | undefined): Json | undefined {
  const { enum: words, const: only, items } = schema;
  if (only !== undefined) return only;
  if (Array.isArray(words)) return words.find((word) => word !== null && word !== defaultValue);
  const types = [schema['type']].flat();
  if (types.includes('boolean')) return defaultValue !== true;
  if (types.includes('object') && isJsonObject(schema['properties'])) return exampleOfMembers(schema);
  if (isJsonObject(items)) return examplesOf(items).slice(0, 1);
  return defaultValue ?? undefined;
}

/** A map with its required members, or else with its first member. */
function exampleOfMembers({ properties, required }: JsonObject): Json {
  const members = Object.entries(isJsonObject(properties) ? properties : {});
  const needed = textsOf(required ?? []);
  const shown = needed.length === 0 ? members.slice(0, 1) : members.filter(([name]) => needed.includes(name));
  return Object.fromEntries(
    shown.flatMap(([name, member]) => {
      const [value] = isJsonObject(member) ? examplesOf(member) : [];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

// The type of a field in words, from its JSON Schema: `text`, `"remote" or "local"`, `a list of text`, `a number from 0 to 100`.

/** The type in words, without null, which has a separate meaning in each field. */
function describeType(schema: JsonObject): string {
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (Array.isArray(values) && values.length <= mostWords)
    return orList(values.filter((value) => value !== null).map((value) => JSON.stringify(value)));
  const types = [schema['type']].flat().filter((type) => type !== 'null');
  return orList(types.toSorted(scalarsFirst).map((type) => typeWord(String(type), schema)));
}

const mostWords = 8;

/** The allowed words of a text, or of the texts in a list, where `describeType` does not list them. */
function valuesOf(schema: JsonObject): readonly string[] {
  const { enum: words } = isJsonObject(schema['items']) ? schema['items'] : schema;
  return Array.isArray(words) && words.length > mostWords ? textsOf(words) : [];
}

function scalarsFirst(one: unknown, other: unknown): number {
  return Number(isCollection(one)) - Number(isCollection(other));
}

function isCollection(type: unknown): boolean {
  return type === 'array' || type === 'object';
}

function typeWord(type: string, schema: JsonObject): string {
  switch (type) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'array':
      return `a list of ${itemWord(schema['items'])}`;
    default:
      return `a map${isJsonObject(schema['additionalProperties']) ? ` of ${itemWord(schema['additionalProperties'])}` : ''}`;
  }
}

function itemWord(items: unknown): string {
  const schema = isJsonObject(items as JsonObject) ? (items as JsonObject) : {};
  const word = describeType(schema);
  return word === 'a map' ? 'maps' : word;
}

function range({ minimum, maximum, exclusiveMinimum }: JsonObject): string {
  if (typeof exclusiveMinimum === 'number') return ` above ${exclusiveMinimum}${upTo(maximum)}`;
  return typeof minimum === 'number' ? ` from ${minimum}${upTo(maximum)}` : '';
}

function upTo(maximum: unknown): string {
  return typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : '';
}
