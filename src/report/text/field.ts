/** Field views as terminal lines: names in one column, differences beside them, or below if they need more room. */
import { counted } from '../../model/quoted.ts';
import { stripVTControlCharacters } from 'node:util';
import type { ShownDifference, Element, FieldView, SequencePart } from '../view/field.ts';
import type { ShownValue } from '../view/value.ts';
import { columns, flow, inColumn, indent, nameColumn, type Paint } from './layout.ts';

interface FieldLayout {
  readonly paint: Paint;
  readonly width: number;
  /** for a resource that is created or deleted as a whole: shows its values without `+` and `-` */
  readonly whole: boolean;
}

/** Number of lines shown of a long text when the whole resource is created or deleted. */
const maxFullLines = 6;
/** Minimum width for a paragraph beside its name; narrower ones are shown below it. */
const minRoom = 40;

/** All views in the given order, not indented. */
export function fieldLines(views: readonly FieldView[], layout: FieldLayout): string[] {
  const column = nameColumn(views.map(({ name }) => name));
  return views.flatMap((view) => viewLines(view, column, layout));
}

function viewLines(view: FieldView, column: number, layout: FieldLayout): string[] {
  const name = inColumn(view.name, column);
  const [first = '', ...rest] = differenceLines(view.difference, columns(name), layout);
  const head = `${name}${first}`.trimEnd();
  if (view.remarks.length === 0) return [head, ...rest];
  const remark = `(${view.remarks.join('; ')})`;
  const fits = columns(stripVTControlCharacters(head)) + columns(remark) + 2 <= layout.width;
  const dimmed = layout.paint.dim(remark);
  return fits ? [`${head}  ${dimmed}`, ...rest] : [head, ...rest, ...indent([dimmed], 2)];
}

/** The first line goes beside the name, which ends at `column`; the others go below, with their own indentation. */
function differenceLines(difference: ShownDifference, column: number, layout: FieldLayout): string[] {
  const room = layout.width - column;
  switch (difference.as) {
    case 'added':
    case 'removed':
      return valueLines(difference.value, difference.as, column, layout);
    case 'pair':
      return pairLines(difference, room, layout);
    case 'elements':
      return elementLines(difference, room, layout);
    case 'sequence':
      return sequenceLines(difference, layout);
  }
}

function valueLines(
  value: ShownValue,
  side: 'added' | 'removed',
  column: number,
  layout: FieldLayout,
): string[] {
  const mark = layout.whole ? '' : side === 'added' ? '+ ' : '- ';
  const paint = (line: string) => (layout.whole ? line : layout.paint[side](mark + line));
  if (value.as === 'lines') {
    const shown = layout.whole ? firstLines(value.lines) : value.lines;
    return [layout.paint.dim(counted(value.lines.length, 'line')), ...indent(shown.map(paint), 2)];
  }
  const beside = layout.width - column >= minRoom;
  const [first = '', ...more] = linesOf(value, layout.width - (beside ? column : 4) - mark.length).map(paint);
  if (more.length === 0) return [first];
  return beside ? [first, ...indent(more, column)] : ['', ...indent([first, ...more], 2)];
}

function firstLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= maxFullLines + 1) return lines;
  return [...lines.slice(0, maxFullLines), `... ${lines.length - maxFullLines} more lines`];
}

type ShownPair = Extract<ShownDifference, { as: 'pair' }>;

function pairLines({ before, after }: ShownPair, room: number, { paint, width }: FieldLayout): string[] {
  if (columns(before.inline) + columns(after.inline) + 4 <= room) {
    return [`${paint.removed(before.inline)} -> ${paint.added(after.inline)}`];
  }
  const below = [
    ...marked(before.value, '-', width).map(paint.removed),
    ...marked(after.value, '+', width).map(paint.added),
  ];
  return ['', ...indent(below, 2)];
}

/** A whole value below its name, each line after the mark. */
function marked(value: ShownValue, mark: string, width: number): string[] {
  return linesOf(value, width - 4).map((line) => `${mark} ${line}`);
}

function linesOf(value: ShownValue, width: number): readonly string[] {
  if (value.as === 'word') return [value.text];
  return value.as === 'items' ? flow(value.items, ', ', width) : value.lines;
}

type Elements = Extract<ShownDifference, { as: 'elements' }>;

/** A few short elements beside the name; else a paragraph of added and one of removed elements. */
function elementLines({ added, removed, same }: Elements, room: number, layout: FieldLayout): string[] {
  const { paint } = layout;
  const left = same === 0 ? '' : `  (${same} the same)`;
  const each = [...added.map((item) => `+ ${item[0] ?? ''}`), ...removed.map((item) => `- ${item[0] ?? ''}`)];
  const short = [...added, ...removed].every((item) => item.length === 1) && each.length <= 3;
  if (short && columns(each.join('  ') + left) <= room) {
    const painted = each.map((text, index) =>
      index < added.length ? paint.added(text) : paint.removed(text),
    );
    return [painted.join('  ') + paint.dim(left)];
  }
  const counts = countsOf({ added: added.length, removed: removed.length, same });
  const paragraphs = [
    ...paragraph(added, '+', layout.width).map(paint.added),
    ...paragraph(removed, '-', layout.width).map(paint.removed),
  ];
  return [paint.dim(counts), ...indent(paragraphs, 2)];
}

function paragraph(elements: readonly Element[], mark: string, width: number): string[] {
  const short = elements.flatMap((lines) => (lines.length === 1 ? [lines[0] ?? ''] : []));
  const long = elements.filter((lines) => lines.length !== 1);
  return [...flow(short, ', ', width - 4), ...long.flat()].map((line) => `${mark} ${line}`);
}

type Sequence = Extract<ShownDifference, { as: 'sequence' }>;

function sequenceLines({ unit, parts }: Sequence, { paint }: FieldLayout): string[] {
  const count = (mark: SequencePart['mark']) =>
    parts.reduce((sum, part) => (part.mark === mark ? sum + part.lines.length + part.omitted : sum), 0);
  const counts = countsOf({ added: count('added'), removed: count('removed'), same: count('same') }, unit);
  const lines = parts.flatMap((part) => {
    if (part.mark === 'added') return part.lines.map((line) => paint.added(`+ ${line}`));
    if (part.mark === 'removed') return part.lines.map((line) => paint.removed(`- ${line}`));
    const omitted = part.omitted === 0 ? [] : [paint.dim(`  ... ${counted(part.omitted, unit)} the same`)];
    return [...part.lines.map((line) => `  ${line}`.trimEnd()), ...omitted];
  });
  return [paint.dim(counts), ...indent(lines, 2)];
}

/** `3 lines added, 1 removed, 12 the same` */
function countsOf(counts: { added: number; removed: number; same: number }, unit = 'element'): string {
  return [
    ...(counts.added > 0 ? [`${counted(counts.added, unit)} added`] : []),
    ...(counts.removed > 0
      ? [`${counts.added > 0 ? counts.removed : counted(counts.removed, unit)} removed`]
      : []),
    ...(counts.same > 0 ? [`${counts.same} the same`] : []),
  ].join(', ');
}
