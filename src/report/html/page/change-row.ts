/**
 * A row of the table: the change of one resource. Its details are collapsed: the reason, fields, risks, notes, dependencies
 * and requests.
 */
import { printableJson } from '../../view/printable.ts';
import type { CallView, ChangeView, FieldLines, PlanView } from '../report-view.ts';
import { toneOf } from './filters.ts';
import { button, type Child, code, element, sentence } from './elements.ts';

interface RowState {
  /** from 1, the head of the table included */
  readonly row: number;
  readonly isOpen: boolean;
  onToggle(isOpen: boolean): void;
  neighbours(): Neighbours;
}

export function changeRow(plan: PlanView, index: number, state: RowState): HTMLElement {
  const change = plan.changes[index];
  if (change === undefined) return element('div');
  const { action, kind, target, name, place, lastModified } = change;
  // In a plan, only the details show who modified the resource.
  const beside = plan.words && lastModified?.[0];
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
      element('span', { class: `action ${toneOf(change)}` }, `${symbol} ${action}`),
    ),
    element(
      'div',
      { role: 'cell', class: 'cell-resource' },
      opener,
      element('span', { class: 'muted' }, element('bdi', {}, kind), ' · ', element('bdi', {}, target)),
    ),
    element('div', { role: 'cell', class: 'cell-what' }, whatChanges(change)),
    element('div', { role: 'cell', class: 'cell-where' }, beside ?? (place === undefined ? '' : code(place))),
    details,
  );
  return row;
}

const maxFields = 4;

/** The changed fields, with their values while the details are closed. For creates and removals, the reason. */
function whatChanges(change: ChangeView): Child {
  const { fields, reason, risks = [] } = change;
  const badges = [
    ['destroys', 'schedules a destroy'],
    ['widens', 'widens access'],
  ].flatMap(([wanted, text = '']) =>
    risks.some(({ effect }) => effect === wanted)
      ? [element('strong', { class: 'badge warning' }, text), ' ']
      : [],
  );
  if (!['update', 'adopt', 'none'].includes(toneOf(change)) || fields.length === 0)
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

// The details of a change.

interface Neighbours {
  readonly earlier: readonly number[];
  readonly later: readonly number[];
  addressOf(change: number): string;
  show(change: number): void;
}

function changeDetails(change: ChangeView, neighbours: Neighbours): HTMLElement {
  const {
    reason,
    id,
    place,
    fields,
    risks = [],
    notes = [],
    lastModified = [],
    calls = [],
    sharedCall,
  } = change;
  const facts: Child[] = [
    fact('why', sentence(reason)),
    id === undefined ? undefined : fact('id', code(id)),
    place === undefined ? undefined : fact('where', code(place)),
    risks.map(({ effect, text }) => fact(effect, sentence(text), effect === 'narrows' ? '' : 'warning')),
    notes.map((text) => fact('note', sentence(text))),
    lastModified.length === 0
      ? undefined
      : fact(
          'audit trail',
          lastModified.map((line) => element('div', {}, line)),
        ),
    waiting('waits for', neighbours.earlier, neighbours),
    waiting('comes before', neighbours.later, neighbours),
    sharedCall === undefined ? undefined : fact('carried out by', code(sharedCall)),
  ];
  return element(
    'div',
    { class: 'details' },
    element('dl', { class: 'facts' }, facts),
    fields.length === 0
      ? undefined
      : element(
          'dl',
          { class: 'fields' },
          fields.map((field) => fieldRow(field, change)),
        ),
    calls.length === 0 ? undefined : requests(calls),
  );
}

function fact(label: string, value: Child, tone = ''): Child {
  return [element('dt', { class: tone }, label), element('dd', {}, value)];
}

const maxNeighbours = 20;

function waiting(label: string, changes: readonly number[], { addressOf, show }: Neighbours): Child {
  if (changes.length === 0) return undefined;
  const left = changes.length - maxNeighbours;
  return fact(label, [
    ...changes.slice(0, maxNeighbours).map((change) =>
      element(
        'div',
        {},
        button(addressOf(change), () => show(change), { class: 'link code' }),
      ),
    ),
    ...(left > 0 ? [`and ${left} more`] : []),
  ]);
}

function fieldRow({ name, lines, remarks }: FieldLines, change: ChangeView): Child {
  const tone = toneOf(change);
  return [
    element('dt', {}, code(name)),
    element(
      'dd',
      {},
      difference(lines, tone === 'create' || tone === 'delete'),
      remarks === undefined ? undefined : element('span', { class: 'muted' }, ` (${remarks})`),
    ),
  ];
}

const maxInline = 60;

/** @param isWhole the resource is created or deleted, so that a single value needs no mark */
function difference(lines: readonly string[], isWhole: boolean): Child {
  const [one = ''] = lines;
  if (isWhole && lines.length === 1) return code(one.slice(2), { class: 'value' });
  return inlineDifference(lines) ?? element('div', { class: 'diff' }, lines.map(diffLine));
}

/** `before → after` on one line; undefined if it does not fit. */
function inlineDifference(lines: readonly string[]): Child {
  const [one = '', other = ''] = lines;
  const isPair = lines.length === 2 && one.startsWith('- ') && other.startsWith('+ ');
  if (!isPair || one.length > maxInline || other.length > maxInline) return undefined;
  return [
    element('del', {}, code(one.slice(2))),
    element('span', { class: 'arrow' }, ' → '),
    element('ins', {}, code(other.slice(2))),
  ];
}

function diffLine(line: string): HTMLElement {
  const mark = line[0] ?? ' ';
  const name = mark === '+' ? 'ins' : mark === '-' ? 'del' : 'span';
  return element(name, { class: 'line' }, element('span', { class: 'mark' }, mark), code(line.slice(2)));
}

function requests(calls: readonly CallView[]): HTMLElement {
  const count = calls.length === 1 ? '1 request' : `${calls.length} requests`;
  return element('details', { class: 'calls' }, element('summary', {}, count), calls.map(request));
}

function request({ method, path, body, terms }: CallView): HTMLElement {
  return element(
    'div',
    { class: 'call' },
    element('p', {}, element('strong', { class: 'method' }, method), ' ', code(path)),
    element('p', { class: 'muted' }, terms),
    body === undefined
      ? undefined
      : element(
          'pre',
          { tabindex: 0, 'aria-label': `Body of ${method} ${path}`, role: 'region' },
          printableJson(JSON.stringify(body, null, 2)),
        ),
  );
}
