/** The way from one page of rows to the next, above and below the table. */
import { button, element, grouped } from '../elements.ts';

/** More rows make browsers slow, and nobody reads them at once. */
export const rowsPerPage = 100;

interface Pager {
  readonly nav: HTMLElement;
  /** @param count of all rows */
  draw(page: number, count: number): void;
}

/** @param where it stands, as seen from the table */
export function makePager(where: string, onTurn: (by: number) => void): Pager {
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
