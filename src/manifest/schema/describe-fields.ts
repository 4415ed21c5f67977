/**
 * Describes every field of the documents that users write, from the JSON Schema and the field table of each kind: the one source
 * of `trueup explain` and of the reference pages.
 */
import type { TSchema } from 'typebox';
import { jsonSchema } from '../../model/define-kind.ts';
import type { Field, FieldTable } from '../../model/field.ts';
import { isJsonObject, type Json, type JsonObject, textsOf } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { examplesOf } from './example-values.ts';
import { manifestSchema } from './manifest-schema.ts';
import { stackSchema } from './stack-schema.ts';
import { describeType, valuesOf } from './type-words.ts';

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
  /** what holds when the field is left out, as a clause */
  readonly default: string;
  /** what `null` does, as a clause; absent where null is an error */
  readonly null?: string;
  readonly description: string;
  /** one at least: of the schema, or of its type */
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

/** A document that is no resource. */
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

/** A field of a spec is left as it is, or set to its default: that depends on the kind. */
function leftOut(
  schema: JsonObject,
  [top, ...below]: readonly string[],
  { field, absent }: { readonly field: Field | undefined; readonly absent?: Kind['absent'] },
): string {
  if (schema['default'] !== undefined) return JSON.stringify(schema['default']);
  const isOfSpec = top === 'spec' && (below.length === 1 || field !== undefined) && field?.local !== true;
  if (isOfSpec && absent === 'unmanaged') return 'not managed';
  if (isOfSpec && absent === 'default' && field?.writeOnly !== true)
    return meaningOfDefault(field) ?? 'not set';
  return 'not set';
}

/** What a description says about null: `"" or null: none.` */
const nullClause = /\bnull(?:, or removing the field)?: (.*?)(?:\.(?=\s|$)|$)/s;

function meaningOfNull(schema: JsonObject, field: Field | undefined): string {
  const [, clause] = nullClause.exec(String(schema['description'] ?? '')) ?? [];
  return meaningOfDefault(field) ?? clause ?? 'the default of the service';
}

/** Undefined for a default that says nothing by itself, such as `""`. */
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
