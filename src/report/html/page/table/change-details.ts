/** What is folded below a change: why, each field, what it means, which changes it waits for, and its requests. */
import { printableJson } from '../../../format/printable.ts';
import type { CallView, ChangeView, FieldLines } from '../../report-view.ts';
import { button, type Child, code, element, sentence } from '../elements.ts';

export interface Neighbours {
  readonly earlier: readonly number[];
  readonly later: readonly number[];
  addressOf(change: number): string;
  show(change: number): void;
}

export function changeDetails(change: ChangeView, neighbours: Neighbours): HTMLElement {
  const { reason, id, place, fields, risks = [], notes = [], touched = [], calls = [], sharedCall } = change;
  const facts: Child[] = [
    fact('why', sentence(reason)),
    id === undefined ? undefined : fact('id', code(id)),
    place === undefined ? undefined : fact('where', code(place)),
    risks.map(({ effect, text }) => fact(effect, sentence(text), effect === 'narrows' ? '' : 'warning')),
    notes.map((text) => fact('note', sentence(text))),
    touched.length === 0
      ? undefined
      : fact(
          'touched',
          touched.map((line) => element('div', {}, line)),
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

function fieldRow({ name, lines, remarks }: FieldLines, { action }: ChangeView): Child {
  return [
    element('dt', {}, code(name)),
    element(
      'dd',
      {},
      difference(lines, action === 'create' || action === 'delete'),
      remarks === undefined ? undefined : element('span', { class: 'muted' }, ` (${remarks})`),
    ),
  ];
}

const maxInline = 60;

/** @param isWhole all values come, or all go, so that one alone needs no mark */
function difference(lines: readonly string[], isWhole: boolean): Child {
  const [one = ''] = lines;
  if (isWhole && lines.length === 1) return code(one.slice(2), { class: 'value' });
  return inlineDifference(lines) ?? element('div', { class: 'diff' }, lines.map(diffLine));
}

/** `before → after` on one line; undefined where it takes more. */
export function inlineDifference(lines: readonly string[]): Child {
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
