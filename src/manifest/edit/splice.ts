/** Replacements of spans of a text, and its lines: all that is not in a span stays as it is. */
import type { Span } from '../yaml/locate.ts';

export interface Splice extends Span {
  readonly text: string;
}

/** @param splices must not overlap; of two at one place the first one stands first */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let result = '';
  let kept = 0;
  for (const { start, end, text: added } of splices.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(kept, start) + added;
    kept = end;
  }
  return result + text.slice(kept);
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Behind the line break of the line in which a value ends; a block of text ends behind its own. */
export function lineEnd(text: string, end: number): number {
  if (text[end - 1] === '\n') return end;
  const at = text.indexOf('\n', end);
  return at === -1 ? text.length : at + 1;
}

/** The rest of a line with its line break, if it is a comment or nothing; undefined if more stands there. */
export function bareRest(text: string, at: number): string | undefined {
  const rest = text.slice(at, lineEnd(text, at));
  return /^[ \t]*(#.*)?\r?\n?$/.test(rest) ? rest : undefined;
}

/** How many characters stand before it in its line. */
export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** Whether nothing but spaces stands before it in its line. */
export function beginsLine(text: string, at: number): boolean {
  return text.slice(lineStart(text, at), at).trim() === '';
}

/** The line break of the line that a place is in, or of the one before. */
export function lineBreakAt(text: string, at: number): string {
  const next = text.indexOf('\n', at);
  const found = next === -1 ? text.lastIndexOf('\n') : next;
  return found > 0 && text[found - 1] === '\r' ? '\r\n' : '\n';
}

/** Lines to be put at an offset where a line begins, or at the end of a text whose last line has no line break. */
export function insertLines(text: string, at: number, lines: readonly string[]): Splice {
  const lineBreak = lineBreakAt(text, Math.max(0, at - 1));
  const body = lines.join(lineBreak);
  const isOpenEnd = at === text.length && at > 0 && text[at - 1] !== '\n';
  return { start: at, end: at, text: isOpenEnd ? `${lineBreak}${body}` : `${body}${lineBreak}` };
}
