/**
 * Inserts, removes or moves an entry: a member of a map or an item of a list. A line of its own belongs to the entry, and so do its
 * comments: the one beside it, those directly above, and those directly below with a deeper indentation.
 */
import type { Json } from '../../model/json.ts';
import {
  bareRest,
  beginsLine,
  columnOf,
  insertLines,
  lineBreakAt,
  lineEnd,
  lineStart,
  type SourceEntry,
  type SourceNode,
  type Splice,
  type Style,
} from './source-tree.ts';
import { gapsOf, keyQuotes } from './document-style.ts';
import {
  blockText,
  type Formatting,
  inlineText,
  keyText,
  type ValueContext,
  needsLines,
} from './value-text.ts';

/** The map or list that an entry is inserted into. */
export interface Collection {
  readonly text: string;
  readonly node: SourceNode;
  /** the formatting of the document around it */
  readonly formatting: Formatting;
}

interface NewEntry {
  /** absent in a list */
  readonly key?: string;
  readonly value: Json;
}

/** The context of a value that begins at an offset in the text of a collection. */
export function contextAt(
  { text, node, formatting }: Collection,
  at: number,
  style: Style | undefined,
): ValueContext {
  const line = lineStart(text, at);
  const indent = /^[ \t]*/.exec(text.slice(line, at))?.[0] ?? '';
  return {
    style,
    formatting: { ...formatting, ...gapsOf(text, [node], formatting) },
    flow: node.style === 'flow',
    indent,
    lineBreak: lineBreakAt(text, at),
  };
}

/** @param before the number of entries before it */
export function insertEntry(collection: Collection, entry: NewEntry, before: number): Splice[] {
  const { text, node } = collection;
  const neighbour = node.entries[before - 1] ?? node.entries[0];
  const style = neighbour === undefined ? undefined : quotesOf(neighbour.value.style);
  if (node.style === 'flow') {
    const context = contextAt(collection, neighbour?.start ?? node.start, style);
    const deeper = neighbour === undefined ? (collection.formatting.spread ?? '') : '';
    const inside = { ...context, indent: context.indent + deeper };
    return insertBetweenBrackets(collection, inlineEntry(collection, entry, inside), before);
  }
  const first = node.entries[0];
  const above = node.entries[before - 1];
  const column = columnOf(text, first?.start ?? node.start);
  const lines = blockEntry(collection, entry, { column, style, neighbour });
  const at =
    first === undefined
      ? lineStart(text, node.start)
      : above === undefined
        ? startWithComments(collection, 0)
        : endWithComments(collection, above);
  return [insertLines(text, at, lines)];
}

/** Only quotes are adopted from a neighbour: a plain neighbour does not show whether this value needs quotes. */
function quotesOf(style: Style): Style | undefined {
  return style === 'single' || style === 'double' ? style : undefined;
}

function inlineEntry({ text, node }: Collection, { key, value }: NewEntry, context: ValueContext): string {
  const written = inlineText(value, context);
  if (key === undefined) return written;
  const name = keyText(key, { ...context, style: keyQuotes(text, node) });
  return `${name}:${/["']$/.test(name) ? context.formatting.colon : ' '}${written}`;
}

interface BlockPlace {
  readonly column: number;
  readonly style: Style | undefined;
  readonly neighbour: SourceEntry | undefined;
}

function blockEntry(
  collection: Collection,
  { key, value }: NewEntry,
  { column, style, neighbour }: BlockPlace,
): string[] {
  const { text, node, formatting } = collection;
  const context = contextAt(collection, neighbour?.start ?? node.start, style);
  const pad = ' '.repeat(column);
  const begin = key === undefined ? '-' : `${keyText(key, { ...context, style: keyQuotes(text, node) })}:`;
  if (!needsLines(value) || (key === undefined && typeof value !== 'string')) {
    const gap = key === undefined && neighbour !== undefined ? gapBehind(text, neighbour) : ' ';
    return [`${pad}${begin}${gap}${inlineText(value, context)}`];
  }
  const { head, lines } = blockText(value, column, formatting);
  return [`${pad}${begin}${head === '' ? '' : ` ${head}`}`, ...lines];
}

/** The spaces between the dash of an item and its value. */
function gapBehind(text: string, { lead, value }: SourceEntry): string {
  const gap = text.slice(lead, value.start);
  return /^ +$/.test(gap) ? gap : ' ';
}

/** Inserts an entry beside its neighbours, or on a new line if each of them has its own line. */
function insertBetweenBrackets(
  collection: Collection,
  written: string,
  before: number,
  { commentsAbove, remark }: Pick<NewLine, 'commentsAbove' | 'remark'> = { commentsAbove: '', remark: '' },
): Splice[] {
  const { text, node, formatting } = collection;
  const above = node.entries[before - 1];
  const below = node.entries[before];
  if (above === undefined && below === undefined) return insertFirst(collection, written);
  const neighbour = above ?? below;
  const ownLine = neighbour !== undefined && beginsLine(text, neighbour.start);
  const { comma } = gapsOf(text, [node], formatting);
  if (above === undefined && below !== undefined) {
    if (!ownLine) return [{ start: below.start, end: below.start, text: `${written},${comma}` }];
    const pad = text.slice(lineStart(text, below.start), below.start);
    const line = `${commentsAbove}${pad}${written},${remark}`;
    return [insertLines(text, startWithComments(collection, 0), [line])];
  }
  if (above === undefined) return [];
  if (!ownLine) return [{ start: above.end, end: above.end, text: `,${comma}${written}` }];
  return insertLine(text, above, { written, isLast: below === undefined, commentsAbove, remark });
}

/** Inserts the first entry into brackets that are empty, or that contain only comments. */
function insertFirst({ text, node, formatting }: Collection, written: string): Splice[] {
  const at = node.start + 1;
  const isCommented = text.slice(at, node.end - 1).includes('#');
  if (isCommented) return [{ start: at, end: at, text: written }];
  if (formatting.spread === undefined) {
    const padding = formatting.padding[node.is === 'list' ? 'list' : 'map'];
    return [{ start: at, end: node.end - 1, text: `${padding}${written}${padding}` }];
  }
  const [lineBreak, line] = [lineBreakAt(text, at), text.slice(lineStart(text, at), at)];
  const pad = /^[ \t]*/.exec(line)?.[0] ?? '';
  const within = `${lineBreak}${pad}${formatting.spread}${written}${lineBreak}${pad}`;
  return [{ start: at, end: node.end - 1, text: within }];
}

interface NewLine {
  readonly written: string;
  readonly isLast: boolean;
  /** the lines of comments above it */
  readonly commentsAbove: string;
  /** the comment after it, with the spaces before the comment */
  readonly remark: string;
}

/** Inserts a line below the line of the entry `above`, whose comment stays beside it. */
function insertLine(
  text: string,
  above: SourceEntry,
  { written, isLast, commentsAbove, remark }: NewLine,
): Splice[] {
  const pad = text.slice(lineStart(text, above.start), above.start);
  const behind = above.comma === undefined ? above.end : above.comma + 1;
  const comma = above.comma === undefined ? [{ start: above.end, end: above.end, text: ',' }] : [];
  const ending = above.comma === undefined && isLast ? '' : ',';
  if (bareRest(text, behind) === undefined)
    return [...comma, { start: behind, end: behind, text: ` ${written}${ending}` }];
  const line = `${commentsAbove}${pad}${written}${ending}${remark}`;
  return [...comma, insertLines(text, lineEnd(text, behind), [line])];
}

/** Removes an entry from a collection that keeps at least one other entry. */
export function removeEntry(collection: Collection, index: number): Splice[] {
  const { text, node } = collection;
  const entry = node.entries[index];
  if (entry === undefined) return [];
  if (node.style !== 'flow')
    return [cut(startWithComments(collection, index), endWithComments(collection, entry))];
  const [above, below] = [node.entries[index - 1], node.entries[index + 1]];
  const isLast = below === undefined;
  const comma =
    isLast && above?.comma !== undefined && entry.comma === undefined
      ? [cut(above.comma, above.comma + 1)]
      : [];
  const behind = entry.comma === undefined ? entry.end : entry.comma + 1;
  const rest = bareRest(text, behind);
  if (rest !== undefined && beginsLine(text, entry.start))
    return [...comma, cut(startWithComments(collection, index), behind + rest.length)];
  if (!isLast && lineStart(text, below.start) === lineStart(text, entry.end))
    return [cut(entry.start, below.start)];
  const from = above === undefined ? entry.start : (above.comma ?? above.end);
  return [cut(from, behind)];
}

/**
 * Moves an item to another place in its list, as it is written, with its comments.
 * @param before the number of entries before its new place, itself included
 */
export function moveItem(collection: Collection, index: number, before: number): Splice[] | undefined {
  const { text, node } = collection;
  const entry = node.entries[index];
  if (entry === undefined) return undefined;
  if (node.style === 'flow') {
    const behind = entry.comma === undefined ? entry.end : entry.comma + 1;
    const isLine = beginsLine(text, entry.start);
    const remark = isLine ? (bareRest(text, behind)?.trimEnd() ?? '') : '';
    const commentsAbove = isLine
      ? text.slice(startWithComments(collection, index), lineStart(text, entry.start))
      : '';
    const written = text.slice(entry.start, entry.end);
    return [
      ...insertBetweenBrackets(collection, written, before, { commentsAbove, remark }),
      ...removeEntry(collection, index),
    ];
  }
  const [start, end] = [startWithComments(collection, index), endWithComments(collection, entry)];
  const above = node.entries[before - 1];
  const at = above === undefined ? startWithComments(collection, 0) : endWithComments(collection, above);
  const lines = text
    .slice(start, end)
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  return [insertLines(text, at, lines), cut(start, end)];
}

/** Where the line of an entry begins, or, if comments directly above belong to it, the first of these. */
export function startWithComments(collection: Collection, index: number): number {
  const { text, node } = collection;
  const entry = node.entries[index];
  if (entry === undefined) return text.length;
  const above = node.entries[index - 1];
  const bound = above === undefined ? 0 : endWithComments(collection, above);
  let start = lineStart(text, entry.start);
  for (;;) {
    const line = lineStart(text, start - 1);
    if (start === 0 || line < bound || !/^[ \t]*#/.test(text.slice(line, start))) return start;
    start = line;
  }
}

/** Where the lines of an entry end; in a block this includes the comments below it that are indented deeper. */
export function endWithComments({ text, node }: Collection, entry: SourceEntry): number {
  let end = lineEnd(text, entry.end);
  if (node.style === 'flow') return end;
  const column = columnOf(text, entry.start);
  for (;;) {
    const gap = /^ *(?=#)/.exec(text.slice(end, lineEnd(text, end + 1)))?.[0];
    if (gap === undefined || gap.length <= column) return end;
    end = lineEnd(text, end + 1);
  }
}

function cut(start: number, end: number): Splice {
  return { start, end, text: '' };
}
