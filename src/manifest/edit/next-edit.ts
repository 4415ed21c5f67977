/**
 * Finds the first place where a document differs from the wanted value, and the replacements that correct it in the style of the
 * old value; comments stay.
 */
import { diffArrays } from 'diff';
import { canonicalText, isJsonObject, type Json, type JsonObject, sameJson } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { formattingOf } from './document-style.ts';
import {
  type Collection,
  endWithComments,
  insertEntry,
  contextAt,
  moveItem,
  removeEntry,
  startWithComments,
} from './entries.ts';
import {
  columnOf,
  insertLines,
  lineBreakAt,
  lineEnd,
  lineStart,
  type SourceEntry,
  type SourceNode,
  type Splice,
  UnusualYaml,
} from './source-tree.ts';
import { blockText, type Formatting, inlineText, needsLines, rewriteBlock } from './value-text.ts';

interface Compared {
  readonly text: string;
  readonly formatting: Formatting;
}

/** @returns no splices when both are the same @throws UnusualYaml */
export function nextEdit(
  text: string,
  root: SourceNode,
  sides: { readonly from: Json; readonly to: Json },
): Splice[] {
  return editAt({ text, formatting: formattingOf(text, root) }, root, sides) ?? [];
}

/** The replacements for the first difference inside a value; undefined when the whole value must be written again. */
function editAt(
  compared: Compared,
  node: SourceNode,
  { from, to }: { from: Json; to: Json },
): Splice[] | undefined {
  if (sameJson(from, to)) return [];
  if (node.is === 'map' && isJsonObject(from) && isJsonObject(to))
    return editMap(compared, node, { from, to });
  if (node.is === 'list' && Array.isArray(from) && Array.isArray(to))
    return editList(compared, node, { from, to });
  return undefined;
}

function editMap(
  compared: Compared,
  node: SourceNode,
  { from, to }: { readonly from: JsonObject; readonly to: JsonObject },
): Splice[] | undefined {
  const collection: Collection = { ...compared, node };
  const added = Object.keys(to).find((key) => !Object.hasOwn(from, key));
  if (added !== undefined) {
    if (!canGrow(collection)) return undefined;
    return insertEntry(collection, { key: added, value: to[added] ?? null }, node.entries.length);
  }
  for (const key of Object.keys(to)) {
    const [before = null, after = null] = [from[key], to[key]];
    if (!sameJson(before, after))
      return editEntry(collection, entryOf(node, key), { from: before, to: after });
  }
  const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  if (Object.keys(to).length === 0) return undefined;
  const [first = ''] = removed;
  const index = node.entries.indexOf(entryOf(node, first));
  return canShrink(collection, index) ? removeEntry(collection, index) : undefined;
}

function editEntry(collection: Collection, entry: SourceEntry, sides: { from: Json; to: Json }): Splice[] {
  return editAt(collection, entry.value, sides) ?? replaceValue(collection, entry, sides.to);
}

/** The member that is written in the map itself; one from a merge key is written elsewhere. */
function entryOf({ entries }: SourceNode, key: string): SourceEntry {
  const found = entries.find((entry) => entry.key === key);
  if (found === undefined) throw new UnusualYaml(`the key ${quoted(key)} is not written where it is used`);
  return found;
}

/** Unchanged items stay in place. Items are added before others are removed, so that the list is never empty. */
function editList(
  compared: Compared,
  node: SourceNode,
  { from, to }: { readonly from: readonly Json[]; readonly to: readonly Json[] },
): Splice[] | undefined {
  const collection: Collection = { ...compared, node };
  if (node.entries.length !== from.length) throw new UnusualYaml('a list does not match its source');
  if (to.length === 0) return undefined;
  const within = editItem(collection, { from, to });
  if (within !== undefined) return within;
  const parts = diffArrays(from.map(canonicalText), to.map(canonicalText));
  const removed = parts.flatMap((part, number) =>
    part.removed
      ? part.value.map((text, offset) => ({ text, index: countBefore(parts, number) + offset }))
      : [],
  );
  const added = parts.findIndex((part) => part.added);
  const [gone] = removed;
  if (added === -1) {
    if (gone === undefined) throw new UnusualYaml('a list does not match its source');
    return canShrink(collection, gone.index) ? removeEntry(collection, gone.index) : undefined;
  }
  if (!canGrow(collection)) return undefined;
  const [text] = parts[added]?.value ?? [];
  const before = countBefore(parts, added);
  const moved = removed.find((one) => one.text === text);
  if (moved !== undefined) return moveItem(collection, moved.index, before);
  return insertEntry(collection, { value: to.find((item) => canonicalText(item) === text) ?? null }, before);
}

/** Edits an item in place if only a part of it changes, so that it keeps its style and comments. Undefined if no item is like that. */
function editItem(
  collection: Collection,
  { from, to }: { readonly from: readonly Json[]; readonly to: readonly Json[] },
): Splice[] | undefined {
  if (from.length !== to.length) return undefined;
  for (const [index, entry] of collection.node.entries.entries()) {
    const [before = null, after = null] = [from[index], to[index]];
    if (sameJson(before, after) || !isLike(before, after)) continue;
    const edited = editAt(collection, entry.value, { from: before, to: after });
    if (edited !== undefined) return edited;
  }
  return undefined;
}

/** Whether two maps have a member in common, such as the key of an item. */
function isLike(one: Json, other: Json): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  return Object.entries(one).some(([key, value]) => {
    const same = other[key];
    return same !== undefined && sameJson(value, same);
  });
}

/** The number of items of the current list before a part. */
function countBefore(parts: ReturnType<typeof diffArrays<string>>, number: number): number {
  return parts.slice(0, number).reduce((sum, part) => (part.added ? sum : sum + part.value.length), 0);
}

/** Whether an entry can be added: on a new line, or between brackets. */
function canGrow({ text, node }: Collection): boolean {
  return node.style === 'flow' || node.entries.every(({ start }) => isFirstOfLine(text, start));
}

function canShrink({ text, node }: Collection, index: number): boolean {
  const entry = node.entries[index];
  return node.style === 'flow' || (entry !== undefined && isFirstOfLine(text, entry.start));
}

function isFirstOfLine(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
}

// Replaces the value of a member or item in place, in its style; comments beside it stay.

/** @param collection that has the entry */
function replaceValue(collection: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { text, node } = collection;
  const { value: old } = entry;
  if (old.style === 'alias')
    throw new UnusualYaml(`the alias ${quoted(`*${old.alias}`)} is used where a value must be written`);
  const inline = inlineText(value, contextAt(collection, entry.start, old.style));
  const mayHaveLines = node.style === 'block' && entry.key !== undefined;
  const onLines = mayHaveLines && needsLines(value) && old.style !== 'flow';
  if (old.style === 'text') return replaceText(collection, entry, { value, inline, onLines });
  if (old.style === 'block') return replaceBlock(collection, entry, onLines ? value : inline);
  if (onLines) return spreadOut(collection, entry, value);
  const start = old.tag === undefined ? old.start : Math.min(old.tag.start, old.start);
  const isRightAfterColon = start === entry.lead && text[start - 1] !== ' ' && entry.key !== undefined;
  // Between brackets a key in quotes needs no space after its colon.
  const needsSpace = isRightAfterColon && !(node.style === 'flow' && /["']/.test(text[entry.start] ?? ''));
  const isImplicitNull = old.style === 'empty';
  const written = needsSpace || isImplicitNull ? ` ${inline}` : inline;
  return [
    { start, end: old.end, text: written },
    ...alignComment(text, { start, end: old.end, text: written }),
  ];
}

/** Keeps a comment aligned with that of the line above or below, if there is room. */
function alignComment(text: string, { start, end, text: written }: Splice): Splice[] {
  const gap = /^ {2,}(?=#)/.exec(text.slice(end))?.[0] ?? '';
  const column = columnOf(text, end) + gap.length;
  const lines = [lineStart(text, lineStart(text, start) - 1), lineEnd(text, end)];
  const isAligned = lines.some((line) => /^.* #$/.test(text.slice(line, line + column + 1)));
  if (gap === '' || !isAligned || written.includes('\n')) return [];
  const width = Math.max(1, gap.length + (end - start) - written.length);
  return [{ start: end, end: end + gap.length, text: ' '.repeat(width) }];
}

/** Replaces a value on the line of its key by lines below it. */
function spreadOut({ text, formatting }: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { head, lines } = blockText(value, columnOf(text, entry.start), formatting);
  const { value: old } = entry;
  const start = old.anchor === undefined ? entry.lead : old.anchor.end;
  const gap = head === '' ? '' : ` ${head}`;
  return [
    { start, end: Math.max(start, old.end), text: gap },
    insertLines(text, lineEnd(text, old.end), lines),
  ];
}

interface NewText {
  readonly value: Json;
  readonly inline: string;
  /** it has several lines, and may be written on several */
  readonly onLines: boolean;
}

/** Replaces a block scalar. The comment on its header line stays. */
function replaceText(
  collection: Collection,
  entry: SourceEntry,
  { value, inline, onLines }: NewText,
): Splice[] {
  const { text, formatting } = collection;
  const { start, end } = entry.value;
  const lineBreak = lineBreakAt(text, start);
  const headerEnd = lineEnd(text, start);
  const [header = '', comment = ''] =
    /^(\S*)([ \t]+#[^\r\n]*)?/.exec(text.slice(start, headerEnd))?.slice(1) ?? [];
  const isOpenEnd = text[end - 1] !== '\n';
  const column = columnOf(text, entry.start);
  const lines = text
    .slice(headerEnd, end)
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  const stays = typeof value === 'string' && (onLines || header.startsWith('>'));
  const kept = stays ? rewriteBlock({ header, lines, column }, value) : undefined;
  const otherwise = onLines ? blockText(value, column, formatting) : { head: inline, lines: [] };
  const parts = kept === undefined ? otherwise : { head: kept.header, lines: kept.lines };
  const whole = [`${parts.head}${comment}`, ...parts.lines].join(lineBreak);
  return [{ start, end, text: isOpenEnd ? whole : `${whole}${lineBreak}` }];
}

/**
 * Replaces a map or list in block style. Text after its key stays, its comments are removed.
 * @param value the new value, or, if it fits on one line, its text
 */
function replaceBlock(collection: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { text, formatting } = collection;
  const { value: old } = entry;
  const from = Math.max(entry.lead, old.anchor?.end ?? 0, old.tag?.end ?? 0);
  const isBelow = lineStart(text, old.start) > from;
  const isInline = typeof value === 'string' && !needsLines(value);
  const { head, lines } = isInline
    ? { head: value, lines: [] }
    : blockText(value, columnOf(text, entry.start), formatting);
  if (!isBelow) return [{ start: old.start, end: old.end, text: head }];
  const first = startWithComments({ ...collection, node: old }, 0);
  const last = endWithComments(collection, entry);
  const below = lines.length === 0 ? '' : insertLines(text, first, lines).text;
  return [
    { start: from, end: from, text: head === '' ? '' : ` ${head}` },
    { start: first, end: last, text: below },
  ];
}
