/** The types of a kind's specs, derived from its schema: a field that the schema lacks does not compile. */
import type { Json, JsonObject } from '../json/json.ts';

/**
 * The spec of a valid manifest. Every field may be missing, even a required one: a tombstone declares none, and neither does
 * a resource that is no longer declared.
 */
export type Declared<S> = { readonly [Field in keyof S]?: S[Field] };

/**
 * The fields of the schema with values that were not validated against it: from the ledger, from a live resource, in canonical
 * form, or, for a part, from the stack's defaults, which the kind's rules check even when they do not match the schema.
 */
export type Named<S> = string extends keyof S
  ? Readonly<Record<string, Json>>
  : { readonly [Field in keyof S]?: Json };

declare const admits: unique symbol;

/** The JSON Schema of specs of the type `S`: using it for other fields or other values does not compile. */
export type SchemaOf<S> = JsonObject & {
  readonly [admits]?: { readonly spec: S; readonly fields: (field: keyof S) => keyof S };
};
