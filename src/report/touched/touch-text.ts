/** Who touched a resource, for a terminal: beside its one changed line where there is room, else below its fields. */
import { stripVTControlCharacters } from 'node:util';
import type { Touched } from '../../model/plan/touch.ts';
import { touchedLines } from './format-touch.ts';
import { columns, indent, wrap } from '../terminal/layout.ts';
import type { Paint } from '../terminal/paint.ts';

interface TouchLayout {
  readonly paint: Paint;
  /** milliseconds since 1970 */
  readonly now?: number;
}

/** Adds the lines to those of the fields. @param width columns that there are for both */
export function withTouched(
  fields: readonly string[],
  touched: Touched | undefined,
  { paint, now = 0 }: TouchLayout,
  width: number,
): string[] {
  if (touched === undefined) return [...fields];
  const [first = '', ...more] = touchedLines(touched, now);
  const below = more.flatMap((line) => (line.startsWith(' ') ? [line] : wrap(line, width)));
  const [field] = fields;
  if (fields.length === 1 && field !== undefined) {
    const beside = `${field}${paint.dim(` · ${first}`)}`;
    if (columns(stripVTControlCharacters(beside)) <= width)
      return [beside, ...indent(below, 2).map(paint.dim)];
  }
  const [head = '', ...rest] = wrap(first, width);
  return [...fields, ...[head, ...indent([...rest, ...below], 2)].map(paint.dim)];
}
