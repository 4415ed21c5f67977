/** Describes values and what a schema allows: `the text "yes"`, `a list of text`, `"remote", "local" or "agent"`. */
import { isJsonObject, type Json } from '../../model/json/json.ts';
import { orList, quotedShort } from './problem.ts';

/** @param typed the value as written in the file, when that is known: `1.10`, not 1.1 */
export function describeFound(value: unknown, typed?: string): string {
  if (value === null) return typed === undefined || typed === '' ? 'nothing' : typed;
  if (typeof value === 'string') return `the text ${quotedShort(value)}`;
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
export function allowedTypes(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches)) return unique(branches.flatMap(allowedTypes));
  return [schema['type']].flat().filter((type) => typeof type === 'string');
}

/** The types of items in the lists that a schema allows. */
export function allowedItems(schema: unknown): string[] {
  if (!isSchema(schema)) return [];
  const branches = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(branches) ? unique(branches.flatMap(allowedItems)) : allowedTypes(schema['items']);
}

/** A value as it is written in YAML. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? quotedShort(value) : JSON.stringify(value);
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
