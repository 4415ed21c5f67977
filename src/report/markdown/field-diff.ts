/** The fields of a change as lines of a `diff` block: what a platform paints red stands after `-`, green after `+`. */
import type { Action, Change } from '../../model/plan/change.ts';
import { clip } from '../format/clip.ts';
import { differenceLines, valueLines } from '../format/difference-lines.ts';
import { type FieldView, fieldViews } from '../format/format-field.ts';

const maxLine = 400;

export function fieldDiff({ action, fields }: Pick<Change, 'action' | 'fields'>): string[] {
  const views = fields.flatMap(fieldViews);
  const isWhole = action === 'create' || action === 'delete';
  return (isWhole ? fullLines(views, action) : views.flatMap(viewLines)).map((line) => clip(line, maxLine));
}

/** All values are new, or all go: each has one line where it is one word. */
function fullLines(views: readonly FieldView[], action: Action): string[] {
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
  return [`@@ ${view.name} @@${remarkText(view)}`, ...differenceLines(view.difference)];
}

function remarkText({ remarks }: FieldView): string {
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}
