/** The parts of the page: each has a heading, by which it is named and linked to. */
import { type Child, element } from './elements.ts';

export function section(title: string, ...children: Child[]): HTMLElement {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  return element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title),
    ...children,
  );
}

/** The heading of a part, for links to it. */
export function titleOf(part: HTMLElement): string {
  return part.querySelector('h2')?.textContent ?? '';
}
