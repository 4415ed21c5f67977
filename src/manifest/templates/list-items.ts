/**
 * The lists of templates, each with the place of any value in it: a list or map of a YAML document, or the rows of a CSV file. One
 * list may serve many templates, so it is read once.
 */
import type { Place } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, type Path } from '../../model/json.ts';
import { childrenAt, type EventPair, rawScalar } from '../yaml/locate.ts';
import { type EntrySide, placeBelow, type SourceText, type YamlDocument } from '../yaml/yaml-document.ts';

/** One item of a list: a text, a member of a map, a map with the member `key`, or a row. */
export interface Item {
  readonly list: ItemList;
  /** its position in the list, or its key in the map */
  readonly at: string;
  readonly key: string;
  readonly value: Json;
}

export interface ItemList {
  readonly source: SourceText;
  readonly items: readonly Item[];
  /** every value is a text, which is converted where the schema requires a number or a boolean */
  readonly holdsOnlyTexts: boolean;
  /** the place of the names of the columns */
  readonly header?: Place;
  /** The place of an item, or of a value in it. */
  place(item: Pick<Item, 'at'>, path: Path, side?: EntrySide): Place;
  /** a scalar as it was typed, without its quotes */
  typed(item: Pick<Item, 'at'>, path: Path): string | undefined;
  /** where a value can be edited */
  readonly editable: { readonly document: YamlDocument; readonly base: Path } | { readonly cells: CellFile };
}

/** A file in which single cells can be replaced. */
export interface CellFile {
  /** The span of a cell with its quotes, in the text of the file; undefined for a column that does not exist. */
  span(at: string, column: string): { readonly start: number; readonly end: number } | undefined;
}

/** Why a list cannot be used. */
interface WrongList {
  readonly at?: string;
  readonly message: string;
  readonly fix: string;
}

/** A list or map at a path of a document. */
export class YamlList implements ItemList {
  readonly holdsOnlyTexts = false;
  readonly items: readonly Item[];
  readonly wrong: readonly WrongList[];
  readonly editable: { readonly document: YamlDocument; readonly base: Path };
  #children: ReadonlyMap<string, EventPair> | undefined;

  constructor(document: YamlDocument, base: Path, value: Json) {
    this.editable = { document, base };
    const read = readItems(value);
    this.items = read.items.map((item) => ({ ...item, list: this }));
    this.wrong = read.wrong;
  }

  get source(): SourceText {
    return this.editable.document.source;
  }

  place({ at }: Pick<Item, 'at'>, path: Path, side: EntrySide = 'value'): Place {
    const { document, base } = this.editable;
    const from = this.#find(at);
    return from === undefined
      ? placeBelow(document, [...base, at, ...path], side)
      : placeBelow(document, path, side, from);
  }

  typed({ at }: Pick<Item, 'at'>, path: Path): string | undefined {
    const { document, base } = this.editable;
    const from = this.#find(at);
    return from === undefined
      ? rawScalar(document, [...base, at, ...path])
      : rawScalar(document, path, from.value);
  }

  /** Uses a map of the items: searching each of them from the start of the list would take quadratic time. */
  #find(at: string): EventPair | undefined {
    const { document, base } = this.editable;
    this.#children ??= childrenAt(document, base);
    return this.#children.get(at);
  }
}

interface ReadItems {
  readonly items: readonly Omit<Item, 'list'>[];
  readonly wrong: readonly WrongList[];
}

function readItems(value: Json): ReadItems {
  if (isJsonObject(value)) {
    const members = Object.entries(value);
    return { items: members.map(([key, member]) => ({ at: key, key, value: member })), wrong: [] };
  }
  if (!Array.isArray(value))
    return {
      items: [],
      wrong: [
        { message: 'the list is neither a list nor a map', fix: 'write a list of texts or maps, or a map' },
      ],
    };
  const wrong: WrongList[] = [];
  const items = value.flatMap((member: Json, index) => {
    const at = `${index}`;
    const key = typeof member === 'string' ? member : memberOf(member, 'key');
    if (typeof key === 'string' && key !== '') return [{ at, key, value: member }];
    wrong.push({ at, ...withoutKey(member, key) });
    return [];
  });
  return { items, wrong };
}

function withoutKey(member: Json, key: Json | undefined): Pick<WrongList, 'message' | 'fix'> {
  if (!isJsonObject(member))
    return {
      message: 'an item of the list is neither a text nor a map',
      fix: 'put quotes around a text that looks like a number or boolean',
    };
  return key === undefined
    ? {
        message: 'an item of the list has no "key"',
        fix: 'add a member "key" with a text that names the item',
      }
    : {
        message: 'the "key" of an item is not a text, or empty',
        fix: 'write a text, in quotes if it looks like a number',
      };
}
