/** Replaces the value of a member or item where it stands, in the style that it has; comments beside it stay. */
import type { Json } from '../../model/json/json.ts';
import type { Collection } from './entries.ts';
import { type SourceEntry, UnusualYaml } from './source-tree.ts';
import { columnOf, insertLines, lineBreakAt, lineEnd, lineStart, type Splice } from './splice.ts';
import { blockText, inlineText, needsLines } from './value-text.ts';

/** @param collection what the entry stands in */
export function replaceValue(collection: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { text, node, json } = collection;
  const { value: old } = entry;
  if (old.style === 'alias')
    throw new UnusualYaml(`the alias "*${old.alias}" stands where a value is to be written`);
  const inline = inlineText(value, { style: old.style, json });
  const isRoomy = node.style === 'block' && entry.key !== undefined;
  const onLines = isRoomy && needsLines(value) && old.style !== 'flow';
  if (old.style === 'text') return replaceText(collection, entry, onLines ? value : inline);
  if (old.style === 'block') return replaceBlock(collection, entry, onLines ? value : inline);
  if (onLines) return spreadOut(collection, entry, value);
  const start = old.tag === undefined ? old.start : Math.min(old.tag.start, old.start);
  const isTight = start === entry.lead && text[start - 1] !== ' ' && entry.key !== undefined;
  const isBare = old.style === 'empty';
  return [{ start, end: old.end, text: isTight || isBare ? ` ${inline}` : inline }];
}

/** From a value on the line of its key to lines below it. */
function spreadOut({ text, step }: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { head, lines } = blockText(value, columnOf(text, entry.start) + step, step);
  const { value: old } = entry;
  const start = old.anchor === undefined ? entry.lead : old.anchor.end;
  const gap = head === '' ? '' : ` ${head}`;
  return [
    { start, end: Math.max(start, old.end), text: gap },
    insertLines(text, lineEnd(text, old.end), lines),
  ];
}

/** A block of text: its header is a line of its own, whose comment stays. */
function replaceText({ text, step }: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { start, end } = entry.value;
  const lineBreak = lineBreakAt(text, start);
  const headerEnd = lineEnd(text, start);
  const comment = /[ \t]+#[^\r\n]*/.exec(text.slice(start, headerEnd))?.[0] ?? '';
  const isOpenEnd = text[end - 1] !== '\n';
  const parts = onLines(value, columnOf(text, entry.start) + step, step);
  const whole = [`${parts.head}${comment}`, ...parts.lines].join(lineBreak);
  return [{ start, end, text: isOpenEnd ? whole : `${whole}${lineBreak}` }];
}

/** A map or list on lines of its own becomes something else: what stands behind its key stays. */
function replaceBlock({ text, step }: Collection, entry: SourceEntry, value: Json): Splice[] {
  const { value: old } = entry;
  const from = Math.max(entry.lead, old.anchor?.end ?? 0, old.tag?.end ?? 0);
  const isBelow = lineStart(text, old.start) > from;
  const { head, lines } = onLines(value, columnOf(text, entry.start) + step, step);
  if (!isBelow) return [{ start: old.start, end: old.end, text: head }];
  const first = lineStart(text, old.start);
  const last = lineEnd(text, entry.end);
  const below = lines.length === 0 ? '' : insertLines(text, first, lines).text;
  return [
    { start: from, end: from, text: head === '' ? '' : ` ${head}` },
    { start: first, end: last, text: below },
  ];
}

/** @param value text that is written already, or a value for lines of its own */
function onLines(value: Json, indent: number, step: number): { head: string; lines: readonly string[] } {
  if (typeof value === 'string' && !needsLines(value)) return { head: value, lines: [] };
  return blockText(value, indent, step);
}
