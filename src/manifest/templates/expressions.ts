/** The expressions in the texts of a template: `${each.key}`, and `$${` for the two characters themselves. Nothing is computed. */
import { isJsonObject, type Json, ownMember, type Path } from '../../model/json.ts';
import type { Item } from './list-items.ts';
import type { Combination } from './read-each.ts';

/** `${each.value.team}`; the path is what follows `each`. */
export interface Expression {
  readonly path: readonly string[];
}

/** The parts of a text in order: plain texts, and expressions. */
export type TextParts = readonly (string | Expression)[];

/** Why a text is not valid. */
interface WrongExpression {
  /** as written */
  readonly wrong: string;
}

const marker = '${';
const parts = /\$\$\{|\$\{([^}]*)(\}?)/g;
const valid = /^\s*each((?:\.[\w-]+)+)\s*$/;

/** @returns undefined for a text without expressions and `$${` */
export function parseText(text: string): TextParts | WrongExpression | undefined {
  if (!text.includes(marker)) return undefined;
  const found: (string | Expression)[] = [];
  let plain = '';
  let at = 0;
  for (const match of text.matchAll(parts)) {
    const [written, inside, closing] = match;
    plain += text.slice(at, match.index);
    at = match.index + written.length;
    if (inside === undefined) {
      plain += marker;
      continue;
    }
    const path = closing === '' ? undefined : valid.exec(inside)?.[1];
    if (path === undefined) return { wrong: written };
    if (plain !== '') found.push(plain);
    plain = '';
    found.push({ path: path.slice(1).split('.') });
  }
  plain += text.slice(at);
  return plain === '' ? found : [...found, plain];
}

/** Whether a text may hold an expression; cheap. */
export function mayHoldExpression(text: string): boolean {
  return text.includes(marker);
}

/** The expression as it is written in a text. */
export function expressionText({ path }: Expression): string {
  return `${marker}${['each', ...path].join('.')}}`;
}

// Finds the value of an expression: in an item of the list, or in one of the items of a product.

export interface Found {
  readonly value: Json;
  /** undefined where the expression names no list */
  readonly item: Item | undefined;
  /** path in the item; for a missing member, the path of the value that lacks it */
  readonly path: Path;
  readonly missing?: string;
  /** the members that exist */
  readonly known?: readonly string[];
  /** it is not a value of one item, but the key of a map, or the keys of several items */
  readonly isMade?: true;
}

/** Finds the value of an expression. Only own members count: `constructor` is found only in an item that has such a member. */
export function find({ path: [name = '', ...rest] }: Expression, { key, items }: Combination): Found {
  const isProduct = !Object.hasOwn(items, 'value');
  if (name === 'key' && rest.length === 0) return findKey(key, items);
  const item = ownItem(items, name);
  if (item === undefined)
    return { value: null, item, path: [], missing: name, known: ['key', ...Object.keys(items)] };
  if (isProduct && rest.length === 1 && rest[0] === 'key') return keyOf(item);
  return findMember(item, rest);
}

function findKey(key: string, items: Combination['items']): Found {
  const [item, ...others] = Object.values(items);
  if (item !== undefined && others.length === 0) return keyOf(item);
  return { value: key, item, path: [], isMade: true };
}

function findMember(item: Item, path: Path): Found {
  let { value } = item;
  for (const [depth, member] of path.entries()) {
    const map = isJsonObject(value) ? value : {};
    const next = ownMember(map, member);
    if (next === undefined)
      return { value: null, item, path: path.slice(0, depth), missing: member, known: Object.keys(map) };
    value = next;
  }
  return { value, item, path };
}

function ownItem(items: Combination['items'], name: string): Item | undefined {
  return Object.hasOwn(items, name) ? items[name] : undefined;
}

/** The key of an item is its member `key`, the item itself, or the key of the map. */
export function keyOf(item: Item): Found {
  const { value, key } = item;
  if (value === key) return { value: key, item, path: [] };
  const isMember = isJsonObject(value) && ownMember(value, 'key') === key;
  return isMember ? { value: key, item, path: ['key'] } : { value: key, item, path: [], isMade: true };
}
