/** Converts a TypeBox schema to the plain JSON Schema that a kind publishes, without the library's own members. */
import type { Static, TSchema } from 'typebox';
import type { SchemaOf } from './spec-types.ts';

export function jsonSchema<T extends TSchema>(schema: T): SchemaOf<Static<T>> {
  return JSON.parse(JSON.stringify(schema)) as SchemaOf<Static<T>>;
}
