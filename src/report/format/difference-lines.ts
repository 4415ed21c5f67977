/** A difference as lines, each after its mark: `-` for what goes, `+` for what comes, a space for the rest. All text is printable. */
import type { SequencePart, ShownDifference } from './format-field.ts';
import type { ShownValue } from './format-value.ts';

export function differenceLines(difference: ShownDifference): string[] {
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

/** The value alone, each part on a line of its own. */
export function valueLines(value: ShownValue): readonly string[] {
  if (value.as === 'word') return [value.text];
  return value.as === 'items' ? value.items : value.lines;
}

const marks: Readonly<Record<SequencePart['mark'], string>> = { added: '+', removed: '-', same: ' ' };

function partLines({ mark, lines, omitted }: SequencePart): string[] {
  const left = omitted === 0 ? [] : [`  ... ${omitted} the same`];
  return [...marked(marks[mark], lines), ...left];
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${mark} ${line}`);
}
