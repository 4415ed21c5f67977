/**
 * JSON Schema (draft 2020-12) to a function that lists what is wrong with a value. Schemas are compiled when they are
 * first needed and once, because compiling is what costs: a thousand times as much as checking a document.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Ajv2020, CodeOptions, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../model/json/json.ts';
import { readyChecks } from './precompiled-checks.ts';

/** Loads on demand and at once, which `import` cannot: Ajv is not needed where every schema is compiled already. */
const require = createRequire(import.meta.url);

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
  const wanted = schema();
  const validate = readyChecks.get(schemaKey(wanted)) ?? compileNow(wanted);
  const check: SchemaCheck = (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
  compiled.set(owner, check);
  return check;
}

/** The same for equal schemas, whenever and wherever they are made. */
export function schemaKey(schema: object): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex');
}

function compileNow(schema: object): ValidateFunction {
  compiler ??= makeCompiler();
  return compiler.compile(schema);
}

/** @param code how code is made of schemas: the build asks for source text */
export function makeCompiler(code: CodeOptions = {}): Ajv2020 {
  const { Ajv2020: Compiler }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const formats: typeof import('ajv-formats') = require('ajv-formats');
  const ajv = new Compiler({
    strict: true,
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictRequired: false,
    code,
  });
  ajv.addVocabulary(annotations);
  formats.default(ajv);
  return ajv;
}
