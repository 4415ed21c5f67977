/**
 * Changes values in the text of a file in place: only the source of what differs is replaced, every other character stays. The
 * result is parsed again and must have the wanted values. Also finds why a value cannot be changed in place: others share it.
 */
import { isJsonObject, type Json, type Path, sameJson, valueAt } from '../../model/json.ts';
import { type Span, spanOf } from '../yaml/locate.ts';
import { parseDocuments } from '../yaml/parse-documents.ts';
import { createSourceText, type SourceText, type YamlDocument } from '../yaml/yaml-document.ts';
import { nextEdit } from './next-edit.ts';
import { applySplices, readSourceTree, type SourceNode, UnusualYaml } from './source-tree.ts';

/** A copy with another value at the path; undefined removes the member. Missing maps on the way are created. */
function withValueAt(whole: Json | undefined, [name, ...rest]: Path, value: Json | undefined): Json {
  if (name === undefined) return value ?? null;
  if (Array.isArray(whole))
    return whole.map((item, index) => (index === Number(name) ? withValueAt(item, rest, value) : item));
  const members = isJsonObject(whole) ? Object.entries(whole) : [];
  const isLast = rest.length === 0;
  if (isLast && value === undefined) return Object.fromEntries(members.filter(([key]) => key !== name));
  const known = members.find(([key]) => key === name)?.[1];
  const changed = [name, withValueAt(known, rest, value)] as const;
  if (known === undefined) return Object.fromEntries([...members, changed]);
  return Object.fromEntries(members.map((member) => (member[0] === name ? changed : member)));
}

export interface ValueEdit {
  readonly path: Path;
  /** undefined: the member is removed */
  readonly value: Json | undefined;
}

/** The edit of one document: changes of its values, or its removal. */
export type DocumentEdit = {
  /** an offset in its content, which `contentStart` gives */
  readonly at: number;
} & ({ readonly values: readonly ValueEdit[] } | { readonly remove: true });

/**
 * The text of the file after the edits; undefined when no document is left in it. Only the parts in which a document is edited are
 * parsed: a file may hold thousands of documents.
 * @throws UnusualYaml when it cannot be edited
 */
export function editText(source: SourceText, edits: readonly DocumentEdit[]): string | undefined {
  const byChunk = Map.groupBy(edits, ({ at }) => chunkAt(source, at));
  const edited = chunksOf(source).map((chunk) => {
    const here = byChunk.get(chunk)?.map((edit) => ({ ...edit, at: edit.at - chunk.start }));
    return here === undefined ? chunk.text : editChunk(chunk.text, here);
  });
  const whole = edited.join('');
  const isRemoved = edits.some((edit) => 'remove' in edit);
  return isRemoved && parse(whole).documents.length === 0 ? undefined : whole;
}

interface Chunk {
  readonly start: number;
  readonly text: string;
}

const divided = new WeakMap<SourceText, readonly Chunk[]>();

/** The parts of a text from one `---` to the next; a text with directives is not divided. */
function chunksOf(source: SourceText): readonly Chunk[] {
  const known = divided.get(source);
  if (known !== undefined) return known;
  const { text } = source;
  const starts = /^%/m.test(text) ? [] : [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index);
  const bounds = [...new Set([0, ...starts])];
  const chunks = bounds.map((start, index) => ({ start, text: text.slice(start, bounds[index + 1]) }));
  divided.set(source, chunks);
  return chunks;
}

/** The part that contains the offset, by binary search: a file may have thousands of parts. */
function chunkAt(source: SourceText, at: number): Chunk | undefined {
  const chunks = chunksOf(source);
  let [low, high] = [0, chunks.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((chunks[middle]?.start ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return chunks[low];
}

/** The text of a document with its comments, and the offset of its content in it. @throws UnusualYaml when it cannot be cut out */
export function documentText(document: YamlDocument): { readonly text: string; readonly at: number } {
  const at = contentStart(document);
  const chunk = chunkAt(document.source, at);
  if (chunk === undefined || parse(chunk.text).documents.length !== 1)
    throw new UnusualYaml('its documents are not divided by "---", or have directives');
  return { text: chunk.text, at: at - chunk.start };
}

function editChunk(chunk: string, edits: readonly DocumentEdit[]): string {
  const { documents: before } = parse(chunk);
  const wanted: (Json | undefined)[] = before.map(({ value }) => value);
  let edited: ParsedChunk = { text: chunk, documents: before };
  // From the last to the first, so that earlier offsets stay valid.
  for (const edit of edits.toSorted((a, b) => b.at - a.at)) {
    const number = before.findIndex((document) => contentStart(document) === edit.at);
    const document = before[number];
    if (document === undefined) throw new UnusualYaml('the document was not found');
    if ('remove' in edit) {
      if (before.length > 1)
        throw new UnusualYaml('its documents are not divided by "---", or have directives');
      edited = parse(chunk.startsWith('---') ? '' : chunk.slice(0, edit.at));
      wanted[number] = undefined;
    } else {
      const value = edit.values.reduce(
        (made, { path, value }) => withValueAt(made, path, value),
        document.value,
      );
      edited = editDocument(edited, { at: edit.at, value });
      wanted[number] = value;
    }
  }
  const left = wanted.filter((value) => value !== undefined);
  const after = edited.documents.map(({ value }) => value);
  if (!sameJson(after, left)) throw new UnusualYaml('the result would have other values');
  return edited.text;
}

/** Edits one document until it has the value. @param at where its content begins: only text behind this offset changes */
function editDocument(
  chunk: ParsedChunk,
  { at, value }: { readonly at: number; readonly value: Json },
): ParsedChunk {
  let edited = chunk;
  // Each step writes at least one value.
  const maxSteps = 10 + count(value) + count(chunk.documents.find(isAt(at))?.value ?? null);
  for (let step = 0; step < maxSteps; step++) {
    const { text, documents } = edited;
    const document = documents.find(isAt(at));
    if (document === undefined) throw new UnusualYaml('the document is not found again');
    if (sameJson(document.value, value)) return edited;
    const splices = nextEdit(text, readSourceTree(text, at), { from: document.value, to: value });
    if (splices.length === 0) break;
    edited = parse(applySplices(text, splices));
  }
  throw new UnusualYaml('no way was found to write the value');
}

function isAt(at: number): (document: YamlDocument) => boolean {
  return (document) => contentStart(document) === at;
}

function count(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member: Json) => sum + count(member), 1);
}

/** A text, and the documents in it. */
interface ParsedChunk {
  readonly text: string;
  readonly documents: readonly YamlDocument[];
}

/** @throws UnusualYaml when it is invalid */
function parse(text: string): ParsedChunk {
  const { documents, diagnostics } = parseDocuments(createSourceText('', text), true);
  if (diagnostics.length > 0)
    throw new UnusualYaml(`the result would be invalid YAML: ${diagnostics[0]?.message ?? ''}`);
  return { text, documents };
}

/** The offset in the text of its file at which the content of a document begins. */
export function contentStart(document: YamlDocument): number {
  return document.base + (spanOf(document, document.first)?.start ?? 0);
}

// Finds why a value cannot be changed where it is used: it is written elsewhere, or others use it.

interface SharedValue {
  /** `alias`: the value comes from an anchor; `anchor`: aliases repeat it */
  readonly by: 'alias' | 'anchor';
  readonly name: string;
  /** offsets in the text of the file */
  readonly span: Span;
}

/** @throws UnusualYaml */
export function findShared(document: YamlDocument, path: Path): SharedValue | undefined {
  const at = contentStart(document);
  const { text = '', start: base = 0 } = chunkAt(document.source, at) ?? {};
  // Most texts have neither aliases nor merge keys: reading their tree only to find that out takes as long as the edit.
  if (!/\*|<</.test(text)) return undefined;
  const found = findIn(readSourceTree(text, at - base), document, path);
  if (found === undefined) return undefined;
  const { start, end } = found.span;
  return { ...found, span: { start: base + start, end: base + end } };
}

function findIn(root: SourceNode, document: YamlDocument, path: Path): SharedValue | undefined {
  const repeated = new Set(aliasesIn(root));
  let node = root;
  for (const [depth, name] of path.entries()) {
    const shared = sharedBy(node, repeated);
    if (shared !== undefined) return shared;
    const entry =
      node.is === 'list' ? node.entries[Number(name)] : node.entries.find(({ key }) => key === name);
    if (entry === undefined)
      return mergedAt(node, valueAt(document.value, path.slice(0, depth + 1)) !== undefined);
    node = entry.value;
  }
  return sharedBy(node, repeated) ?? anchorsIn(node).find(({ name }) => repeated.has(name));
}

function sharedBy(
  { alias, anchor, start, end }: SourceNode,
  repeated: ReadonlySet<string>,
): SharedValue | undefined {
  if (alias !== undefined) return { by: 'alias', name: alias, span: { start, end } };
  return anchor !== undefined && repeated.has(anchor.name)
    ? { by: 'anchor', name: anchor.name, span: anchor }
    : undefined;
}

/** A member that comes from a merge key. */
function mergedAt({ entries }: SourceNode, isThere: boolean): SharedValue | undefined {
  const merge = isThere ? entries.find(({ key }) => key === '<<') : undefined;
  if (merge === undefined) return undefined;
  const [name = '<<'] = aliasesIn(merge.value);
  return { by: 'alias', name, span: { start: merge.start, end: merge.end } };
}

function aliasesIn(node: SourceNode): string[] {
  const own = node.alias === undefined ? [] : [node.alias];
  return [...own, ...node.entries.flatMap(({ value }) => aliasesIn(value))];
}

function anchorsIn(node: SourceNode): SharedValue[] {
  const own =
    node.anchor === undefined ? [] : [{ by: 'anchor', name: node.anchor.name, span: node.anchor } as const];
  return [...own, ...node.entries.flatMap(({ value }) => anchorsIn(value))];
}
