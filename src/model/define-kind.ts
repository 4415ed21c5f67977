/** Helpers to define a kind: the JSON Schema of its spec, and the general type that planner, applier and reports work with. */
import type { Static, TSchema } from 'typebox';
import type { SchemaOf } from './kind-specs.ts';
import type { Kind } from './kind.ts';
import type { LiveResource, Spec } from './resource.ts';

/** A kind with its own types, and the schema that its declared type comes from. */
export interface TypedKind<D extends Spec, L extends LiveResource, P extends Spec = D> extends Kind<D, L, P> {
  readonly specSchema: SchemaOf<D>;
}

/**
 * The kind without its own types. The cast is safe because callers pass a kind only specs that its own schema admits, live
 * resources that its own `read` made, and specs that its own `prepare` made. The type of a registry of all kinds cannot
 * express that.
 */
export function defineKind<D extends Spec, L extends LiveResource, P extends Spec = D>(
  form: TypedKind<D, L, P>,
): Kind {
  return form as unknown as Kind;
}

// Converts a TypeBox schema to the plain JSON Schema that a kind publishes, without the library's own members.

export function jsonSchema<T extends TSchema>(schema: T): SchemaOf<Static<T>> {
  return JSON.parse(JSON.stringify(schema)) as SchemaOf<Static<T>>;
}
