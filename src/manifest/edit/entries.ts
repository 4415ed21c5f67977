/** Puts a member or an item into a map or list, and takes one out, together with its line where it has one of its own. */
import type { Json } from '../../model/json/json.ts';
import type { SourceEntry, SourceNode, Style } from './source-tree.ts';
import {
  bareRest,
  beginsLine,
  columnOf,
  insertLines,
  lineBreakAt,
  lineEnd,
  lineStart,
  type Splice,
} from './splice.ts';
import { blockText, inlineText, keyText, needsLines } from './value-text.ts';

/** What an entry is put into. */
export interface Collection {
  readonly text: string;
  readonly node: SourceNode;
  /** of one level */
  readonly step: number;
  /** written as JSON */
  readonly json: boolean;
}

interface NewEntry {
  /** absent in a list */
  readonly key?: string;
  readonly value: Json;
}

/** @param before how many of the entries stand before it */
export function insertEntry(collection: Collection, entry: NewEntry, before: number): Splice[] {
  const { text, node } = collection;
  const neighbour = node.entries[before - 1] ?? node.entries[0];
  const style = neighbour === undefined ? undefined : quotesOf(neighbour.value.style);
  if (node.style === 'flow')
    return insertBetweenBrackets(collection, inlineEntry(collection, entry, style), before);
  const first = node.entries[0];
  const above = node.entries[before - 1];
  const column = columnOf(text, first?.start ?? node.start);
  const lines = blockEntry(collection, entry, { column, style });
  const at = above === undefined ? lineStart(text, first?.start ?? node.start) : lineEnd(text, above.end);
  return [insertLines(text, at, lines)];
}

/** Only quotes are taken over: what is plain beside a value says nothing about it. */
function quotesOf(style: Style): Style | undefined {
  return style === 'single' || style === 'double' ? style : undefined;
}

function inlineEntry({ json }: Collection, { key, value }: NewEntry, style: Style | undefined): string {
  const written = inlineText(value, { style, json });
  return key === undefined ? written : `${keyText(key, json)}: ${written}`;
}

function blockEntry(
  { step, json }: Collection,
  { key, value }: NewEntry,
  { column, style }: { readonly column: number; readonly style: Style | undefined },
): string[] {
  const pad = ' '.repeat(column);
  const lead = key === undefined ? '-' : `${keyText(key, json)}:`;
  if (!needsLines(value) || (key === undefined && typeof value !== 'string'))
    return [`${pad}${lead} ${inlineText(value, { style, json })}`];
  const { head, lines } = blockText(value, column + step, step);
  return [`${pad}${lead}${head === '' ? '' : ` ${head}`}`, ...lines];
}

/** Beside its neighbours, or on a line of its own where they have one each. */
function insertBetweenBrackets({ text, node }: Collection, written: string, before: number): Splice[] {
  const above = node.entries[before - 1];
  const below = node.entries[before];
  if (above === undefined && below === undefined) {
    const at = node.start + 1;
    const isCommented = text.slice(at, node.end - 1).includes('#');
    return isCommented
      ? [{ start: at, end: at, text: written }]
      : [{ start: at, end: node.end - 1, text: written }];
  }
  const neighbour = above ?? below;
  const ownLine = neighbour !== undefined && beginsLine(text, neighbour.start);
  if (above === undefined) {
    const at = below?.start ?? node.end;
    const gap = ownLine ? `${lineBreakAt(text, at)}${text.slice(lineStart(text, at), at)}` : ' ';
    return [{ start: at, end: at, text: `${written},${gap}` }];
  }
  if (!ownLine) return [{ start: above.end, end: above.end, text: `, ${written}` }];
  return insertLine(text, above, { written, isLast: below === undefined });
}

/** A new line below that of an entry, whose comment stays beside it. */
function insertLine(
  text: string,
  above: SourceEntry,
  { written, isLast }: { readonly written: string; readonly isLast: boolean },
): Splice[] {
  const pad = text.slice(lineStart(text, above.start), above.start);
  const behind = above.comma === undefined ? above.end : above.comma + 1;
  const comma = above.comma === undefined ? [{ start: above.end, end: above.end, text: ',' }] : [];
  const ending = above.comma === undefined && isLast ? '' : ',';
  if (bareRest(text, behind) === undefined)
    return [...comma, { start: behind, end: behind, text: ` ${written}${ending}` }];
  return [...comma, insertLines(text, lineEnd(text, behind), [`${pad}${written}${ending}`])];
}

/** For a collection that keeps other entries. */
export function removeEntry({ text, node }: Collection, index: number): Splice[] {
  const entry = node.entries[index];
  if (entry === undefined) return [];
  const end = lineEnd(text, entry.end);
  if (node.style !== 'flow') return [{ start: lineStart(text, entry.start), end, text: '' }];
  const [above, below] = [node.entries[index - 1], node.entries[index + 1]];
  const isLast = below === undefined;
  const comma =
    isLast && above?.comma !== undefined && entry.comma === undefined
      ? [cut(above.comma, above.comma + 1)]
      : [];
  const behind = entry.comma === undefined ? entry.end : entry.comma + 1;
  const rest = bareRest(text, behind);
  if (rest !== undefined && beginsLine(text, entry.start))
    return [...comma, cut(lineStart(text, entry.start), behind + rest.length)];
  if (!isLast && lineStart(text, below.start) === lineStart(text, entry.end))
    return [cut(entry.start, below.start)];
  const from = above === undefined ? entry.start : (above.comma ?? above.end);
  return [cut(from, behind)];
}

function cut(start: number, end: number): Splice {
  return { start, end, text: '' };
}
