/** A TypeBox schema as the plain JSON Schema that a kind publishes: data only, nothing of the library's own. */
import type { Static, TSchema } from 'typebox';
import type { SchemaOf } from './spec-types.ts';

export function jsonSchema<T extends TSchema>(schema: T): SchemaOf<Static<T>> {
  return JSON.parse(JSON.stringify(schema)) as SchemaOf<Static<T>>;
}
