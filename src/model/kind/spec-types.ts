/** The types of a kind's specs, made from the type of its schema: a field that the schema lacks does not compile. */
import type { Json, JsonObject } from '../json/json.ts';

/**
 * What a valid manifest declares. No field is certain to be there, required or not: a tombstone declares none, and what is
 * no longer declared is looked at as well.
 */
export type Declared<S> = { readonly [Field in keyof S]?: S[Field] };

/**
 * The fields of the schema, with values that nobody has held against it: of the ledger, of a live resource, in canonical
 * form, or of a part's defaults, which its rules get to see however wrong they are.
 */
export type Named<S> = string extends keyof S
  ? Readonly<Record<string, Json>>
  : { readonly [Field in keyof S]?: Json };

declare const admits: unique symbol;

/** The JSON Schema of specs of the type `S`: whoever takes it for that of other fields, or of other values, does not compile. */
export type SchemaOf<S> = JsonObject & {
  readonly [admits]?: { readonly spec: S; readonly fields: (field: keyof S) => keyof S };
};
