/** Replaces the value of a member or item where it stands, in the style that it has; comments beside it stay. */
import type { Json } from '../../model/json/json.ts';
import { quoted } from '../../model/quoted.ts';
import { type Collection, endWithComments, mannerAt, startWithComments } from './entries.ts';
import { type SourceEntry, UnusualYaml } from './source-tree.ts';
import { columnOf, insertLines, lineBreakAt, lineEnd, lineStart, type Splice } from './splice.ts';
import { rewriteBlock } from './text-block.ts';
import { blockText, inlineText, needsLines } from './value-text.ts';

/** @param collection what the entry stands in */
export function replaceValue(collection: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { text, node } = collection;
  const { value: old } = entry;
  if (old.style === 'alias')
    throw new UnusualYaml(`the alias ${quoted(`*${old.alias}`)} stands where a value is to be written`);
  const inline = inlineText(value, mannerAt(collection, entry.start, old.style));
  const isRoomy = node.style === 'block' && entry.key !== undefined;
  const onLines = isRoomy && needsLines(value) && old.style !== 'flow';
  if (old.style === 'text') return replaceText(collection, entry, { value, inline, onLines });
  if (old.style === 'block') return replaceBlock(collection, entry, onLines ? value : inline);
  if (onLines) return spreadOut(collection, entry, value);
  const start = old.tag === undefined ? old.start : Math.min(old.tag.start, old.start);
  const isBeforeColon = start === entry.lead && text[start - 1] !== ' ' && entry.key !== undefined;
  // Between brackets a key in quotes needs no space behind its colon.
  const isTight = isBeforeColon && !(node.style === 'flow' && /["']/.test(text[entry.start] ?? ''));
  const isBare = old.style === 'empty';
  const written = isTight || isBare ? ` ${inline}` : inline;
  return [
    { start, end: old.end, text: written },
    ...alignComment(text, { start, end: old.end, text: written }),
  ];
}

/** A comment stays below that of the line above, or above that of the line below, where there is room. */
function alignComment(text: string, { start, end, text: written }: Splice): Splice[] {
  const gap = /^ {2,}(?=#)/.exec(text.slice(end))?.[0] ?? '';
  const column = columnOf(text, end) + gap.length;
  const lines = [lineStart(text, lineStart(text, start) - 1), lineEnd(text, end)];
  const isAligned = lines.some((line) => /^.* #$/.test(text.slice(line, line + column + 1)));
  if (gap === '' || !isAligned || written.includes('\n')) return [];
  const width = Math.max(1, gap.length + (end - start) - written.length);
  return [{ start: end, end: end + gap.length, text: ' '.repeat(width) }];
}

/** From a value on the line of its key to lines below it. */
function spreadOut({ text, habits }: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { head, lines } = blockText(value, columnOf(text, entry.start), habits);
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
  /** it has several lines, and there is room for them */
  readonly onLines: boolean;
}

/** A block of text: its header is a line of its own, whose comment stays. */
function replaceText(
  collection: Collection,
  entry: SourceEntry,
  { value, inline, onLines }: NewText,
): Splice[] {
  const { text, habits } = collection;
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
  const otherwise = onLines ? blockText(value, column, habits) : { head: inline, lines: [] };
  const parts = kept === undefined ? otherwise : { head: kept.header, lines: kept.lines };
  const whole = [`${parts.head}${comment}`, ...parts.lines].join(lineBreak);
  return [{ start, end, text: isOpenEnd ? whole : `${whole}${lineBreak}` }];
}

/** A map or list on lines of its own becomes something else: what stands behind its key stays, and its comments go with it. */
function replaceBlock(collection: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { text, habits } = collection;
  const { value: old } = entry;
  const from = Math.max(entry.lead, old.anchor?.end ?? 0, old.tag?.end ?? 0);
  const isBelow = lineStart(text, old.start) > from;
  const isWritten = typeof value === 'string' && !needsLines(value);
  const { head, lines } = isWritten
    ? { head: value, lines: [] }
    : blockText(value, columnOf(text, entry.start), habits);
  if (!isBelow) return [{ start: old.start, end: old.end, text: head }];
  const first = startWithComments({ ...collection, node: old }, 0);
  const last = endWithComments(collection, entry);
  const below = lines.length === 0 ? '' : insertLines(text, first, lines).text;
  return [
    { start: from, end: from, text: head === '' ? '' : ` ${head}` },
    { start: first, end: last, text: below },
  ];
}
