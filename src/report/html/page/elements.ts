/** Makes elements. Texts become text nodes and nothing else: no text is ever read as markup. */
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

/** Names and values: their direction is their own, and does not reach what stands around. */
export function code(text: string, attributes: Attributes = {}): HTMLElement {
  return element('code', attributes, text);
}

/** A sentence, in which what stands between quotes is a name or a command; an escaped quote of a value stays escaped. */
export function sentence(text: string): Child[] {
  return splitQuoted(text).map((part, index) =>
    index % 2 === 1 && isClearUnquoted(part) ? code(part.slice(1, -1)) : part,
  );
}

/** `1,234`: the same in every locale, as the page is in one language. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
