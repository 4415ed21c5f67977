/**
 * A document with `metadata.each`, prepared for expansion: its parts without expressions are shared by all documents that are made
 * from it, so that time and memory grow only with what differs.
 */
import type { Diagnostic, Place } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, type Path } from '../../model/json.ts';
import type { Registry } from '../../model/kind.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoted } from '../../model/quoted.ts';
import { type EntrySide, placeBelow, type SourceText, type YamlDocument } from '../yaml/yaml-document.ts';
import { type EventRange, rawScalar } from '../yaml/locate.ts';
import { convertText, lengthOf, type Node, TemplateCompiler } from './compile-template.ts';
import { type Expression, expressionText, find, type Found, keyOf } from './expressions.ts';
import type { Item, ItemList } from './list-items.ts';
import type { Combination } from './read-each.ts';

/** Drops a `renamedFrom` that is empty, null or the name itself: most items of a list are not renamed. */
function withoutEmptyRename(value: Json): Json {
  const metadata = memberOf(value, 'metadata');
  if (!isJsonObject(value) || !isJsonObject(metadata)) return value;
  const { renamedFrom, ...rest } = metadata;
  const isNone = renamedFrom === '' || renamedFrom === null || renamedFrom === metadata['name'];
  return isNone ? { ...value, metadata: rest } : value;
}

/** Where a value of a document comes from. */
type Origin =
  | { readonly is: 'template' }
  /** the whole text is one expression, so the value is that of the item */
  | { readonly is: 'item'; readonly item: Item; readonly path: Path }
  /** a text with an expression in it, or `each.key` of a product */
  | { readonly is: 'text'; readonly item: Item; readonly path: Path };

/** How many characters all documents of all templates have so far, and at most. */
export interface TextBudget {
  used: number;
  readonly max: number;
}

/** The place of a value in the document that is made, and what is collected while it is made. */
interface ExpandedAt {
  readonly path: Path;
  readonly wrong: Diagnostic[];
  readonly budget: TextBudget;
}

export class Template {
  readonly document: YamlDocument;
  /** how many expressions it has: the work for each document grows with them */
  readonly expressions: number;
  readonly #root: Node;
  readonly wrong: readonly Diagnostic[];
  /** by list and name of a member: whether no item has it */
  readonly #lacked = new Map<ItemList, Map<string, boolean>>();
  /** the lengths of maps and lists in items */
  readonly #lengths = new WeakMap<object, number>();

  constructor(document: YamlDocument, kinds: Registry) {
    this.document = document;
    const compiler = new TemplateCompiler(document, kinds);
    this.#root = compiler.document();
    this.expressions = compiler.count;
    this.wrong = compiler.wrong;
  }

  /** @returns problems when the items lack something. If the document uses more than the budget, its texts are incomplete */
  make(combination: Combination, budget: TextBudget): MadeFromTemplate | Diagnostic[] {
    const wrong: Diagnostic[] = [];
    const value = this.#expand(this.#root, combination, { path: [], wrong, budget });
    return wrong.length > 0 ? wrong : new MadeFromTemplate(this, combination, withoutEmptyRename(value));
  }

  /** Where the value at a path of a document comes from. */
  originOf(path: Path, combination: Combination): Origin {
    const { node, depth } = nodeAt(this.#root, path);
    if (node.is === 'value') {
      const found = find(node.expression, combination);
      if (found.item === undefined) return { is: 'template' };
      const below = [...found.path, ...path.slice(depth)];
      return { is: found.isMade ? 'text' : 'item', item: found.item, path: below };
    }
    const first = node.is === 'text' ? node.parts.find((part) => typeof part !== 'string') : undefined;
    const found = first && find(first, combination);
    return found?.item === undefined
      ? { is: 'template' }
      : { is: 'text', item: found.item, path: found.path };
  }

  /** Which values of a document come from items of lists, and from where in the items. */
  usesOf(combination: Combination): readonly ItemUse[] {
    const uses: ItemUse[] = [];
    const walk = (node: Node, at: Path): void => {
      if (node.is === 'map') for (const [name, member] of node.members) walk(member, [...at, name]);
      else if (node.is === 'list')
        for (const [index, item] of node.items.entries()) walk(item, [...at, `${index}`]);
      else if (node.is === 'value') uses.push(...usesIn([node.expression], at, combination));
      else if (node.is === 'text')
        uses.push(
          ...usesIn(
            node.parts.filter((part) => typeof part !== 'string'),
            at,
            combination,
          ),
        );
    };
    walk(this.#root, []);
    return uses;
  }

  #expand(node: Node, combination: Combination, at: ExpandedAt): Json {
    switch (node.is) {
      case 'constant':
        at.budget.used += node.length;
        return node.value;
      case 'value': {
        const found = this.#find(node.expression, combination, at);
        if (found === undefined) return null;
        at.budget.used += this.#lengthOf(found.value);
        return typeof found.value === 'string' && found.item?.list.holdsOnlyTexts === true
          ? convertText(found.value, node.types)
          : found.value;
      }
      case 'text': {
        const parts = node.parts.map((part) =>
          typeof part === 'string' ? part : this.#text(part, combination, at),
        );
        for (const { length } of parts) at.budget.used += length;
        // The JavaScript engine would throw for a text that is too long.
        return at.budget.used > at.budget.max ? '' : parts.join('');
      }
      case 'list':
        return node.items.map((item, index) =>
          this.#expand(item, combination, { ...at, path: [...at.path, `${index}`] }),
        );
      case 'map': {
        at.budget.used += node.length;
        const members = [...node.members].map(
          ([name, member]) =>
            [name, this.#expand(member, combination, { ...at, path: [...at.path, name] })] as const,
        );
        return Object.fromEntries(members);
      }
    }
  }

  #lengthOf(value: Json): number {
    if (value === null || typeof value !== 'object') return lengthOf(value);
    const length = this.#lengths.get(value) ?? lengthOf(value);
    this.#lengths.set(value, length);
    return length;
  }

  #find(expression: Expression, combination: Combination, { path, wrong }: ExpandedAt): Found | undefined {
    const found = find(expression, combination);
    if (found.missing === undefined) return found;
    wrong.push(this.#missing(expression, found, path));
    return undefined;
  }

  /** The text of a value within a text. */
  #text(expression: Expression, combination: Combination, at: ExpandedAt): string {
    const found = this.#find(expression, combination, at);
    if (found === undefined) return '';
    const { value, item, path } = found;
    if (typeof value === 'string') return value;
    const text = value === null || typeof value === 'object' ? undefined : String(value);
    // A number may be written as 007 or 1.10: a text that differs from what was typed would be a surprise.
    const typed = item?.list.typed(item, path) ?? text;
    if (text !== undefined && typed === text) return text;
    at.wrong.push({
      code: 'wrong-expression',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(expressionText(expression))} is ${text === undefined ? kindOf(value) : `${kindOf(value)} that is not written as ${quoted(text)}`}, and stands within a text`,
      ...this.#placed(at.path, item, path),
      fix:
        text === undefined
          ? 'use one of its members, or let the expression be the whole text'
          : 'put quotes around it in the list',
    });
    return '';
  }

  #missing(expression: Expression, { item, path, missing = '', known = [] }: Found, at: Path): Diagnostic {
    const near = nearestWord(missing, known);
    if (item !== undefined && path.length === 0 && this.#isLackedByAll(item.list, missing))
      return this.#lackedByAll(expression, item.list, { missing, near, at });
    const key = item === undefined ? '' : ` of item ${quoted(item.key)}`;
    return {
      code: 'missing-member',
      severity: 'error',
      class: 'invalid',
      message:
        item === undefined
          ? `${quoted(expressionText(expression))}: ${missing === 'key' ? '"each.key" is a text, and has no members' : `there is no list ${quoted(missing)}`}`
          : `${quoted(expressionText(expression))}: the value${key} has no member ${quoted(missing)}`,
      ...this.#placed(at, item, path),
      ...(item === undefined ? { allowed: known.map((name) => `each.${name}`).join(', ') } : {}),
      fix:
        near === undefined
          ? 'correct the expression, or add the member to the item'
          : `did you mean ${quoted(near)}?`,
    };
  }

  /** One diagnostic, however many items lack the member. */
  #lackedByAll(
    expression: Expression,
    { header, holdsOnlyTexts, items: [first] }: ItemList,
    { missing, near, at }: { readonly missing: string; readonly near: string | undefined; readonly at: Path },
  ): Diagnostic {
    const what = holdsOnlyTexts ? 'the list has no column' : 'no item of the list has a member';
    const list = header ?? first?.list.place(first, []);
    return {
      code: 'missing-member',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(expressionText(expression))}: ${what} ${quoted(missing)}`,
      place: { ...placeBelow(this.document, at, 'value'), ...(list === undefined ? {} : { list }) },
      fix:
        near === undefined
          ? `correct the expression, or add the ${holdsOnlyTexts ? 'column' : 'member'}`
          : `did you mean ${quoted(near)}?`,
    };
  }

  #isLackedByAll(list: ItemList, name: string): boolean {
    const known = this.#lacked.get(list) ?? new Map<string, boolean>();
    this.#lacked.set(list, known);
    const isLacked =
      known.get(name) ??
      (list.items.length > 1 && list.items.every(({ value }) => memberOf(value, name) === undefined));
    known.set(name, isLacked);
    return isLacked;
  }

  #placed(at: Path, item: Item | undefined, path: Path): { readonly place: Place } {
    const place = placeBelow(this.document, at, 'value');
    return { place: item === undefined ? place : { ...place, list: item.list.place(item, path) } };
  }
}

/** A value of an item that a document has at a path. */
interface ItemUse {
  /** in the document */
  readonly at: Path;
  readonly item: Item;
  /** in the item */
  readonly path: Path;
}

/** The values of items that expressions use. The key of a product uses the keys of all its items. A key of a map is not such a value. */
function usesIn(expressions: readonly Expression[], at: Path, combination: Combination): ItemUse[] {
  return expressions.flatMap((expression) => {
    const isKey = expression.path.length === 1 && expression.path[0] === 'key';
    const all = isKey ? Object.values(combination.items).map(keyOf) : [find(expression, combination)];
    return all.flatMap(({ item, path, isMade }) =>
      item === undefined || isMade ? [] : [{ at, item, path }],
    );
  });
}

/** The deepest node on a path. */
function nodeAt(root: Node, path: Path): { readonly node: Node; readonly depth: number } {
  let node = root;
  for (const [depth, name] of path.entries()) {
    const next =
      node.is === 'map' ? node.members.get(name) : node.is === 'list' ? node.items[Number(name)] : undefined;
    if (next === undefined) return { node, depth };
    node = next;
  }
  return { node, depth: path.length };
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** A document that a template made. */
export class MadeFromTemplate implements YamlDocument {
  readonly template: Template;
  readonly combination: Combination;
  readonly value: Json;

  constructor(template: Template, combination: Combination, value: Json) {
    this.template = template;
    this.combination = combination;
    this.value = value;
  }

  get source(): SourceText {
    return this.template.document.source;
  }
  get text(): string {
    return this.template.document.text;
  }
  get base(): number {
    return this.template.document.base;
  }
  get first(): number {
    return this.template.document.first;
  }
  get events(): EventRange['events'] {
    return this.template.document.events;
  }

  get made(): NonNullable<YamlDocument['made']> {
    const [item] = Object.values(this.combination.items);
    return {
      from: this.template.document,
      key: this.combination.key,
      get item() {
        return item?.list.place(item, []);
      },
      place: (path, side) => this.#place(path, side),
      typed: (path) => this.#typed(path),
    };
  }

  originOf(path: Path): Origin {
    return this.template.originOf(path, this.combination);
  }

  #place(path: Path, side: EntrySide): Place {
    const place = placeBelow(this.template.document, path, side);
    const origin = this.originOf(path);
    return origin.is === 'template'
      ? place
      : { ...place, list: origin.item.list.place(origin.item, origin.path, side) };
  }

  #typed(path: Path): string | undefined {
    const origin = this.originOf(path);
    if (origin.is === 'template') return rawScalar(this.template.document, path);
    return origin.is === 'item' ? origin.item.list.typed(origin.item, origin.path) : undefined;
  }
}
