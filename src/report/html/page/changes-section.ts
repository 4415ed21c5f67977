/** The table of changes: filtered, a page of rows at a time, each with its details collapsed. In print, all rows are on one page. */
import type { PlanView } from '../report-view.ts';
import { changeRow } from './change-row.ts';
import { button, element, grouped, onPrint, replace, section } from './elements.ts';
import { addressOf, everything, type Filter, filterBar, makeFinder } from './filters.ts';

/** With fewer changes, all of them are open at first. */
const fewChanges = 30;

export interface Changes {
  readonly section: HTMLElement;
  /** opens a change in the table and scrolls to it */
  show(change: number): void;
  /** sets the filter and scrolls to the table */
  filter(filter: Partial<Filter>): void;
}

export function changesSection(plan: PlanView): Changes {
  return new ChangesTable(plan);
}

class ChangesTable implements Changes {
  readonly section: HTMLElement;
  readonly #plan: PlanView;
  readonly #find: (filter: Filter) => number[];
  readonly #neighboursOf: ReturnType<typeof findNeighbours>;
  readonly #rows = element('div', { role: 'rowgroup', class: 'rows' });
  readonly #table: HTMLElement;
  readonly #status = element('p', { role: 'status', class: 'status' });
  readonly #all = button('', () => this.#toggleAll(), { class: 'small' });
  readonly #above = makePager('above', (by) => this.#turn(by));
  readonly #below = makePager('below', (by) => this.#turn(by));
  readonly #bar: ReturnType<typeof filterBar>;
  /** positions of changes whose details are open */
  #open = new Set<number>();
  /** positions of the changes that match the filters */
  #found: readonly number[];
  #page = 0;

  constructor(plan: PlanView) {
    this.#plan = plan;
    this.#find = makeFinder(plan);
    this.#neighboursOf = findNeighbours(plan);
    this.#found = this.#find(everything);
    if (plan.changes.length < fewChanges) this.#open = new Set(plan.changes.keys());
    this.#bar = filterBar(plan, (filter) => this.#refilter(filter));
    this.#table = element(
      'div',
      { role: 'table', class: 'table', 'aria-label': 'Changes', 'aria-rowcount': plan.changes.length + 1 },
      element('div', { role: 'rowgroup', class: 'table-head' }, headRow(plan)),
      this.#rows,
    );
    const tools = element('div', { class: 'table-tools' }, this.#status, this.#all, this.#above.nav);
    const shown = [this.#bar.element, tools, this.#table, this.#below.nav];
    const title = plan.words?.changes ?? 'Changes';
    this.section = section(title, plan.changes.length === 0 ? element('p', {}, plan.next) : shown);
    onPrint(
      () => this.#draw(0, this.#found.length, true),
      () => this.#drawPage(),
    );
    this.#drawPage();
  }

  show(index: number): void {
    if (!this.#found.includes(index)) {
      this.#bar.show(everything);
      this.#found = this.#find(everything);
    }
    this.#open.add(index);
    this.#page = Math.floor(this.#found.indexOf(index) / rowsPerPage);
    this.#drawPage();
    const row = this.#rows.querySelector<HTMLElement>(`[data-change="${index}"]`);
    row?.scrollIntoView({ block: 'start' });
    row?.querySelector('button')?.focus({ preventScroll: true });
  }

  filter(part: Partial<Filter>): void {
    const wanted = { ...everything, ...part };
    this.#bar.show(wanted);
    this.#refilter(wanted);
    this.#goTo(this.section);
  }

  #refilter(filter: Filter): void {
    this.#found = this.#find(filter);
    this.#page = 0;
    this.#drawPage();
  }

  #turn(by: number): void {
    this.#page += by;
    this.#drawPage();
    this.#goTo(this.#table);
  }

  /** The focus moves to the first row: the element that had it may be gone. */
  #goTo(place: HTMLElement): void {
    place.scrollIntoView({ block: 'start' });
    this.#rows.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
  }

  #toggleAll(): void {
    const isAllOpen = this.#isAllOpen();
    for (const index of this.#found) this.#setOpen(index, !isAllOpen);
    this.#drawPage();
  }

  #isAllOpen(): boolean {
    return this.#found.every((index) => this.#open.has(index));
  }

  #setOpen(index: number, isOpen: boolean): void {
    if (isOpen) this.#open.add(index);
    else this.#open.delete(index);
  }

  #drawPage(): void {
    this.#draw(this.#page * rowsPerPage, rowsPerPage);
  }

  /** @param isPaper shows the details of each row, even if closed on the screen */
  #draw(first: number, count: number, isPaper = false): void {
    const shown = this.#found.slice(first, first + count);
    replace(
      this.#rows,
      shown.map((index, at) => this.#row(index, first + at, isPaper)),
    );
    for (const pager of [this.#above, this.#below]) pager.draw(this.#page, this.#found.length);
    this.#updateStatus();
  }

  #row(index: number, at: number, isPaper: boolean): HTMLElement {
    return changeRow(this.#plan, index, {
      row: at + 2,
      isOpen: isPaper || this.#open.has(index),
      onToggle: (isOpen) => {
        this.#setOpen(index, isOpen);
        this.#updateStatus();
      },
      neighbours: () => ({
        ...this.#neighboursOf(index),
        addressOf: (other) => this.#nameOf(other),
        show: (other) => this.show(other),
      }),
    });
  }

  #nameOf(index: number): string {
    const change = this.#plan.changes[index];
    return change === undefined ? '' : addressOf(change);
  }

  /** Shows the number of changes; screen readers announce it. */
  #updateStatus(): void {
    const [count, of] = [this.#found.length, this.#plan.changes.length];
    const numbers = count === of ? grouped(of) : `${grouped(count)} of ${grouped(of)}`;
    const text =
      count === 0 ? 'No change matches these filters' : `${numbers} ${of === 1 ? 'change' : 'changes'}`;
    if (this.#status.textContent !== text) this.#status.textContent = text;
    this.#all.hidden = count === 0;
    this.#all.textContent = this.#isAllOpen() ? 'Close all' : 'Open all';
  }
}

function headRow({ words }: PlanView): HTMLElement {
  const names = [words?.action ?? 'Action', 'Resource', 'What', words?.where ?? 'Where'];
  const head = (name: string) => element('div', { role: 'columnheader' }, name);
  return element('div', { role: 'row', class: 'row', 'aria-rowindex': 1 }, names.map(head));
}

// The controls between pages of rows, above and below the table.

/** More rows make browsers slow. */
const rowsPerPage = 100;

interface Pager {
  readonly nav: HTMLElement;
  /** @param count of all rows */
  draw(page: number, count: number): void;
}

/** @param where relative to the table */
function makePager(where: string, onTurn: (by: number) => void): Pager {
  const back = button('Previous', () => onTurn(-1), { class: 'small' });
  const range = element('span');
  const next = button('Next', () => onTurn(1), { class: 'small' });
  const label = `Pages of changes, ${where} them`;
  const nav = element('nav', { class: 'pager', 'aria-label': label }, back, range, next);
  return {
    nav,
    draw: (page, count) => {
      const first = page * rowsPerPage;
      const last = Math.min(count, first + rowsPerPage);
      nav.hidden = count <= rowsPerPage;
      back.disabled = page === 0;
      next.disabled = last === count;
      range.textContent = `${grouped(first + 1)}–${grouped(last)} of ${grouped(count)}`;
    },
  };
}

/** By position: the changes that a change depends on, and those that depend on it. */
function findNeighbours({ waits }: PlanView) {
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
