/**
 * A text that a user wrote; converts its offsets to places. Lines are computed once and only on demand, so that a large file
 * without problems costs nothing. Hidden parts are found at the same time: the excerpt in a place never shows a secret.
 */
import type { Place } from '../../model/diagnostic.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import type { HiddenParts } from '../explain/hidden-parts.ts';

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
        text: maskAddresses(withoutHidden(line, lineStart, hidden())),
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
