/**
 * Explains values of the wrong type: what was found, what a schema allows, and how to write the same value so that it has the
 * right type.
 */
import { dump } from 'js-yaml';
import { isJsonObject, type Json, type Path } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { orList, quoted } from '../model/quoted.ts';
import { bareText } from './edit/value-text.ts';
import { type ExplainContext, type Problem, pathText, quotedMasked } from './problem.ts';
import type { SchemaError } from './schema/compile-schema.ts';

const booleans: Readonly<Record<string, boolean>> = {
  yes: true,
  on: true,
  true: true,
  y: true,
  no: false,
  off: false,
  false: false,
  n: false,
};

export function explainWrongType(error: SchemaError, at: Path, context: ExplainContext): Problem {
  if (at.length === 0) return notADocument(error);
  if (error.data === null) return unwantedNull(error, at, context);
  if (typeof error.data === 'string' && context.isSecret(at.slice(-1))) return literalSecret(error, at);
  const typed = context.typed(at);
  const form = formOfText(error, typed);
  const fix = context.isSecret(at) || form !== undefined ? undefined : suggestSpelling(error, typed);
  return {
    code: 'wrong-type',
    path: at,
    message: `${quoted(pathText(at))} has the wrong type`,
    found: describeFound(error.data, typed),
    allowed: form ?? describeAllowed(error.parentSchema),
    ...(fix === undefined ? {} : { fix }),
  };
}

/** The form of texts of this field, if the value in quotes would not have it: then quotes do not help. */
function formOfText({ data, parentSchema }: SchemaError, typed: string | undefined): string | undefined {
  if (typeof data !== 'number' && typeof data !== 'boolean') return undefined;
  const { pattern, patternErrorMessage: form } = parentSchema ?? {};
  if (typeof pattern !== 'string' || typeof form !== 'string') return undefined;
  return new RegExp(pattern, 'u').test(typed ?? `${data}`) ? undefined : form;
}

function notADocument(error: SchemaError): Problem {
  return {
    code: 'wrong-type',
    path: [],
    message: 'a document must be a map with "apiVersion", "kind", "metadata" and "spec"',
    found: describeFound(error.data),
  };
}

/** `null` means the service's default, so it is wrong in a field without a default. */
function unwantedNull(error: SchemaError, at: Path, { field, typed, absent }: ExplainContext): Problem {
  const known = field(at);
  if (known !== undefined && known.default === undefined) return noDefault(at, absent);
  return {
    code: 'wrong-type',
    path: at,
    message: `${quoted(pathText(at))} has no value`,
    found: describeFound(null, typed(at)),
    allowed: describeAllowed(error.parentSchema),
    fix:
      at.join() === 'spec'
        ? 'write "spec: {}", or give it fields'
        : `give it a value, or remove ${quoted(at.at(-1) ?? '')}`,
  };
}

export function noDefault(at: Path, absent: Kind['absent']): Problem {
  const name = at.at(-1);
  return {
    code: 'no-default',
    path: at,
    message: `${quoted(pathText(at))} has no default, so null means nothing`,
    found: 'null',
    fix: `give it a value, or leave ${quoted(name ?? '')} out${absent === 'unmanaged' ? ', which means "not managed"' : ''}`,
  };
}

function literalSecret(error: SchemaError, at: Path): Problem {
  const allowed = Object.keys(error.parentSchema?.['properties'] ?? {}).filter((name) => name !== 'version');
  return {
    code: 'literal-secret',
    path: at,
    side: 'key',
    message: `${quoted(pathText(at))} must name the source of the secret, not hold it`,
    allowed: allowed.map((name) => `{ ${name}: … }`).join(' or '),
    fix: 'put it in an environment variable and write { env: NAME }; if it was ever committed, replace it',
  };
}

/** How to write the same value with the right type. */
function suggestSpelling({ data, parentSchema }: SchemaError, typed: string | undefined): string | undefined {
  const types = allowedTypes(parentSchema);
  // Quotes would not make the value valid.
  const words: unknown = parentSchema?.['enum'];
  if (typeof data !== 'string' && Array.isArray(words) && !words.includes(typed ?? `${data}`))
    return `write ${describeAllowed(parentSchema)}`;
  if (typeof data === 'number' || typeof data === 'boolean')
    return suggestForScalar(data, types, {
      typed: typed ?? `${data}`,
      items: allowedItems(parentSchema),
    });
  if (typeof data === 'string') return suggestForText(data, types);
  if (Array.isArray(data) && data.length === 1 && !types.includes('object')) return 'write it without a list';
  return undefined;
}

function suggestForScalar(
  data: number | boolean,
  types: readonly string[],
  { typed, items }: { readonly typed: string; readonly items: readonly string[] },
): string | undefined {
  if (types.includes('string')) return `put it in quotes: ${bareText(typed, { flow: true, bare: false })}`;
  if (!types.includes('array') || types.includes('object')) return undefined;
  return suggestList([items.includes('string') ? typed : data]);
}

function suggestForText(text: string, types: readonly string[]): string | undefined {
  const boolean = booleans[text.toLowerCase()];
  if (types.includes('boolean') && boolean !== undefined) return `write ${boolean}, without quotes`;
  const isNumeric = text.trim() !== '' && Number.isFinite(Number(text));
  if ((types.includes('number') || types.includes('integer')) && isNumeric)
    return `write ${Number(text)}, without quotes`;
  // the services split such a text at its commas, so users expect the same
  if (types.includes('array')) return suggestList(text.split(',').map((part) => part.trim()));
  return undefined;
}

/** As `fmt` writes it, so that YAML reads the same items back: `*` and `1.10` need quotes, most names do not. */
function suggestList(items: readonly (string | number | boolean)[]): string {
  return `write a list: ${dump(items, { flowLevel: 0, lineWidth: -1 }).trim()}`;
}

// Describes values and what a schema allows: `the text "yes"`, `a list of text`, `"remote", "local" or "agent"`.

/** @param typed the value as written in the file, when that is known: `1.10`, not 1.1 */
export function describeFound(value: unknown, typed?: string): string {
  if (value === null) return typed === undefined || typed === '' ? 'nothing' : typed;
  if (typeof value === 'string') return `the text ${quotedMasked(value)}`;
  if (typeof value === 'number') return `the number ${typed ?? value}`;
  if (typeof value === 'boolean') return typed ?? `${value}`;
  return Array.isArray(value) ? 'a list' : 'a map';
}

/** What a schema allows; empty when it does not say. */
export function describeAllowed(schema: unknown): string {
  return orList(allowedWords(schema));
}

function allowedWords(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const values = schema['const'] === undefined ? schema['enum'] : [schema['const']];
  if (Array.isArray(values)) return unique(values.map(wordOf));
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return unique(branches.flatMap(allowedWords));
  return unique([schema['type']].flat().flatMap((type) => describeType(type, schema)));
}

/** The types that a schema allows, those of its alternatives included. */
function allowedTypes(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return unique(branches.flatMap(allowedTypes));
  return [schema['type']].flat().filter((type) => typeof type === 'string');
}

/** The types of items in the lists that a schema allows. */
function allowedItems(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const branches = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(branches) ? unique(branches.flatMap(allowedItems)) : allowedTypes(schema['items']);
}

/** A value as it is written in YAML. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? quotedMasked(value) : JSON.stringify(value);
}

const typeWords: Readonly<Record<string, readonly string[]>> = {
  string: ['text'],
  boolean: ['true', 'false'],
  integer: ['a whole number'],
  number: ['a number'],
  object: ['a map'],
  array: ['a list'],
  null: ['null'],
};

function describeType(type: unknown, schema: Readonly<Record<string, unknown>>): readonly string[] {
  const items = type === 'array' ? describeAllowed(schema['items']) : '';
  return items === '' ? (typeWords[String(type)] ?? []) : [`a list of ${items.replace(/^an? /, '')}`];
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => word !== '');
}

function isSchema(schema: unknown): schema is Readonly<Record<string, unknown>> {
  return isJsonObject(schema as Json | undefined);
}
