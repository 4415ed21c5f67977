/**
 * Creates elements: sections, lists that grow, buttons that copy. Every text becomes a text node, so none is ever read as
 * markup.
 */
import { isClearUnquoted, splitQuoted } from '../../../model/quoted.ts';

export type Child = Node | string | undefined | readonly Child[];

/** Attributes by name; `false` and `undefined` leave one out. Texts from outside go into `title` and `aria-label` only. */
interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

function setAttributes(of: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) of.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(to: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined) continue;
    if (typeof child === 'string' || child instanceof Node) to.append(child);
    else append(to, child);
  }
}

export function replace(of: Element, ...children: Child[]): void {
  of.replaceChildren();
  append(of, children);
}

export function button(text: string, onPress: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', onPress);
  return made;
}

/** Names and values. Their text direction does not affect the text around them. */
export function code(text: string, attributes: Attributes = {}): HTMLElement {
  return element('code', attributes, text);
}

/** A sentence in which quoted parts are names or commands; escaped quotes stay escaped. */
export function sentence(text: string): Child[] {
  return splitQuoted(text).map((part, index) =>
    index % 2 === 1 && isClearUnquoted(part) ? code(part.slice(1, -1)) : part,
  );
}

/** A count such as `1,234`: the same in every locale, because the page has one language. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

// The sections of the page, each with a heading and an anchor.

export function section(title: string, ...children: Child[]): HTMLElement {
  const id = title.toLowerCase().replaceAll(/\W+/g, '-');
  return element(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title),
    ...children,
  );
}

/** The heading of a section, for links to it. */
export function titleOf(section: HTMLElement): string {
  return section.querySelector('h2')?.textContent ?? '';
}

// A list that may have thousands of items: it shows the first ones, and more on request.

const first = 10;
const step = 100;

/** @param showAll shows all items in the table; offered if one more step would not show them all */
export function growingList<Item>(
  items: readonly Item[],
  show: (item: Item) => Child,
  showAll?: () => void,
): HTMLElement {
  const list = element('ul', { class: 'items' });
  const isElsewhere = () => showAll !== undefined && items.length - list.children.length > step;
  const more = button('', () => (isElsewhere() ? showAll?.() : grow(step)), { class: 'small' });
  const grow = (count: number) => {
    const before = list.children.length;
    list.append(...items.slice(before, before + count).map((item) => element('li', {}, show(item))));
    const left = items.length - list.children.length;
    more.textContent = isElsewhere()
      ? `Show all ${grouped(items.length)} in the table`
      : `Show ${grouped(Math.min(step, left))} more of ${grouped(left)}`;
    more.hidden = left === 0;
    if (before > 0 && left === 0) focusItem(list.children[before]);
  };
  grow(items.length <= first + 2 ? items.length : first);
  return element('div', {}, list, more);
}

/** Moves the focus to an item, because the button that had it is hidden now. */
function focusItem(item: Element | undefined): void {
  if (!(item instanceof HTMLElement)) return;
  item.tabIndex = -1;
  item.focus();
}

// A button that copies a text, if the browser allows it.

/** @param what names the text for screen readers */
export function copyButton(text: string, what: string): HTMLElement | undefined {
  // Browsers have no clipboard on pages without encryption.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return undefined;
  const show = (word: string) => made.replaceChildren(word);
  const made = button(
    'Copy',
    () => {
      clipboard.writeText(text).then(
        () => show('Copied'),
        () => show('Not allowed'),
      );
    },
    { class: 'small', 'aria-label': `Copy the ${what}` },
  );
  return made;
}

// Calls a function before and after printing, whether the user prints or a program sets the medium.

export function onPrint(before: () => void, after: () => void): void {
  let isPrinting = false;
  const turn = (now: boolean) => {
    if (now === isPrinting) return;
    isPrinting = now;
    if (now) before();
    else after();
  };
  addEventListener('beforeprint', () => turn(true));
  addEventListener('afterprint', () => turn(false));
  matchMedia('print').addEventListener('change', ({ matches }) => turn(matches));
}
