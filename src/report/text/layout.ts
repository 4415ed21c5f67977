/** Widths, wrapping and emphasis for a terminal. Expects printable text without escape sequences. */
import { styleText } from 'node:util';
import type { Address } from '../../model/address.ts';
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

// Emphasis of text. Renderers use a `Paint` and know no escape sequences. Words or symbols repeat what a colour shows,
// so that `plain` loses no information.

type Emphasis = (text: string) => string;

export interface Paint {
  readonly bold: Emphasis;
  readonly dim: Emphasis;
  readonly heading: Emphasis;
  readonly added: Emphasis;
  readonly removed: Emphasis;
  readonly changed: Emphasis;
  readonly warning: Emphasis;
  readonly error: Emphasis;
  /** the name of a resource as a link to its page, if there is one */
  readonly link: (name: string, address: Address) => string;
}

const asIs: Emphasis = (text) => text;

/** For files, pipes and NO_COLOR. */
export const plain: Paint = {
  bold: asIs,
  dim: asIs,
  heading: asIs,
  added: asIs,
  removed: asIs,
  changed: asIs,
  warning: asIs,
  error: asIs,
  link: asIs,
};

type Style = Parameters<typeof styleText>[0];

/** Always adds colours: the caller decides whether its stream supports them. */
function emphasis(style: Style): Emphasis {
  return (text) => (text === '' ? '' : styleText(style, text, { validateStream: false }));
}

/** For terminals. */
export const colourful: Paint = {
  bold: emphasis('bold'),
  dim: emphasis('dim'),
  heading: emphasis(['bold', 'underline']),
  added: emphasis('green'),
  removed: emphasis('red'),
  changed: emphasis('yellow'),
  warning: emphasis(['bold', 'yellow']),
  error: emphasis(['bold', 'red']),
  link: asIs,
};
