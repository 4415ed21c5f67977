/**
 * Checks unknown data against a JSON Schema, and reports each problem as a sentence with its path. Schemas are compiled at their
 * first use.
 */
import { createRequire } from 'node:module';
import type { Ajv2020, CodeOptions, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { readTimestamp } from './request-body.ts';

/** Unlike `import`, loads Ajv on demand and synchronously: few commands need it. */
const require = createRequire(import.meta.url);

/** A function for each format. It returns the problems of a value: sentences, or sentences without their subject. */
export type Formats = Readonly<Record<string, (value: unknown) => readonly string[]>>;

interface SchemaProblem {
  /** The sentence, which begins with the path: `organizations[0].name must be a text`. */
  readonly text: string;
  /** The JSON pointer of the value. */
  readonly pointer: string;
}

/** All problems of a value. `at` is its path in the data; empty for the root. */
export type SchemaCheck = (value: unknown, at?: string) => SchemaProblem[];

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export const COMMON_FORMATS: Formats = {
  time: formatOf('an ISO 8601 time', (text) => readTimestamp(text) !== undefined),
  uuid: formatOf('a UUID', (text) => UUID.test(text)),
};

/** A format with one rule. */
export function formatOf(what: string, isMet: (text: string) => boolean) {
  return (value: unknown) => (typeof value === 'string' && isMet(value) ? [] : [`must be ${what}`]);
}

interface CheckOptions {
  /** The name of the root in problems. */
  readonly root: string;
  readonly formats?: Formats;
  /** The compiled schema, if the build has compiled it. */
  readonly compiled?: ValidateFunction | undefined;
}

export function schemaCheck(
  schema: object,
  { root, formats = COMMON_FORMATS, compiled }: CheckOptions,
): SchemaCheck {
  let validate = compiled;
  return (value, at = '') => {
    validate ??= makeCompiler(formats).compile(schema);
    if (validate(value)) return [];
    const problems = (validate.errors ?? []).flatMap((error) => {
      const { instancePath: pointer, schemaPath } = error;
      const rule = valueAt(schema, schemaPath.slice(0, schemaPath.lastIndexOf('/'))) as SchemaRule;
      const place = { path: pathText(value, pointer, at), root, rule, data: valueAt(value, pointer) };
      return explain(error, place, formats).map((text) => ({ text, pointer }));
    });
    return problems.filter(({ text }, index) => problems.findIndex((other) => other.text === text) === index);
  };
}

/** @param code Ajv's options for generated code: the build sets them to get source text */
export function makeCompiler(formats: Formats, code: CodeOptions = {}): Ajv2020 {
  const { Ajv2020: Compiler }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const tests = Object.entries(formats).map(
    ([name, problems]) => [name, (text: string) => problems(text).length === 0] as const,
  );
  return new Compiler({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    formats: Object.fromEntries(tests),
    code,
  });
}

function partsOf(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(root: unknown, pointer: string): unknown {
  return partsOf(pointer).reduce((value, part) => Object(value)[part], root);
}

/** `organizations[0].teams[1]`: indexes of lists in brackets, names of members after a dot. */
function pathText(root: unknown, pointer: string, at: string): string {
  let value = root;
  let path = at;
  for (const part of partsOf(pointer)) {
    path = Array.isArray(value) ? `${path}[${part}]` : member(path, part);
    value = Object(value)[part];
  }
  return path;
}

function member(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

type SchemaRule = Readonly<Record<string, unknown>>;

/** Keywords whose errors only say that there are other errors. */
const SUMMARIES = ['if', 'propertyNames'];

interface Place {
  readonly path: string;
  readonly root: string;
  /** The schema that has the broken keyword. */
  readonly rule: SchemaRule;
  readonly data: unknown;
}

function explain(error: ErrorObject, { path, root, rule, data }: Place, formats: Formats): string[] {
  const { keyword, params, propertyName } = error as ErrorObject<string, SchemaRule>;
  if (SUMMARIES.includes(keyword)) return [];
  if (keyword === 'required') return [`${path || root} lacks ${params['missingProperty']}`];
  if (keyword === 'additionalProperties') {
    const key = String(params['additionalProperty']);
    const known = Object.keys(Object(rule['properties'])).join(', ');
    return [`${member(path, shownKey(key, Object(data)[key]))} is not known here (known: ${known})`];
  }
  const place = propertyName === undefined ? path || root : member(path, propertyName);
  const format = formats[String(rule['format'])];
  const details =
    keyword === 'maxLength'
      ? [`has at most ${params['limit']} characters`]
      : (format?.(propertyName ?? data) ?? [requirement(rule)]);
  return details.map((detail) => `${place}${/^[a-z]/.test(detail) ? '' : ':'} ${detail}`);
}

/** Hides a key that may be a secret, as when the file is not a file of this kind. */
function shownKey(key: string, value: unknown): string {
  return /^[a-z][a-z_-]{0,30}$/i.test(key) && value !== null ? key : '(a key)';
}

function requirement(schema: SchemaRule): string {
  const { enum: words, minimum, minLength } = schema;
  const type = [schema['type']].flat();
  if (Array.isArray(words)) return `must be one of ${words.join(', ')}`;
  if (type.includes('boolean')) return 'must be true or false';
  if (type.includes('array')) return 'must be a list';
  if (type.includes('object')) return type.includes('null') ? 'must be a map, or null' : 'must be a map';
  if (type.includes('string')) return minLength === 1 ? 'must be a text that is not empty' : 'must be a text';
  if (minimum === 0) return 'must be a whole number that is not negative';
  return minimum === 1 ? 'must be a whole number greater than 0' : 'must be a whole number';
}
