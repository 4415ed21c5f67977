/** Widths and wrapping in terminal columns. Knows nothing of what it lays out; expects printable, unpainted text. */

import columnsOf from 'fast-string-width';

/** How many columns the text takes on a terminal: two for East Asian scripts, full-width forms and emoji, none for marks. */
export function columns(text: string): number {
  return columnsOf(text);
}

/** The text filled up with spaces to `width` columns. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

const maxNameWidth = 30;

/** Where the values behind these names begin; a name too long for the column pushes only its own value. */
export function nameColumn(names: readonly string[]): number {
  return Math.max(0, ...names.map(columns).filter((width) => width <= maxNameWidth)) + 2;
}

/** The name filled up to the column, with two spaces behind it at least. */
export function inColumn(name: string, column: number): string {
  return columns(name) + 2 > column ? `${name}  ` : pad(name, column);
}

/** Items behind one another, broken into lines of at most `width` columns; an item is never broken. */
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

/** A sentence broken at its spaces. */
export function wrap(text: string, width: number): string[] {
  return flow(text.split(' '), ' ', width);
}

/** A sentence behind a label, its further lines beginning where the first one does. */
export function labelled(label: string, text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - columns(label));
  return [label + first, ...indent(more, columns(label))];
}

export function indent(lines: readonly string[], by: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));
}

/** The first few, and how many more there are: what a hundred lines would say. */
export function fewOf(lines: readonly string[], few = 3): string[] {
  const more = lines.length - few;
  return more <= 1 ? [...lines] : [...lines.slice(0, few), `and ${more} more`];
}
