/**
 * Reads `metadata.each` of a template: a list or map in the document, a file, or the product of several lists. The resources are counted
 * before the first of them is made, and refused if they are too many.
 */
import type { Diagnostic } from '../../model/diagnostic.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  ownMember,
  type Path,
} from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { placeIn, type YamlDocument } from '../yaml/yaml-document.ts';
import { type Item, type ItemList, YamlList } from './list-items.ts';
import { wrongList } from './csv-file.ts';

export const eachPath: Path = ['metadata', 'each'];

const listFile = /\.(ya?ml|json|csv)$/;

/** How many lists a matrix may have. */
const maxLists = 10;

/** What one document is made for: an item of the list, or one item of each list of a product. */
export interface Combination {
  /** `each.key` */
  readonly key: string;
  /** for a product, by the name of each list; otherwise the only item, as `value` */
  readonly items: Readonly<Record<string, Item>>;
}

/** The lists of a template, not yet combined. */
export interface EachLists {
  /** written with `matrix`: each combination of items makes a document */
  readonly isProduct: boolean;
  /** the lists of `matrix`; otherwise the only list */
  readonly axes: readonly { readonly name: string; readonly list: ItemList }[];
}

/** Reads the file of a list, which is named at a path of the template. @returns problems when it cannot be read */
type ReadList = (file: string, path: Path) => Promise<ItemList | readonly Diagnostic[]>;

/** @returns problems when it is not valid */
export function readEach(document: YamlDocument, readList: ReadList): Promise<EachLists | Diagnostic[]> {
  return new EachReader(document, readList).read();
}

/** The files that the lists of a template name, also if something else in it is wrong. */
export function namedFiles({ value }: YamlDocument): readonly string[] {
  const each = memberOf(memberOf(value, 'metadata'), 'each');
  const matrix = memberOf(each, 'matrix');
  return [each, ...(isJsonObject(matrix) ? Object.values(matrix) : [])].flatMap((list) => {
    const file = memberOf(list, 'file');
    return typeof file === 'string' ? [file] : [];
  });
}

class EachReader {
  readonly #document: YamlDocument;
  readonly #readList: ReadList;
  readonly #wrong: Diagnostic[] = [];

  constructor(document: YamlDocument, readList: ReadList) {
    this.#document = document;
    this.#readList = readList;
  }

  async read(): Promise<EachLists | Diagnostic[]> {
    const each = memberOf(memberOf(this.#document.value, 'metadata'), 'each') ?? null;
    const isProduct = isJsonObject(each) && Object.hasOwn(each, 'matrix');
    const axes = isProduct ? await this.#readMatrix(each) : await this.#readAxes({ value: each }, eachPath);
    return this.#wrong.length > 0 ? this.#wrong : { isProduct, axes };
  }

  async #readMatrix(options: JsonObject): Promise<EachLists['axes']> {
    const path = [...eachPath, 'matrix'];
    const matrix = options['matrix'];
    this.#checkOptions(options, eachPath, 'matrix');
    if (!isJsonObject(matrix) || Object.keys(matrix).length === 0) {
      this.#refuse(path, '"matrix" is not a map of lists', 'write the name of each list, and the list');
      return [];
    }
    if (Object.keys(matrix).length > maxLists) {
      this.#refuse(path, `"matrix" has more than ${maxLists} lists`, 'combine some of the lists into one');
      return [];
    }
    for (const name of Object.keys(matrix))
      if (!/^[A-Za-z][\w-]*$/.test(name) || ['key', 'value'].includes(name))
        this.#refuse(
          [...path, name],
          `a list cannot have the name ${quoted(name)}`,
          'use letters, digits, "-" and "_"; "key" and "value" have a meaning of their own',
        );
    return this.#readAxes(matrix, path, options['optional'] === true);
  }

  async #readAxes(lists: JsonObject, path: Path, isOptional = false): Promise<EachLists['axes']> {
    const axes: { name: string; list: ItemList }[] = [];
    for (const [name, written] of Object.entries(lists)) {
      const at = path === eachPath ? eachPath : [...path, name];
      const isFile = isJsonObject(written) && ['file', 'optional'].some((one) => Object.hasOwn(written, one));
      const list = isFile ? await this.#readFile(written, at) : this.#readWritten(written, at);
      if (list === undefined) continue;
      axes.push({ name, list });
      const mayBeEmpty = isOptional || (isFile && written['optional'] === true);
      if (list.items.length === 0 && !mayBeEmpty) this.#refuseEmpty(at, isFile);
    }
    return axes;
  }

  #readWritten(written: Json, path: Path): ItemList | undefined {
    if (typeof written === 'string' && listFile.test(written)) {
      this.#refuse(
        path,
        'the list is a text',
        `to read it from a file, write ${quoted(`{ file: ${written} }`)}`,
      );
      return undefined;
    }
    const list = new YamlList(this.#document, path, written);
    this.#wrong.push(...wrongItems(list));
    return list.wrong.length > 0 ? undefined : list;
  }

  async #readFile(options: JsonObject, path: Path): Promise<ItemList | undefined> {
    const before = this.#wrong.length;
    this.#checkOptions(options, path, 'file');
    const file = ownMember(options, 'file');
    const at = [...path, 'file'];
    if (typeof file !== 'string' || !listFile.test(file)) {
      this.#refuse(
        at,
        '"file" does not name a YAML, JSON or CSV file',
        `write the path of a file that ends in ".yaml", ".yml", ".json" or ".csv", relative to this file; ${otherForm('file')}`,
      );
      return undefined;
    }
    if (this.#wrong.length > before) return undefined;
    const list = await this.#readList(file, at);
    if (!Array.isArray(list)) return list as ItemList;
    this.#wrong.push(...(list as readonly Diagnostic[]));
    return undefined;
  }

  #checkOptions(options: JsonObject, path: Path, form: string): void {
    for (const name of Object.keys(options))
      if (name !== form && name !== 'optional')
        this.#refuse(
          [...path, name],
          `${quoted(name)} cannot stand beside ${quoted(form)}`,
          form === 'file' && (isJsonObject(options[name]) || Array.isArray(options[name]))
            ? 'for the product of several lists, put all of them below "matrix", each under its name'
            : `remove it; ${otherForm(form)}`,
        );
    if (options['optional'] !== undefined && typeof options['optional'] !== 'boolean')
      this.#refuse([...path, 'optional'], '"optional" is neither true nor false', 'write true or false');
  }

  #refuseEmpty(path: Path, isFile: boolean): void {
    const fix = isFile
      ? 'add an item; or write "optional: true" beside "file", if there may be no resource'
      : 'add an item, or remove the document; a list in a file may be empty with "optional: true"';
    const place = placeIn(this.#document, isFile ? [...path, 'file'] : path);
    this.#wrong.push(wrongList('the list is empty', place, fix, 'empty-list'));
  }

  #refuse(path: Path, message: string, fix: string): void {
    this.#wrong.push(wrongList(message, placeIn(this.#document, path), fix));
  }
}

function otherForm(form: string): string {
  return `if ${quoted(form)} is the key of an item, write the items as a list, each with a "key"`;
}

export function wrongItems(list: YamlList): Diagnostic[] {
  const { document, base } = list.editable;
  return list.wrong.map(({ at, message, fix }) =>
    wrongList(message, at === undefined ? placeIn(document, base) : list.place({ at }, []), fix),
  );
}

/** How many documents the lists make. */
export function countOf({ axes }: EachLists): number {
  return axes.reduce((count, { list }) => count * list.items.length, 1);
}

/** All combinations, in the order of the lists; the item of the last list changes fastest. */
export function* combinationsOf({ axes, isProduct }: EachLists): Generator<Combination> {
  const [first, ...more] = axes;
  if (first === undefined) return;
  if (!isProduct) {
    for (const item of first.list.items) yield { key: item.key, items: { value: item } };
    return;
  }
  for (const item of first.list.items)
    if (more.length === 0) yield { key: item.key, items: { [first.name]: item } };
    else
      for (const { key, items } of combinationsOf({ axes: more, isProduct }))
        yield { key: `${item.key}-${key}`, items: { [first.name]: item, ...items } };
}
