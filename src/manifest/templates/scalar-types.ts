/** Which types the schema of a kind wants where an expression stands alone: cells of CSV files are texts, and converted only there. */
import { isJsonObject, type Json, type JsonObject, ownMember, type Path } from '../../model/json.ts';
import type { Kind } from '../../model/kind.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';

export type ScalarType = 'boolean' | 'number';

const none: ReadonlySet<ScalarType> = new Set();

/** Empty where a text is allowed. */
export function scalarTypes(kind: Kind | undefined, path: Path): ReadonlySet<ScalarType> {
  if (kind === undefined) return none;
  let schemas: readonly JsonObject[] = [manifestSchema(kind)];
  for (const name of path) schemas = schemas.flatMap(branches).flatMap((schema) => below(schema, name));
  const types = new Set(schemas.flatMap(branches).flatMap(typesOf));
  if (types.has('string')) return none;
  const isNumber = types.has('number') || types.has('integer');
  return new Set([
    ...(isNumber ? (['number'] as const) : []),
    ...(types.has('boolean') ? (['boolean'] as const) : []),
  ]);
}

/** The schema itself, and its alternatives. */
function branches(schema: JsonObject): readonly JsonObject[] {
  const others = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(schema[name]));
  return [schema, ...others.flatMap((other) => (isJsonObject(other) ? branches(other) : []))];
}

function below({ properties, additionalProperties, items }: JsonObject, name: string): JsonObject[] {
  const member = isJsonObject(properties) ? ownMember(properties, name) : undefined;
  const found = member ?? (/^\d+$/.test(name) && isJsonObject(items) ? items : additionalProperties);
  return isJsonObject(found) ? [found] : [];
}

function typesOf({ type, enum: words, const: only }: JsonObject): string[] {
  const values = [...listOf(words), ...(only === undefined ? [] : [only])];
  return [
    ...(typeof type === 'string' ? [type] : listOf(type).map(String)),
    ...values.map((value) => typeof value),
  ];
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is no number or boolean stays a text, which the schema then refuses. */
export function convertText(text: string, types: ReadonlySet<ScalarType>): Json {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = types.has('number') && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}
