/** A TypeBox schema as the plain JSON Schema that a kind publishes: data only, nothing of the library's own. */
import type { TSchema } from 'typebox';
import type { JsonObject } from '../json/json.ts';

export function jsonSchema(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
