/** Turns the value of a template into nodes: what has no expression in it is one constant node. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, type JsonObject, type Path } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { type EntrySide, placeBelow, type YamlDocument } from '../yaml/yaml-document.ts';
import { type Expression, mayHoldExpression, parseText, type TextParts } from './expressions.ts';
import { type ScalarType, scalarTypes } from './scalar-types.ts';

export type Node =
  | { readonly is: 'constant'; readonly value: Json }
  /** an expression alone in its text: it keeps its type */
  | { readonly is: 'value'; readonly expression: Expression; readonly types: ReadonlySet<ScalarType> }
  | { readonly is: 'text'; readonly parts: TextParts }
  | { readonly is: 'map'; readonly members: ReadonlyMap<string, Node> }
  | { readonly is: 'list'; readonly items: readonly Node[] };

function withoutEach(value: Json): Json {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return value;
  const { each: _, ...metadata } = value['metadata'];
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === 'metadata' ? metadata : member]),
  );
}

/** Turns the value of a template into nodes, and collects what is wrong with its expressions. */
/** Compiles one document. */
export class TemplateCompiler {
  /** its expressions */
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
      return mayHoldExpression(value) ? this.#compileText(value, path) : { is: 'constant', value };
    if (Array.isArray(value)) {
      const items = value.map((item: Json, index) => this.#compile(item, [...path, `${index}`]));
      return items.every(isConstant)
        ? { is: 'constant', value: items.map(({ value: item }) => item) }
        : { is: 'list', items };
    }
    if (!isJsonObject(value)) return { is: 'constant', value };
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
    if (!nodes.every(isConstant)) return { is: 'map', members: new Map(members) };
    return {
      is: 'constant',
      value: Object.fromEntries(members.map(([name], index) => [name, nodes[index]?.value ?? null])),
    };
  }

  #compileText(text: string, path: Path): Node {
    const parsed = parseText(text);
    if (parsed === undefined) return { is: 'constant', value: text };
    if ('wrong' in parsed) {
      this.#refuse(
        path,
        `${quoted(parsed.wrong)} is not an expression`,
        'write ${each.key}, or ${each.value.NAME} for a member of the item; for the characters themselves, write $${',
      );
      return { is: 'constant', value: text };
    }
    if (parsed.every((part) => typeof part === 'string')) return { is: 'constant', value: parsed.join('') };
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

function isConstant(node: Node): node is Node & { readonly is: 'constant' } {
  return node.is === 'constant';
}
