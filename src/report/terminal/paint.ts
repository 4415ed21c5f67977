/**
 * How text is emphasised. A renderer paints through one of these and knows no escape sequence; it also says in words
 * or symbols whatever a colour says, so that `plain` loses nothing.
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

/** Whether a stream takes colours is for the caller to know; here they are always made. */
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
