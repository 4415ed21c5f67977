/** A list that shows its first items and, when asked, more of them: it may have thousands. The table has room for those. */
import { button, type Child, element, grouped } from './elements.ts';

const first = 10;
const step = 100;

/** @param showAll leads to all of them elsewhere, when a step more is not enough */
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

/** The button that had the focus is gone. */
function focusItem(item: Element | undefined): void {
  if (!(item instanceof HTMLElement)) return;
  item.tabIndex = -1;
  item.focus();
}
