/** A row of the table: what is done to one resource, and its details when they are open. */
import type { ChangeView, PlanView } from '../../report-view.ts';
import { changeDetails, type Neighbours } from './change-details.ts';
import { button, type Child, code, element, sentence } from '../elements.ts';

interface RowState {
  /** counted with the head, from 1 */
  readonly row: number;
  readonly isOpen: boolean;
  onToggle(isOpen: boolean): void;
  neighbours(): Neighbours;
}

export function changeRow(plan: PlanView, index: number, state: RowState): HTMLElement {
  const change = plan.changes[index];
  if (change === undefined) return element('div');
  const { action, kind, target, name, place } = change;
  const symbol = plan.counts.find((count) => count.action === action)?.symbol ?? '';
  const details = element('div', {
    role: 'cell',
    class: 'cell-details',
    id: `change-${index}`,
    hidden: !state.isOpen,
  });
  const fill = () => {
    if (details.childElementCount === 0) details.append(changeDetails(change, state.neighbours()));
  };
  if (state.isOpen) fill();
  const opener = button(name || '(empty)', toggle, {
    class: 'opener',
    'aria-expanded': String(state.isOpen),
    'aria-controls': details.id,
  });
  function toggle(): void {
    const isOpen = details.hidden === true;
    if (isOpen) fill();
    details.hidden = !isOpen;
    opener.setAttribute('aria-expanded', String(isOpen));
    state.onToggle(isOpen);
  }
  return element(
    'div',
    { role: 'row', class: 'row', 'aria-rowindex': state.row, 'data-change': index },
    element(
      'div',
      { role: 'cell', class: 'cell-action' },
      element('span', { class: `action ${action}` }, `${symbol} ${action}`),
    ),
    element(
      'div',
      { role: 'cell', class: 'cell-resource' },
      opener,
      element('span', { class: 'muted' }, element('bdi', {}, kind), ' · ', element('bdi', {}, target)),
    ),
    element('div', { role: 'cell', class: 'cell-what' }, whatChanges(change)),
    element('div', { role: 'cell', class: 'cell-where' }, place === undefined ? '' : code(place)),
    details,
  );
}

const maxFieldNames = 4;

/** The fields that change. Of what is created or goes as a whole, all do, so that the reason says more. */
function whatChanges({ action, fields, reason, risks = [] }: ChangeView): Child {
  const widens = risks.some(({ effect }) => effect === 'widens')
    ? [element('strong', { class: 'badge warning' }, 'widens access'), ' ']
    : [];
  const names = [...new Set(fields.map(({ name }) => name))];
  if ((action !== 'update' && action !== 'adopt') || names.length === 0)
    return [...widens, ...sentence(reason)];
  const shown = names
    .slice(0, maxFieldNames)
    .flatMap((name, at) => (at === 0 ? [code(name)] : [', ', code(name)]));
  const left = names.length - maxFieldNames;
  return [...widens, ...shown, ...(left > 0 ? [` and ${left} more`] : [])];
}
