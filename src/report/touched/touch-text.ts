/** Who touched a resource, for a terminal: beside its one changed line where there is room, else below its fields. */
import { stripVTControlCharacters } from 'node:util';
import type { LastModified } from '../../model/plan/touch.ts';
import { lastModifiedLines } from './format-touch.ts';
import { columns, indent, wrap } from '../terminal/layout.ts';
import type { Paint } from '../terminal/paint.ts';

interface LastModifiedLayout {
  readonly paint: Paint;
  /** milliseconds since 1970 */
  readonly now?: number;
  /** columns that there are */
  readonly width: number;
  /** whether it may stand beside a line */
  readonly beside: boolean;
}

/** Adds the lines to those of the fields. */
export function withLastModified(
  fields: readonly string[],
  touched: LastModified | undefined,
  { paint, now = 0, width, beside }: LastModifiedLayout,
): string[] {
  if (touched === undefined) return [...fields];
  const [first = '', ...more] = lastModifiedLines(touched, now);
  const nested = (line: string) => (line.startsWith(' ') ? [line] : indent(wrap(line, width - 2), 2));
  const below = more.flatMap(nested).map(paint.dim);
  const [field] = fields;
  if (beside && fields.length === 1 && field !== undefined && !more.some((line) => line.startsWith(' '))) {
    const joined = `${field}${paint.dim(` · ${first}`)}`;
    if (columns(stripVTControlCharacters(joined)) <= width) return [joined, ...below];
  }
  const [head = '', ...rest] = wrap(first, width);
  return [...fields, ...[head, ...indent(rest, 2)].map(paint.dim), ...below];
}
