/** The excerpt of a diagnostic: the user's line with its number, and the span underlined. All text is printable. */
import type { Place } from '../../model/diagnostic.ts';
import { columns } from './layout.ts';
import { printable } from '../format/printable.ts';

export interface Excerpt {
  readonly number: string;
  readonly text: string;
  /** spaces, then carets below the span */
  readonly underline: string;
}

/** Longer lines are cut around the span: a line may contain a whole certificate. */
const maxLength = 90;

/** The underline is measured on the escaped text, which may be longer than the original. */
export function excerpt({ line, column, length, text }: Place): Excerpt {
  const start = Math.min(column - 1, text.length);
  const cut = cutAround(text, start, length);
  const before = shown(text.slice(cut.from, start));
  const span = shown(text.slice(start, Math.min(start + length, cut.to)));
  const after = shown(text.slice(start + length, cut.to));
  const lead = cut.from > 0 ? '...' : '';
  const trail = cut.to < text.length ? '...' : '';
  return {
    number: String(line),
    text: `${lead}${before}${span}${after}${trail}`.trimEnd(),
    underline: ' '.repeat(columns(lead + before)) + '^'.repeat(Math.max(1, columns(span))),
  };
}

function cutAround(text: string, start: number, length: number): { from: number; to: number } {
  if (text.length <= maxLength) return { from: 0, to: text.length };
  const spare = Math.max(20, maxLength - length);
  const from = start <= spare / 2 ? 0 : Math.round(start - spare / 2);
  return { from, to: Math.min(text.length, from + maxLength) };
}

/** Printable text, with a tab as one space. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', ' '));
}
