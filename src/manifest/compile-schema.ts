/**
 * JSON Schema (draft 2020-12) to a function that lists what is wrong with a value. Schemas are compiled when they are
 * first needed and once, because compiling is what costs: a thousand times as much as checking a document.
 */
import formats from 'ajv-formats';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { Json } from '../model/json.ts';

/** One broken rule of a schema, as Ajv tells it; `params` depends on the keyword. */
export type SchemaError = ErrorObject<string, Readonly<Record<string, unknown>>, unknown>;

/** All that is wrong with a value; empty when nothing is. */
export type SchemaCheck = (value: Json) => readonly SchemaError[];

/** Keywords that only editors read. */
const annotations = ['patternErrorMessage', 'markdownDescription', 'deprecationMessage', 'enumDescriptions'];

let compiler: Ajv2020 | undefined;
const compiled = new WeakMap<object, SchemaCheck>();

/**
 * @param owner what the schema belongs to: it is compiled once for each owner
 * @throws when the schema itself is wrong: a mistake in a kind
 */
export function compileSchema(owner: object, schema: () => object): SchemaCheck {
  const known = compiled.get(owner);
  if (known !== undefined) return known;
  compiler ??= makeCompiler();
  const validate = compiler.compile(schema());
  const check: SchemaCheck = (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
  compiled.set(owner, check);
  return check;
}

function makeCompiler(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictRequired: false,
  });
  ajv.addVocabulary(annotations);
  formats.default(ajv);
  return ajv;
}
