/** The table of changes: filtered, a page of rows at a time, each with its details folded below. In print it is one page. */
import type { PlanView } from '../report-view.ts';
import { changeRow } from './change-row.ts';
import { button, element, grouped, replace } from './elements.ts';
import { filterBar } from './filter-bar.ts';
import { addressOf, everything, type Filter, makeFinder } from './filters.ts';
import { onPrint } from './on-print.ts';
import { section } from './section.ts';

/** More rows make browsers slow, and nobody reads them at once. */
const rowsPerPage = 100;

export interface Changes {
  readonly section: HTMLElement;
  /** opens a change in the table and goes there */
  show(change: number): void;
  /** shows the changes that pass, and goes there */
  filter(filter: Partial<Filter>): void;
}

export function changesSection(plan: PlanView): Changes {
  const find = makeFinder(plan);
  const neighboursOf = neighbours(plan);
  const open = new Set<number>();
  let found = find(everything);
  let page = 0;

  const rows = element('div', { role: 'rowgroup', class: 'rows' });
  const table = element(
    'div',
    { role: 'table', class: 'table', 'aria-label': 'Changes', 'aria-rowcount': plan.changes.length + 1 },
    element('div', { role: 'rowgroup', class: 'table-head' }, headRow()),
    rows,
  );
  const said = element('p', { role: 'status', class: 'said' });
  const pagers = [pager('above'), pager('below')];
  const all = button('', toggleAll, { class: 'small' });
  const bar = filterBar(plan, refilter);

  function refilter(filter: Filter): void {
    found = find(filter);
    page = 0;
    draw();
  }

  function draw(isWhole = false): void {
    const first = isWhole ? 0 : page * rowsPerPage;
    const shown = isWhole ? found : found.slice(first, first + rowsPerPage);
    replace(
      rows,
      shown.map((index, at) =>
        changeRow(plan, index, {
          row: first + at + 2,
          isOpen: open.has(index),
          onToggle: (isOpen) => {
            if (isOpen) open.add(index);
            else open.delete(index);
            tell();
          },
          neighbours: () => ({ ...neighboursOf(index), addressOf: nameOf, show }),
        }),
      ),
    );
    for (const { draw: drawPager } of pagers) drawPager();
    tell();
  }

  function tell(): void {
    const of = plan.changes.length;
    const count = found.length === of ? grouped(of) : `${grouped(found.length)} of ${grouped(of)}`;
    said.textContent =
      found.length === 0 ? 'No change passes these filters' : `${count} ${of === 1 ? 'change' : 'changes'}`;
    all.hidden = found.length === 0;
    all.textContent = found.every((index) => open.has(index)) ? 'Close all' : 'Open all';
  }

  function toggleAll(): void {
    const isAllOpen = found.every((index) => open.has(index));
    for (const index of found) {
      if (isAllOpen) open.delete(index);
      else open.add(index);
    }
    draw();
  }

  /** @param where it stands, as seen from the table */
  function pager(where: string) {
    const back = button('Previous', () => turn(-1), { class: 'small' });
    const range = element('span');
    const next = button('Next', () => turn(1), { class: 'small' });
    const nav = element(
      'nav',
      { class: 'pager', 'aria-label': `Pages of changes, ${where} them` },
      back,
      range,
      next,
    );
    const drawPager = () => {
      const first = page * rowsPerPage;
      const last = Math.min(found.length, first + rowsPerPage);
      nav.hidden = found.length <= rowsPerPage;
      back.disabled = page === 0;
      next.disabled = last === found.length;
      range.textContent = `${grouped(first + 1)}–${grouped(last)} of ${grouped(found.length)}`;
    };
    return { nav, draw: drawPager };
  }

  function turn(by: number): void {
    page += by;
    draw();
    table.scrollIntoView({ block: 'start' });
    rows.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
  }

  function nameOf(index: number): string {
    const change = plan.changes[index];
    return change === undefined ? '' : addressOf(change);
  }

  function show(index: number): void {
    if (!found.includes(index)) {
      bar.show(everything);
      found = find(everything);
    }
    open.add(index);
    page = Math.floor(found.indexOf(index) / rowsPerPage);
    draw();
    const row = rows.querySelector<HTMLElement>(`[data-change="${index}"]`);
    row?.scrollIntoView({ block: 'start' });
    row?.querySelector('button')?.focus({ preventScroll: true });
  }

  function filter(part: Partial<Filter>): void {
    const wanted = { ...everything, ...part };
    bar.show(wanted);
    refilter(wanted);
    made.scrollIntoView({ block: 'start' });
    rows.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
  }

  onPrint(
    () => draw(true),
    () => draw(),
  );
  const made = section(
    'Changes',
    ...(plan.changes.length === 0
      ? [element('p', {}, plan.next)]
      : [
          bar.element,
          element('div', { class: 'table-tools' }, said, all, pagers[0]?.nav),
          table,
          pagers[1]?.nav,
        ]),
  );
  draw();
  return { section: made, show, filter };
}

function headRow(): HTMLElement {
  const names = ['Action', 'Resource', 'What', 'Where'];
  const head = (name: string) => element('div', { role: 'columnheader' }, name);
  return element('div', { role: 'row', class: 'row', 'aria-rowindex': 1 }, names.map(head));
}

/** Which changes wait for which, by position. */
function neighbours({ waits }: PlanView) {
  const earlier = new Map<number, number[]>();
  const later = new Map<number, number[]>();
  const add = (to: Map<number, number[]>, key: number, value: number) => {
    const list = to.get(key);
    if (list === undefined) to.set(key, [value]);
    else list.push(value);
  };
  for (let at = 0; at + 1 < waits.length; at += 2) {
    const [cause = 0, waiting = 0] = [waits[at], waits[at + 1]];
    add(earlier, waiting, cause);
    add(later, cause, waiting);
  }
  return (index: number) => ({ earlier: earlier.get(index) ?? [], later: later.get(index) ?? [] });
}
