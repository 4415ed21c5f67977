/** Widths and wrapping in terminal columns. Expects printable text without escape sequences. */

import columnsOf from 'fast-string-width';

/** The width of a text in terminal columns: two for East Asian scripts, full-width forms and emoji, none for combining marks. */
export function columns(text: string): number {
  return columnsOf(text);
}

/** The text padded with spaces to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

const maxNameWidth = 30;

/** The column of the values after these names; a longer name shifts only its own value. */
export function nameColumn(names: readonly string[]): number {
  return Math.max(0, ...names.map(columns).filter((width) => width <= maxNameWidth)) + 2;
}

/** The name padded to the column, followed by at least two spaces. */
export function inColumn(name: string, column: number): string {
  return columns(name) + 2 > column ? `${name}  ` : pad(name, column);
}

/** Joins items into lines of at most `width` columns; an item is never broken. */
export function flow(items: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  items.forEach((item, index) => {
    const last = index === items.length - 1;
    const next = last ? item : item + separator.trimEnd();
    const gap = separator.slice(separator.trimEnd().length);
    if (line === '') line = next;
    else if (columns(line) + gap.length + columns(next) <= width) line += gap + next;
    else {
      lines.push(line);
      line = next;
    }
  });
  return line === '' ? lines : [...lines, line];
}

/** Wraps a sentence at its spaces. */
export function wrap(text: string, width: number): string[] {
  return flow(text.split(' '), ' ', width);
}

/** Wraps a sentence after a label, with the further lines aligned with the first. */
export function labelled(label: string, text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - columns(label));
  return [label + first, ...indent(more, columns(label))];
}

export function indent(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));
}
