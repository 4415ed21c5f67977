/**
 * Emphasis of text. Renderers use a `Paint` and know no escape sequences. Words or symbols also say whatever a colour says,
 * so that `plain` loses no information.
 */
import { styleText } from 'node:util';

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
};
