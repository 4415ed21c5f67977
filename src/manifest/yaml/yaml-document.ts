/**
 * One parsed YAML document: its value, and the parser's events, which give the place of any part of it. The value is JSON:
 * other YAML values (dates, infinities, binary) stay text or are refused by the parser.
 */
import { EVENT_ID } from 'js-yaml';
import type { Place } from '../../model/diagnostic.ts';
import type { Json, Path } from '../../model/json/json.ts';
import { type EventRange, locate, pairsOf, rawScalar, type Span, spanOf } from './locate.ts';
import type { SourceText } from './source-text.ts';

export interface YamlDocument extends EventRange {
  readonly source: SourceText;
  /** offset in the source at which `text` begins */
  readonly base: number;
  readonly value: Json;
}

/** Whether a diagnostic points at the key or at the value of a field. */
export type EntrySide = 'key' | 'value';

/** The place of a path, or of the nearest part around it that was written. */
export function placeIn(document: YamlDocument, path: Path, side: EntrySide = 'value'): Place {
  const { depth, key, value } = locate(document, path);
  const around = depth < path.length;
  const wanted = side === 'key' || around ? (key ?? value) : (value ?? key);
  const span = depth === 0 ? firstKey(document) : wanted;
  return toPlace(document, span ?? firstKey(document));
}

/** A scalar as it was typed, without its quotes. */
export function typedText(document: YamlDocument, path: Path): string | undefined {
  return rawScalar(document, path);
}

/** Whether a path was written in this document, merge keys and aliases included. */
export function isWritten(document: YamlDocument, path: Path): boolean {
  return locate(document, path).depth === path.length;
}

export function toPlace({ source, base }: YamlDocument, { start, end }: Span): Place {
  return source.place(base + start, base + end);
}

/** The span for problems of the whole document: its first key, or its first line. */
function firstKey(document: YamlDocument): Span {
  const content = document.events[document.first];
  const first = content?.type === EVENT_ID.MAPPING ? pairsOf(document, document.first)[0] : undefined;
  return spanOf(document, first?.key ?? document.first) ?? { start: 0, end: 1 };
}
