/** The fields of a change as lines of a `diff` block: what a platform paints red stands after `-`, green after `+`. */
import type { Action, Change } from '../../model/plan/change.ts';
import { clip } from '../format/clip.ts';
import { type FieldView, fieldViews, type SequencePart } from '../format/format-field.ts';
import type { ShownValue } from '../format/format-value.ts';

const maxLine = 400;

export function fieldDiff({ action, fields }: Pick<Change, 'action' | 'fields'>): string[] {
  const views = fields.flatMap(fieldViews);
  const isWhole = action === 'create' || action === 'delete';
  return (isWhole ? wholeLines(views, action) : views.flatMap(viewLines)).map((line) => clip(line, maxLine));
}

/** All values are new, or all go: each has one line where it is one word. */
function wholeLines(views: readonly FieldView[], action: Action): string[] {
  const mark = action === 'create' ? '+' : '-';
  return views.flatMap((view) => {
    const { name, difference } = view;
    const isWord =
      (difference.as === 'added' || difference.as === 'removed') && difference.value.as !== 'lines';
    if (!isWord) return viewLines(view);
    return [`${mark} ${name}: ${valueLines(difference.value).join(', ')}${remarkText(view)}`];
  });
}

function viewLines(view: FieldView): string[] {
  return [`@@ ${view.name} @@${remarkText(view)}`, ...differenceLines(view)];
}

function remarkText({ remarks }: FieldView): string {
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}

function differenceLines({ difference }: FieldView): string[] {
  switch (difference.as) {
    case 'added':
      return marked('+', valueLines(difference.value));
    case 'removed':
      return marked('-', valueLines(difference.value));
    case 'pair':
      return [
        ...marked('-', valueLines(difference.before.value)),
        ...marked('+', valueLines(difference.after.value)),
      ];
    case 'elements': {
      const { added, removed, same } = difference;
      const rest = same === 0 ? [] : [`  ${same} the same`];
      return [...marked('-', removed.flat()), ...marked('+', added.flat()), ...rest];
    }
    case 'sequence':
      return difference.parts.flatMap(partLines);
  }
}

const marks: Readonly<Record<SequencePart['mark'], string>> = { added: '+', removed: '-', same: ' ' };

function partLines({ mark, lines, omitted }: SequencePart): string[] {
  const left = omitted === 0 ? [] : [`  ... ${omitted} the same`];
  return [...marked(marks[mark], lines), ...left];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${mark} ${line}`);
}

function valueLines(value: ShownValue): readonly string[] {
  if (value.as === 'word') return [value.text];
  return value.as === 'items' ? value.items : value.lines;
}
