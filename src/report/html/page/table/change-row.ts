/** A row of the table: what is done to one resource, and its details when they are open. */
import type { ChangeView, PlanView } from '../../report-view.ts';
import { changeDetails, inlineDifference, type Neighbours } from './change-details.ts';
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
    row.classList.toggle('open', isOpen);
    opener.setAttribute('aria-expanded', String(isOpen));
    state.onToggle(isOpen);
  }
  const row = element(
    'div',
    {
      role: 'row',
      class: state.isOpen ? 'row open' : 'row',
      'aria-rowindex': state.row,
      'data-change': index,
    },
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
  return row;
}

const maxFields = 4;

/** The fields that change, with their values while the details are closed. Of what is created or goes as a whole, the reason says more. */
function whatChanges({ action, fields, reason, risks = [] }: ChangeView): Child {
  const badges = [
    ['destroys', 'schedules a destroy'],
    ['widens', 'widens access'],
  ].flatMap(([wanted, text = '']) =>
    risks.some(({ effect }) => effect === wanted)
      ? [element('strong', { class: 'badge warning' }, text), ' ']
      : [],
  );
  if ((action !== 'update' && action !== 'adopt') || fields.length === 0)
    return [...badges, ...sentence(reason)];
  const shown = fields.slice(0, maxFields);
  const names = shown.flatMap(({ name }, at) => [...(at === 0 ? [] : [', ']), code(name)]);
  const left = fields.length - maxFields;
  const more = left > 0 ? ` and ${left} more` : undefined;
  const values = shown.map(({ name, lines }) =>
    element('div', {}, code(name), ' ', inlineDifference(lines) ?? '…'),
  );
  return [
    ...badges,
    element('div', { class: 'values' }, values, more),
    element('span', { class: 'field-names' }, names, more),
  ];
}
