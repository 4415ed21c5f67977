/**
 * A text from a user, and one YAML document in it: its value, and the place of any part of it. Lines and hidden parts are
 * computed only on demand; the excerpt in a place never shows a secret.
 */
import { type Event, EVENT_ID } from 'js-yaml';
import type { Place } from '../../model/diagnostic.ts';
import { isJsonObject, type Json, memberOf, type Path } from '../../model/json.ts';
import { maskUrls } from '../../redaction/mask-text.ts';
import type { HiddenParts } from './hidden-parts.ts';
import { type EventPair, type EventRange, locate, pairsOf, rawScalar, type Span, spanOf } from './locate.ts';

export interface SourceText {
  /** as the user would type it, relative to the working directory; `-` for standard input */
  readonly file: string;
  readonly text: string;
  /** The span from offset `start` to `end`, cut at the end of the line it starts in; at least one character long. */
  place(start: number, end: number): Place;
  /** values of the text that no message may repeat */
  hiddenValues(): readonly string[];
}

/** @param find finds what to hide in a text; when absent, nothing is hidden */
export function createSourceText(
  file: string,
  text: string,
  find: (text: string) => HiddenParts = () => ({ spans: [], values: [] }),
): SourceText {
  let starts: readonly number[] | undefined;
  let found: HiddenParts | undefined;
  const hidden = () => {
    found ??= find(text);
    return found;
  };
  return {
    file,
    text,
    place(start, end) {
      starts ??= lineStarts(text);
      const from = Math.min(start, text.length);
      const index = lineAt(starts, from);
      const lineStart = starts[index] ?? 0;
      const line = text.slice(lineStart, starts[index + 1] ?? text.length).replace(/[\r\n]+$/, '');
      const span = text.slice(from, Math.min(end, lineStart + line.length));
      return {
        file,
        line: index + 1,
        column: characters(line.slice(0, from - lineStart)) + 1,
        length: Math.max(1, characters(span.trimEnd())),
        text: maskUrls(withoutHidden(line, lineStart, hidden())),
      };
    },
    hiddenValues: () => hidden().values,
  };
}

/** Cuts a line at its first hidden part: the rest, such as a comment, may belong to it. */
function withoutHidden(line: string, lineStart: number, { spans }: HiddenParts): string {
  const lineEnd = lineStart + line.length;
  let first = line.length;
  for (const { start, end } of spans) {
    if (start >= lineEnd) break;
    if (end > lineStart) first = Math.min(first, Math.max(0, start - lineStart));
  }
  if (first === line.length) return line;
  const shown = first === 0 ? line.slice(0, line.length - line.trimStart().length) : line.slice(0, first);
  return `${shown}***`;
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { 0: end, index } of text.matchAll(/\r\n?|\n/g)) starts.push(index + end.length);
  return starts;
}

/** The last line that starts at or before the offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

// One parsed YAML document: its value, and the parser's events, which give the place of any part of it. The value is JSON:
// other YAML values (dates, infinities, binary) stay text or are refused by the parser.

export interface YamlDocument extends EventRange {
  readonly source: SourceText;
  /** offset in the source at which `text` begins */
  readonly base: number;
  readonly value: Json;
  /** only for a document that a template made from an item of a list: it finds places and texts in the list, too */
  readonly made?: MadeDocument;
}

/** What a document that a template made knows of its values. Paths are those of the document. */
interface MadeDocument {
  /** the document that it was made from */
  readonly from: YamlDocument;
  /** place of the item that it was made with; for a product, of the first item */
  readonly item: Place | undefined;
  /** the value of `each.key` */
  readonly key: string;
  place(path: Path, side: EntrySide): Place;
  typed(path: Path): string | undefined;
}

interface DocumentChunk extends Pick<YamlDocument, 'source' | 'text' | 'base'> {
  events(): readonly Event[];
}

/** The documents of one chunk share what they have in common: a file may have thousands of documents. */
export class ParsedDocument implements YamlDocument {
  readonly #chunk: DocumentChunk;
  readonly first: number;
  readonly value: Json;

  constructor(chunk: DocumentChunk, first: number, value: Json) {
    this.#chunk = chunk;
    this.first = first;
    this.value = value;
  }

  get source(): SourceText {
    return this.#chunk.source;
  }

  get text(): string {
    return this.#chunk.text;
  }

  get base(): number {
    return this.#chunk.base;
  }

  get events(): readonly Event[] {
    return this.#chunk.events();
  }
}

/** Whether a diagnostic points at the key or at the value of a field. */
export type EntrySide = 'key' | 'value';

/** The place of a path, or of the nearest part around it that was written. */
export function placeIn(document: YamlDocument, path: Path, side: EntrySide = 'value'): Place {
  return document.made?.place(path, side) ?? placeBelow(document, path, side);
}

/** The same for a path below a node. @param from the node; the document, by default */
export function placeBelow(document: YamlDocument, path: Path, side: EntrySide, from?: EventPair): Place {
  const { depth, key, value } = locate(document, path, from);
  const around = depth < path.length;
  const wanted = side === 'key' || around ? (key ?? value) : (value ?? key);
  const span = depth === 0 && from === undefined ? firstKey(document) : wanted;
  return toPlace(document, span ?? firstKey(document));
}

/** A scalar as it was typed, without its quotes. */
export function typedText(document: YamlDocument, path: Path): string | undefined {
  return document.made === undefined ? rawScalar(document, path) : document.made.typed(path);
}

/** Whether a path was written in this document, merge keys and aliases included. */
export function isWritten(document: YamlDocument, path: Path): boolean {
  return locate(document, path).depth === path.length;
}

export function toPlace(
  { source, base }: Pick<YamlDocument, 'source' | 'base'>,
  { start, end }: Span,
): Place {
  return source.place(base + start, base + end);
}

/** The span for problems of the whole document: its first key, or its first line. */
function firstKey(document: YamlDocument): Span {
  const content = document.events[document.first];
  const first = content?.type === EVENT_ID.MAPPING ? pairsOf(document, document.first)[0] : undefined;
  return spanOf(document, first?.key ?? document.first) ?? { start: 0, end: 1 };
}

/** Whether a document is a template. Most stacks have none, and then no other code for templates is loaded. */
export function isTemplate({ value }: Pick<YamlDocument, 'value'>): boolean {
  const metadata = memberOf(value, 'metadata');
  return isJsonObject(metadata) && Object.hasOwn(metadata, 'each');
}
