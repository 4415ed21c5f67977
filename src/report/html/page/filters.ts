/** Filters of the changes by action, kind, target and text, and their controls above the table. */
import type { ActionView, ChangeView, PlanView } from '../report-view.ts';
import { button, element, grouped } from './elements.ts';

export interface Filter {
  /** empty for all of them */
  readonly actions: ReadonlySet<string>;
  readonly kind: string;
  readonly target: string;
  readonly words: string;
}

export const everything: Filter = { actions: new Set(), kind: '', target: '', words: '' };

function isEverything({ actions, kind, target, words }: Filter): boolean {
  return actions.size === 0 && kind === '' && target === '' && words.trim() === '';
}

/** Finds the positions of the changes that match. Texts are built on the first search. */
export function makeFinder({ changes }: PlanView): (filter: Filter) => number[] {
  let texts: readonly string[] | undefined;
  return ({ actions, kind, target, words }) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length > 0) texts ??= changes.map(textOf);
    return changes.flatMap((change, index) => {
      const passes =
        (actions.size === 0 || actions.has(change.action)) &&
        (kind === '' || change.kind === kind) &&
        (target === '' || change.target === target) &&
        wanted.every((word) => texts?.[index]?.includes(word));
      return passes ? [index] : [];
    });
  };
}

/** All text of a change except the bodies of requests. */
function textOf(change: ChangeView): string {
  const { action, reason, place, id, fields, risks = [], notes = [], calls = [], lastModified = [] } = change;
  return [
    action,
    addressOf(change),
    reason,
    place,
    id,
    ...fields.flatMap(({ name, lines, remarks }) => [name, ...lines, remarks]),
    ...risks.flatMap(({ effect, text }) => [effect, text]),
    ...notes,
    ...lastModified,
    ...calls.map(({ method, path }) => `${method} ${path}`),
  ]
    .join('\n')
    .toLowerCase();
}

/** The name of the colour of an action. */
export function toneOf({ action, tone }: ActionView): string {
  return tone ?? action;
}

export function addressOf({ kind, target, name }: ChangeView): string {
  return `${kind}/${target}/${name}`;
}

/** Each value with the number of changes that have it, most frequent first. */
function countBy(
  { changes }: PlanView,
  memberOf: (change: ChangeView) => string,
): readonly (readonly [value: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const change of changes) counts.set(memberOf(change), (counts.get(memberOf(change)) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}

// The controls above the table of changes.

interface FilterBar {
  readonly element: HTMLElement;
  /** shows a filter that something else has set */
  show(filter: Filter): void;
}

/** @param onChange called with each filter that the user chooses */
export function filterBar(plan: PlanView, onChange: (filter: Filter) => void): FilterBar {
  let filter = everything;
  const choose = (change: Partial<Filter>) => {
    show({ ...filter, ...change });
    onChange(filter);
  };
  const words = element('input', {
    type: 'search',
    id: 'filter-words',
    placeholder: 'Name, field, value, reason',
  });
  words.addEventListener('input', () => choose({ words: words.value }));
  const kind = picker(
    'kind',
    'kinds',
    countBy(plan, (change) => change.kind),
    (value) => choose({ kind: value }),
  );
  const target = picker(
    'target',
    'targets',
    countBy(plan, (change) => change.target),
    (value) => choose({ target: value }),
  );
  const chips = plan.counts
    .filter(({ count }) => count > 0)
    .map((one) => {
      const { action, symbol, count } = one;
      const toggle = () => {
        const actions = new Set(filter.actions);
        if (!actions.delete(action)) actions.add(action);
        choose({ actions });
      };
      return {
        action,
        button: button(`${symbol} ${action} ${grouped(count)}`, toggle, { class: `chip ${toneOf(one)}` }),
      };
    });
  const clear = button('Clear filters', () => choose(everything), { class: 'small' });
  const show = (now: Filter) => {
    filter = now;
    if (words.value !== now.words) words.value = now.words;
    kind.value = now.kind;
    target.value = now.target;
    for (const chip of chips) chip.button.setAttribute('aria-pressed', String(now.actions.has(chip.action)));
    clear.disabled = isEverything(now);
  };
  show(everything);
  const bar = element(
    'div',
    { class: 'filters', role: 'search', 'aria-label': 'Filter the changes' },
    labelled('Text', words, 'words'),
    labelled('Kind', kind, 'pick'),
    labelled('Target', target, 'pick'),
    element(
      'div',
      { class: 'chips', role: 'group', 'aria-label': 'Actions' },
      chips.map((chip) => chip.button),
      clear,
    ),
  );
  return { element: bar, show };
}

function picker(
  name: string,
  all: string,
  values: readonly (readonly [value: string, count: number])[],
  onPick: (value: string) => void,
): HTMLSelectElement {
  const made = element(
    'select',
    { id: `filter-${name}` },
    element('option', { value: '' }, `All ${all}`),
    values.map(([value, count]) => element('option', { value }, `${value} (${grouped(count)})`)),
  );
  made.addEventListener('change', () => onPick(made.value));
  return made;
}

function labelled(text: string, control: HTMLElement, kind: string): HTMLElement {
  return element('div', { class: `control ${kind}` }, element('label', { for: control.id }, text), control);
}
