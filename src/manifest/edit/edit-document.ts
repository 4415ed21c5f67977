/**
 * Changes values in the text of a file in place. Only the source of what differs is replaced; every other character stays. The
 * result is parsed again and must say what was meant: otherwise there is none.
 */
import { sameJson, type Json, type Path } from '../../model/json/json.ts';
import { parseDocuments } from '../yaml/parse-documents.ts';
import { createSourceText } from '../yaml/source-text.ts';
import { spanOf } from '../yaml/locate.ts';
import type { YamlDocument } from '../yaml/yaml-document.ts';
import { nextEdit } from './next-edit.ts';
import { readSourceTree, UnusualYaml } from './source-tree.ts';
import { applySplices } from './splice.ts';
import { withValueAt } from './value-at.ts';

export interface ValueEdit {
  readonly path: Path;
  /** undefined: the member is removed */
  readonly value: Json | undefined;
}

/** What becomes of one document: its values, or the whole. */
export type DocumentEdit = {
  /** counted from 0, empty documents left out */
  readonly document: number;
} & ({ readonly values: readonly ValueEdit[] } | { readonly remove: true });

/** The text of a file afterwards; undefined when no document is left in it. @throws UnusualYaml when it cannot be edited */
export function editText(text: string, edits: readonly DocumentEdit[]): string | undefined {
  const before = documentsOf(text);
  const wanted: (Json | undefined)[] = before.map(({ value }) => value);
  let edited = text;
  // From the last to the first: what stands before an edit does not move.
  for (const edit of edits.toSorted((a, b) => b.document - a.document)) {
    const document = before[edit.document];
    if (document === undefined) throw new UnusualYaml('the document is not there');
    const at = contentStart(document);
    if ('remove' in edit) {
      edited = removeDocument(edited, at);
      wanted[edit.document] = undefined;
    } else {
      const value = edit.values.reduce(
        (made, { path, value }) => withValueAt(made, path, value),
        document.value,
      );
      edited = editDocument(edited, { at, value });
      wanted[edit.document] = value;
    }
  }
  const left = wanted.filter((value) => value !== undefined);
  if (left.length === 0) return undefined;
  const after = documentsOf(edited).map(({ value }) => value);
  if (!sameJson(after, left)) throw new UnusualYaml('it would not say afterwards what is meant');
  return edited;
}

/** @param about.at an offset in the document's content, before all that is edited */
function editDocument(text: string, { at, value }: { readonly at: number; readonly value: Json }): string {
  const [start, end] = chunkAround(text, at);
  let chunk = text.slice(start, end);
  // Each step settles a value or more.
  const maxSteps = 10 + count(value) + count(documentsOf(chunk)[0]?.value ?? null);
  for (let step = 0; step < maxSteps; step++) {
    const document = documentsOf(chunk).find((found) => contentStart(found) === at - start);
    if (document === undefined) throw new UnusualYaml('the document is not found again');
    if (sameJson(document.value, value)) return text.slice(0, start) + chunk + text.slice(end);
    const root = readSourceTree(chunk, at - start);
    const splices = nextEdit(chunk, root, { from: document.value, to: value });
    if (splices.length === 0) break;
    chunk = applySplices(chunk, splices);
  }
  throw new UnusualYaml('no way was found to write the value');
}

function count(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member: Json) => sum + count(member), 1);
}

/** Removes a document with its separator; comments at the beginning of the file stay. */
function removeDocument(text: string, at: number): string {
  const [start, end] = chunkAround(text, at);
  const isWhole = documentsOf(text.slice(start, end)).length === 1;
  if (!isWhole) throw new UnusualYaml('its documents have directives');
  const from = start > 0 || text.startsWith('---') ? start : at;
  return text.slice(0, from) + text.slice(end);
}

/** The part of a text from one `---` to the next; a text with directives is not divided. */
function chunkAround(text: string, at: number): readonly [number, number] {
  if (/^%/m.test(text)) return [0, text.length];
  const starts = [...text.matchAll(/^---(?=\s|$)/gm)].map(({ index }) => index);
  return [starts.findLast((start) => start <= at) ?? 0, starts.find((start) => start > at) ?? text.length];
}

function documentsOf(text: string): readonly YamlDocument[] {
  const { documents, diagnostics } = parseDocuments(createSourceText('', text));
  if (diagnostics.length > 0)
    throw new UnusualYaml(`it would be no valid YAML: ${diagnostics[0]?.message ?? ''}`);
  return documents;
}

/** The number of a document among those of its file, by which it is edited. */
export function documentAt(document: YamlDocument): number {
  const at = contentStart(document);
  return documentsOf(document.source.text).findIndex((found) => contentStart(found) === at);
}

/** The offset in the text of its file at which the content of a document begins. */
export function contentStart(document: YamlDocument): number {
  return document.base + (spanOf(document, document.first)?.start ?? 0);
}
