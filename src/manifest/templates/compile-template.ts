/** Turns the value of a template into nodes: what has no expression in it is one constant node. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, type JsonObject, ownMember, type Path } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { type EntrySide, placeBelow, type YamlDocument } from '../yaml/yaml-document.ts';
import { type Expression, mayHoldExpression, parseText, type TextParts } from './expressions.ts';

/** `length`: how many characters each document gets from the node itself, without those of its members. */
export type Node =
  | { readonly is: 'constant'; readonly value: Json; readonly length: number }
  /** an expression that is the whole text: its value keeps its type */
  | { readonly is: 'value'; readonly expression: Expression; readonly types: ReadonlySet<ScalarType> }
  | { readonly is: 'text'; readonly parts: TextParts }
  | { readonly is: 'map'; readonly members: ReadonlyMap<string, Node>; readonly length: number }
  | { readonly is: 'list'; readonly items: readonly Node[] };

function withoutEach(value: Json): Json {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return value;
  const { each: _, ...metadata } = value['metadata'];
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'metadata' ? metadata : member]),
  );
}

/** Turns the value of a template into nodes, and collects what is wrong with its expressions. */
export class TemplateCompiler {
  /** the number of its expressions */
  count = 0;
  readonly wrong: Diagnostic[] = [];
  readonly #document: YamlDocument;
  readonly #kind: Kind | undefined;

  constructor(document: YamlDocument, kinds: Registry) {
    this.#document = document;
    const name = isJsonObject(document.value) ? document.value['kind'] : undefined;
    this.#kind = typeof name === 'string' ? kinds.get(name) : undefined;
  }

  /** The nodes of the document without `metadata.each`. */
  document(): Node {
    return this.#compile(withoutEach(this.#document.value), []);
  }

  #compile(value: Json, path: Path): Node {
    if (typeof value === 'string')
      return mayHoldExpression(value) ? this.#compileText(value, path) : constant(value);
    if (Array.isArray(value)) {
      const items = value.map((item: Json, index) => this.#compile(item, [...path, `${index}`]));
      return items.every(isConstant)
        ? constant(
            items.map(({ value: item }) => item),
            sumOf(items),
          )
        : { is: 'list', items };
    }
    if (!isJsonObject(value)) return constant(value);
    return this.#compileMap(value, path);
  }

  #compileMap(value: JsonObject, path: Path): Node {
    const members = Object.entries(value).map(([name, member]) => {
      if (mayHoldExpression(name))
        this.#refuse(
          [...path, name],
          'a key cannot have an expression in it',
          'write the map into the list, and one expression for all of it',
          'key',
        );
      return [name, this.#compile(member, [...path, name])] as const;
    });
    const nodes = members.map(([, node]) => node);
    const length = members.reduce((sum, [name]) => sum + name.length, 0);
    if (!nodes.every(isConstant)) return { is: 'map', members: new Map(members), length };
    const constants = members.map(([name], index) => [name, nodes[index]?.value ?? null] as const);
    return constant(Object.fromEntries(constants), length + sumOf(nodes));
  }

  #compileText(text: string, path: Path): Node {
    const parsed = parseText(text);
    if (parsed === undefined) return constant(text);
    if ('wrong' in parsed) {
      this.#refuse(
        path,
        `${quoted(parsed.wrong)} is not an expression`,
        'write ${each.key}, or ${each.value.NAME} for a member of the item; for the characters themselves, write $${',
      );
      return constant(text);
    }
    if (parsed.every((part) => typeof part === 'string')) return constant(parsed.join(''));
    if (path.length === 1)
      this.#refuse(
        path,
        `${quoted(path[0] ?? '')} of a template cannot have an expression in it`,
        'write a document for each kind',
      );
    this.count += parsed.length;
    const [first] = parsed;
    return parsed.length === 1 && first !== undefined && typeof first !== 'string'
      ? { is: 'value', expression: first, types: scalarTypes(this.#kind, path) }
      : { is: 'text', parts: parsed };
  }

  #refuse(path: Path, message: string, fix: string, side: EntrySide = 'value'): void {
    const place = placeBelow(this.#document, path, side);
    this.wrong.push({ code: 'wrong-expression', severity: 'error', class: 'invalid', message, place, fix });
  }
}

type Constant = Node & { readonly is: 'constant' };

function constant(value: Json, length = lengthOf(value)): Constant {
  return { is: 'constant', value, length };
}

function sumOf(constants: readonly Constant[]): number {
  return constants.reduce((sum, { length }) => sum + length, 0);
}

/** About the number of characters of the value as JSON. */
export function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length;
  if (value === null || typeof value !== 'object') return String(value).length;
  let length = 0;
  for (const [name, member] of Object.entries(value)) length += name.length + lengthOf(member);
  return length;
}

function isConstant(node: Node): node is Constant {
  return node.is === 'constant';
}

// The types that the schema of a kind requires for a value that is one expression: only there, cells of CSV files are converted.

type ScalarType = 'boolean' | 'number';

const none: ReadonlySet<ScalarType> = new Set();

/** The types that the value at a path may have; empty where a text is allowed. */
function scalarTypes(kind: Kind | undefined, path: Path): ReadonlySet<ScalarType> {
  if (kind === undefined) return none;
  let schemas: readonly JsonObject[] = [manifestSchema(kind)];
  for (const name of path) schemas = schemas.flatMap(branches).flatMap((schema) => below(schema, name));
  const types = new Set(schemas.flatMap(branches).flatMap(typesOf));
  if (types.has('string')) return none;
  const isNumber = types.has('number') || types.has('integer');
  return new Set([
    ...(isNumber ? (['number'] as const) : []),
    ...(types.has('boolean') ? (['boolean'] as const) : []),
  ]);
}

/** The schema itself, and its alternatives. */
function branches(schema: JsonObject): readonly JsonObject[] {
  const others = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => listOf(schema[name]));
  return [schema, ...others.flatMap((other) => (isJsonObject(other) ? branches(other) : []))];
}

function below({ properties, additionalProperties, items }: JsonObject, name: string): JsonObject[] {
  const member = isJsonObject(properties) ? ownMember(properties, name) : undefined;
  const found = member ?? (/^\d+$/.test(name) && isJsonObject(items) ? items : additionalProperties);
  return isJsonObject(found) ? [found] : [];
}

function typesOf({ type, enum: words, const: only }: JsonObject): string[] {
  const values = [...listOf(words), ...(only === undefined ? [] : [only])];
  return [
    ...(typeof type === 'string' ? [type] : listOf(type).map(String)),
    ...values.map((value) => typeof value),
  ];
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is neither a number nor a boolean stays a text, which the schema then refuses. */
export function convertText(text: string, types: ReadonlySet<ScalarType>): Json {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = types.has('number') && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber ? Number(text) : text;
}
