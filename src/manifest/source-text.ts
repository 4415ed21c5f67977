/**
 * A text that a user wrote, and where in it an offset stands. Lines are found once, on the first question, so that a
 * large file without problems costs nothing. Excerpts pass through `mask`: no secret leaves here by way of a place.
 */
import type { Place } from '../model/diagnostic.ts';

export interface SourceText {
  /** as the user would type it, relative to the working directory; `-` for standard input */
  readonly file: string;
  readonly text: string;
  /** The span from offset `start` to `end`, cut at the end of the line it starts in; at least one character long. */
  place(start: number, end: number): Place;
}

export function createSourceText(file: string, text: string, mask: (line: string) => string): SourceText {
  let starts: readonly number[] | undefined;
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
        text: mask(line),
      };
    },
  };
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
