/**
 * Compiles a JSON Schema (draft 2020-12) to a function that lists the errors of a value, and reduces these errors to those that
 * help. Each schema is compiled once, when it is first needed.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Ajv2020, CodeOptions, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../model/json.ts';
import { readyChecks } from './precompiled-checks.ts';

/** Loads on demand and synchronously, unlike `import`. Ajv is not needed where every schema is precompiled. */
const require = createRequire(import.meta.url);

/** One broken rule of a schema, as Ajv reports it; `params` depends on the keyword. */
export type SchemaError = ErrorObject<string, Readonly<Record<string, unknown>>, unknown>;

/** All errors of a value; empty when it is valid. */
type SchemaCheck = (value: Json) => readonly SchemaError[];

/** Keywords that only editors read. */
const annotations = ['patternErrorMessage', 'markdownDescription', 'deprecationMessage', 'enumDescriptions'];

let compiler: Ajv2020 | undefined;
const compiled = new WeakMap<object, SchemaCheck>();

/**
 * @param owner the object that the schema belongs to; one schema is compiled for each
 * @throws when the schema itself is wrong: a mistake in a kind
 */
export function compileSchema(owner: object, schema: () => object): SchemaCheck {
  const known = compiled.get(owner);
  if (known !== undefined) return known;
  const source = schema();
  const validate = readyChecks.get(schemaKey(source)) ?? compileNow(source);
  const check: SchemaCheck = (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
  compiled.set(owner, check);
  return check;
}

/** A hash of the schema's content, the same in the build and at run time. */
export function schemaKey(schema: object): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex');
}

function compileNow(schema: object): ValidateFunction {
  compiler ??= makeCompiler();
  return compiler.compile(schema);
}

/** @param code Ajv's options for generated code: the build asks for source text */
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

// Reduces the errors to those that help. For alternatives (`anyOf`, `oneOf`) a validator reports the errors of every branch; a user
// needs those of the intended branch, or one error about all. Never drops the last error of a value.

/** The errors to report. If a value fits no branch of its alternatives, they give one error, that of their keyword. */
export function groupErrors(errors: readonly SchemaError[]): SchemaError[] {
  const outermost = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .sort((one, other) => one.schemaPath.length - other.schemaPath.length)[0];
  if (outermost === undefined) return errors.filter(({ keyword }) => !summaryKeywords.has(keyword));
  const inside = errors.filter((error) => isInside(error, outermost));
  const others = errors.filter((error) => error !== outermost && !inside.includes(error));
  return [...groupErrors(others), ...meantBranch(outermost, inside)];
}

/** Keywords whose errors only say that there are other errors. */
const summaryKeywords = new Set(['if', 'propertyNames']);

function isInside(error: SchemaError, alternatives: SchemaError): boolean {
  return (
    error.schemaPath.startsWith(`${alternatives.schemaPath}/`) &&
    error.instancePath.startsWith(alternatives.instancePath)
  );
}

function meantBranch(alternatives: SchemaError, inside: readonly SchemaError[]): SchemaError[] {
  const branches = new Map<string, SchemaError[]>();
  for (const error of inside) {
    const number = error.schemaPath.slice(alternatives.schemaPath.length + 1).split('/', 1)[0] ?? '';
    branches.set(number, [...(branches.get(number) ?? []), error]);
  }
  const fitting = [...branches.values()].filter(
    (branch) => !branch.some((error) => isMisfit(error, alternatives)),
  );
  if (alternativeFields(alternatives) !== undefined) return [alternatives];
  const best = fitting.sort((one, other) => one.length - other.length)[0];
  return best === undefined ? [alternatives] : groupErrors(best);
}

/** The fields of which exactly one must be set, if the branches say nothing else. Then no branch is more likely than the others. */
export function alternativeFields({ keyword, schema }: SchemaError): string[] | undefined {
  if (keyword !== 'oneOf' || !Array.isArray(schema)) return undefined;
  const fields = schema.map((branch: Readonly<Record<string, unknown>>) =>
    Object.keys(branch).length === 1 && Array.isArray(branch['required']) ? branch['required'] : [],
  );
  return fields.every(({ length }) => length === 1) ? fields.flat().map(String) : undefined;
}

/** Whether an error shows that the branch is for another type of value. */
function isMisfit({ keyword, instancePath }: SchemaError, alternatives: SchemaError): boolean {
  return instancePath === alternatives.instancePath && ['type', 'const', 'enum'].includes(keyword);
}
