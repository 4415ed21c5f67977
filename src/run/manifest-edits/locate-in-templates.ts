/**
 * Finds where accepted values are written in documents that templates made. A value of an item is written into the list, and a value of
 * the template itself into the template, but only if that changes nothing besides the accepted values.
 */
import { resolve } from 'node:path';
import { cellText } from '../../manifest/templates/csv-file.ts';
import type { Item } from '../../manifest/templates/list-items.ts';
import { MadeFromTemplate } from '../../manifest/templates/template.ts';
import { formatAddress } from '../../model/address.ts';
import { isJsonObject, type Json, type Path, sameJson } from '../../model/json.ts';
import { orList, quoted, quoteSome } from '../../model/quoted.ts';
import {
  type AcceptedChange,
  editDocument,
  locateChange,
  type LocatedChange,
  nameOfAcceptedChange,
  type PlacingContext,
  type Refusal,
  refuse,
  type TemplateChange,
} from './locate-change.ts';

/** Where all of the accepted changes are written; those in templates are decided together. */
export function locateChanges(
  accepted: readonly AcceptedChange[],
  context: PlacingContext,
): (LocatedChange | Refusal)[] {
  const found = accepted.map((one) => locateChange(one, context));
  const inTemplates = found.filter((one): one is TemplateChange => 'where' in one);
  if (inTemplates.length === 0) return found as (LocatedChange | Refusal)[];
  const placer = new TemplatePlacer(inTemplates, context);
  return found.map((one) => ('where' in one ? placer.place(one) : one));
}

/** The value that a change replaces. Changes with the same key replace the same value. */
interface ReplacedValue {
  readonly key: string;
  /** absent where it is a value of the template itself */
  readonly item?: { readonly item: Item; readonly path: Path };
}

interface Decision {
  /** addresses that would change as well */
  readonly others: readonly string[];
  /** a change that sets another value than the first one */
  readonly differing: TemplateChange | undefined;
}

class TemplatePlacer {
  readonly #context: PlacingContext;
  readonly #groups: ReadonlyMap<string, readonly TemplateChange[]>;
  readonly #numbers = new Map<object, number>();
  readonly #decisions = new Map<string, Decision>();
  readonly #uses: UseIndex;

  constructor(changes: readonly TemplateChange[], context: PlacingContext) {
    this.#context = context;
    this.#groups = Map.groupBy(changes, (change) => this.#replaced(change).key);
    this.#uses = new UseIndex(context);
  }

  place(change: TemplateChange): LocatedChange | Refusal {
    const { accepted, document, edits } = change;
    const origin = document.originOf(change.where);
    const [edit, ...more] = edits === 'remove' ? [] : edits;
    if (edit === undefined) return refuseRemoval(change);
    if (origin.is === 'text') return refuseText(change);
    const { item } = this.#replaced(change);
    const { others, differing } = this.#decide(change);
    if (others.length > 0)
      return item === undefined ? refuseTemplate(change, others) : refuseList(change, item.item, others);
    if (differing !== undefined)
      return refuseList(change, item?.item, [formatAddress(differing.accepted.address)]);
    if (item !== undefined && more.length === 0) return this.#inList(change, item, edit.value);
    if (item !== undefined) return refuseList(change, item.item, []);
    const values = edits === 'remove' ? edits : edits.map((one) => ({ ...one, value: escaped(one.value) }));
    const { template } = document;
    return editDocument(accepted, {
      ...change,
      document: template.document,
      edits: values,
      cwd: this.#context.cwd,
    });
  }

  /** Decides once for all changes that replace the same value, because there may be thousands. */
  #decide(change: TemplateChange): Decision {
    const { key, item } = this.#replaced(change);
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const group = this.#groups.get(key) ?? [change];
    const [first = change, ...more] = group;
    const decision = {
      others:
        item === undefined ? this.#uses.othersOf(first.document, group) : this.#uses.othersWith(item, group),
      differing: more.find((one) => !sameEdit(one, first)),
    };
    this.#decisions.set(key, decision);
    return decision;
  }

  #inList(
    change: TemplateChange,
    { item, path }: NonNullable<ReplacedValue['item']>,
    value: Json | undefined,
  ): LocatedChange | Refusal {
    const { accepted } = change;
    const { editable, source } = item.list;
    const place = item.list.place(item, path);
    if (value === undefined || (path.length === 0 && 'document' in editable && item.key === item.value))
      return refuseList(change, item, []);
    if ('document' in editable) {
      const where = [...editable.base, item.at, ...path];
      const edits = [{ path: where, value }];
      return editDocument(accepted, {
        document: editable.document,
        where,
        place,
        edits,
        cwd: this.#context.cwd,
      });
    }
    const cell = editable.cells.span(item.at, path[0] ?? '');
    if (cell === undefined || value === null || typeof value === 'object')
      return refuseList(change, item, []);
    const text = cellText(String(value), source.text.slice(cell.start, cell.end));
    return { accepted, file: resolve(this.#context.cwd, source.file), source, place, edit: { cell, text } };
  }

  #replaced({ document, where }: TemplateChange): ReplacedValue {
    const origin = document.originOf(where);
    if (origin.is !== 'item') return { key: this.#key(document.template, '', where) };
    const { item, path } = origin;
    return { key: this.#key(item.list, item.at, path), item: { item, path } };
  }

  #key(owner: object, at: string, path: Path): string {
    const number = this.#numbers.get(owner) ?? this.#numbers.size;
    this.#numbers.set(owner, number);
    return JSON.stringify([number, at, ...path]);
  }
}

/** Which documents use a value of a list, or come from a template. Built once for all accepted changes. */
class UseIndex {
  readonly #byItem = new Map<Item, { readonly address: string; readonly at: Path; readonly path: Path }[]>();
  readonly #byTemplate = new Map<object, Set<string>>();

  constructor({ entries }: PlacingContext) {
    for (const { declaration, address, shortForm } of entries.values()) {
      const { document } = declaration;
      if (!(document instanceof MadeFromTemplate) || shortForm !== undefined) continue;
      const text = formatAddress(address);
      const made = this.#byTemplate.get(document.template) ?? new Set();
      this.#byTemplate.set(document.template, made.add(text));
      for (const { item, ...use } of document.template.usesOf(document.combination)) {
        const uses = this.#byItem.get(item) ?? [];
        uses.push({ address: text, ...use });
        this.#byItem.set(item, uses);
      }
    }
  }

  /** The addresses of documents of the template that are not in the changes. */
  othersOf({ template }: MadeFromTemplate, changes: readonly TemplateChange[]): string[] {
    const covered = new Set(changes.map(addressOfDocument));
    return [...(this.#byTemplate.get(template) ?? [])].filter((address) => !covered.has(address));
  }

  /** The addresses of documents that use the value, or a part of it, in another field than those of the changes. */
  othersWith(
    { item, path }: NonNullable<ReplacedValue['item']>,
    changes: readonly TemplateChange[],
  ): string[] {
    const covered = Map.groupBy(changes, addressOfDocument);
    const others = (this.#byItem.get(item) ?? []).filter(
      (use) =>
        (isPrefix(use.path, path) || isPrefix(path, use.path)) &&
        covered.get(use.address)?.some(({ where }) => isPrefix(use.at, where)) !== true,
    );
    return [...new Set(others.map(({ address }) => address))];
  }
}

/** The address of the document, which for a short form is that of the parent. */
function addressOfDocument({ accepted: { address }, document }: TemplateChange): string {
  const kind = isJsonObject(document.value) ? document.value['kind'] : undefined;
  return formatAddress({ ...address, kind: typeof kind === 'string' ? kind : address.kind });
}

function isPrefix(one: Path, other: Path): boolean {
  return one.every((name, index) => other[index] === name);
}

function sameEdit({ edits: one }: TemplateChange, { edits: other }: TemplateChange): boolean {
  if (one === 'remove' || other === 'remove') return one === other;
  return one.length === other.length && one.every(({ value }, index) => sameJson(value, other[index]?.value));
}

/** Escapes texts for a template, so that they contain no expressions. */
function escaped(value: Json | undefined): Json | undefined {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map((item: Json) => escaped(item) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, escaped(member) ?? null]));
}

function refuseTemplate(
  { accepted, place, where, document }: TemplateChange,
  others: readonly string[],
): Refusal {
  const name = where.at(-1) ?? '';
  const lists = Object.keys(document.combination.items);
  const isProduct = !Object.hasOwn(document.combination.items, 'value');
  const instead = isProduct
    ? `write \${each.LIST.${name}} in its place, where LIST is ${orList(lists)}, and the value into each item of that list`
    : `for this resource alone, write \${each.value.${name}} in its place and the value into each item of the list`;
  return refuse(accepted, 'value-from-template', {
    message: `${nameOfAcceptedChange(accepted)} comes from a template, and holds for ${quoteSome(others, 3)} as well`,
    place,
    fix: `${instead}; or change it in the template for all`,
  });
}

function refuseList(
  { accepted, place }: TemplateChange,
  item: Item | undefined,
  others: readonly string[],
): Refusal {
  const used =
    others.length === 0
      ? 'and cannot be written there'
      : `which ${quoteSome(others, 3)} also use${others.length === 1 ? 's' : ''}`;
  const from = item === undefined ? 'a template' : `the item ${quoted(item.key)} of a list`;
  return refuse(accepted, 'value-from-list', {
    message: `${nameOfAcceptedChange(accepted)} comes from ${from}, ${used}`,
    place: place.list ?? place,
    fix: 'change it in the list by hand for all that use it, or give each of them a value of its own in the list',
  });
}

function refuseText({ accepted, place }: TemplateChange): Refusal {
  return refuse(accepted, 'not-editable', {
    message: `${nameOfAcceptedChange(accepted)} is a text of a template with an expression in it`,
    place,
    fix: 'change the template or the list by hand',
  });
}

function refuseRemoval({ accepted, place }: TemplateChange): Refusal {
  return refuse(accepted, 'value-from-list', {
    message: `${nameOfAcceptedChange(accepted)} is one of the resources of a template`,
    place: place.list ?? place,
    fix: 'remove its item from the list by hand, if no other resource needs it',
  });
}
