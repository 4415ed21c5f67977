/**
 * Finds the span of the value at a path in a text by walking the parser's events. It runs only for problems, so ten thousand
 * valid documents are never walked. Aliases and merge keys are followed to their anchors.
 */
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import type { Path } from '../../model/json.ts';

/** The events of one document, and the text that their offsets refer to. */
export interface EventRange {
  readonly text: string;
  readonly events: readonly Event[];
  /** index of the event that opens the document's content */
  readonly first: number;
}

/** Offsets into the text; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Location {
  /** how many segments of the path were found */
  readonly depth: number;
  /** the span of the last key found; absent for list items and the document itself */
  readonly key?: Span;
  /** the span of the value found; absent when it is empty text */
  readonly value?: Span;
}

/** The events of a member of a map, or of an item of a list, which has no key. */
export interface EventPair {
  readonly key?: number;
  readonly value: number;
}

/** The place of a path, or of the deepest part of it that exists. @param from where the path begins; the document, by default */
export function locate(range: EventRange, path: Path, from: EventPair = { value: range.first }): Location {
  let found = from;
  let depth = 0;
  for (const segment of path) {
    const child = childOf(range, found.value, segment);
    if (child === undefined) break;
    found = child;
    depth++;
  }
  const key = found.key === undefined ? undefined : spanOf(range, found.key);
  const value = spanOf(range, found.value);
  return { depth, ...(key === undefined ? {} : { key }), ...(value === undefined ? {} : { value }) };
}

/** The text of a scalar as written in the source (`1.10`, `yes`), without quotes; undefined for other nodes. */
export function rawScalar(range: EventRange, path: Path, from = range.first): string | undefined {
  let at = from;
  for (const segment of path) {
    const child = childOf(range, at, segment);
    if (child === undefined) return undefined;
    at = child.value;
  }
  const event = range.events[at];
  return event?.type === EVENT_ID.SCALAR ? getScalarValue(range.text, event) : undefined;
}

/** The event indexes of a map's keys and values, in order and with repeated keys. */
export function pairsOf(range: EventRange, at: number): { readonly key: number; readonly value: number }[] {
  const pairs: { key: number; value: number }[] = [];
  let index = at + 1;
  while (index < range.events.length && range.events[index]?.type !== EVENT_ID.POP) {
    const value = afterNode(range.events, index);
    pairs.push({ key: index, value });
    index = afterNode(range.events, value);
  }
  return pairs;
}

/** The text of a scalar, such as a key; undefined for other nodes. */
export function keyText(range: EventRange, at: number): string | undefined {
  const event = range.events[at];
  return event?.type === EVENT_ID.SCALAR ? getScalarValue(range.text, event) : undefined;
}

/** The span of the node that an event opens, quotes and brackets included. */
export function spanOf(range: EventRange, at: number): Span | undefined {
  const event = range.events[at];
  if (event === undefined) return undefined;
  if (event.type === EVENT_ID.SCALAR) return scalarSpan(range.text, event);
  if (event.type === EVENT_ID.ALIAS) return { start: event.anchorStart - 1, end: event.anchorEnd };
  if (event.type !== EVENT_ID.MAPPING && event.type !== EVENT_ID.SEQUENCE) return undefined;
  return { start: event.start, end: collectionEnd(range, at, event.start) };
}

/** The members of a map by their keys, or the items of a list by their positions, of the node at a path; merge keys are not followed. */
export function childrenAt(range: EventRange, path: Path): ReadonlyMap<string, EventPair> {
  let at = range.first;
  for (const segment of path) at = childOf(range, at, segment)?.value ?? at;
  const event = range.events[at];
  if (event?.type === EVENT_ID.ALIAS)
    at = anchorOf(range, at, range.text.slice(event.anchorStart, event.anchorEnd)) ?? at;
  if (range.events[at]?.type === EVENT_ID.SEQUENCE)
    return new Map(itemsOf(range, at).map((value, index) => [`${index}`, { value }]));
  if (range.events[at]?.type !== EVENT_ID.MAPPING) return new Map();
  return new Map(pairsOf(range, at).map((pair) => [keyText(range, pair.key) ?? '', pair]));
}

function childOf(range: EventRange, at: number, segment: string): EventPair | undefined {
  const event = range.events[at];
  if (event?.type === EVENT_ID.MAPPING) return memberOf(range, at, segment);
  if (event?.type === EVENT_ID.SEQUENCE) {
    const value = itemsOf(range, at)[Number(segment)];
    return value === undefined ? undefined : { value };
  }
  if (event?.type !== EVENT_ID.ALIAS) return undefined;
  const target = anchorOf(range, at, range.text.slice(event.anchorStart, event.anchorEnd));
  return target === undefined ? undefined : childOf(range, target, segment);
}

function memberOf(range: EventRange, at: number, segment: string): EventPair | undefined {
  const pairs = pairsOf(range, at);
  const own = pairs.find(({ key }) => keyText(range, key) === segment);
  if (own !== undefined) return own;
  for (const { value } of pairs.filter(({ key }) => isMergeKey(range, key))) {
    const sources = range.events[value]?.type === EVENT_ID.SEQUENCE ? itemsOf(range, value) : [value];
    for (const source of sources) {
      const merged = childOf(range, source, segment);
      if (merged !== undefined) return merged;
    }
  }
  return undefined;
}

function isMergeKey(range: EventRange, at: number): boolean {
  const event = range.events[at];
  return (
    event?.type === EVENT_ID.SCALAR &&
    event.style === SCALAR_STYLE.PLAIN &&
    getScalarValue(range.text, event) === '<<'
  );
}

/** The event indexes of a list's items, in order. */
export function itemsOf(range: EventRange, at: number): number[] {
  const items: number[] = [];
  let index = at + 1;
  while (index < range.events.length && range.events[index]?.type !== EVENT_ID.POP) {
    items.push(index);
    index = afterNode(range.events, index);
  }
  return items;
}

/** The index of the event after a node and everything inside it. */
function afterNode(events: readonly Event[], at: number): number {
  let depth = 0;
  let index = at;
  do {
    const type = events[index]?.type;
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
    else if (type === EVENT_ID.POP) depth--;
    index++;
  } while (depth > 0 && index < events.length);
  return index;
}

/** The last node with the anchor before `at` in the same document. */
export function anchorOf(range: EventRange, at: number, name: string): number | undefined {
  for (let index = at - 1; index >= range.first; index--) {
    const event = range.events[index];
    if (event === undefined || !('tagStart' in event) || event.anchorStart === -1) continue;
    if (range.text.slice(event.anchorStart, event.anchorEnd) === name) return index;
  }
  return undefined;
}

function scalarSpan(text: string, event: ScalarEvent): Span | undefined {
  const { valueStart: start, valueEnd: end, style } = event;
  if (start < 0) return undefined;
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
    return { start: start - 1, end: end + 1 };
  if (style === SCALAR_STYLE.PLAIN) return { start, end };
  const headerEnd = text.lastIndexOf('\n', start - 1);
  const header = /[|>][-+\d]*[ \t]*(?:#.*)?\r?$/.exec(
    text.slice(text.lastIndexOf('\n', headerEnd - 1) + 1, Math.max(0, headerEnd)),
  );
  if (header === null) return { start, end };
  const marker = text.lastIndexOf('\n', headerEnd - 1) + 1 + header.index;
  return { start: marker, end };
}

/** The end of a collection: after its last value, and after its closing bracket if it has one. */
function collectionEnd(range: EventRange, at: number, start: number): number {
  let end = start + 1;
  let closing = 0;
  for (let index = afterNode(range.events, at) - 1; index > at; index--) {
    const type = range.events[index]?.type;
    if (type === EVENT_ID.POP) closing++;
    const span = type === EVENT_ID.SCALAR || type === EVENT_ID.ALIAS ? spanOf(range, index) : undefined;
    if (span === undefined) continue;
    end = Math.max(end, span.end);
    break;
  }
  const opener = range.text[start];
  if (opener !== '{' && opener !== '[') return end;
  const line = range.text.slice(end).split(/[\r\n]/, 1)[0] ?? '';
  return end + (new RegExp(`^(?:[\\s,[{]*[\\]}]){1,${closing}}`).exec(line)?.[0].length ?? 0);
}
