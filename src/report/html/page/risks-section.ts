/** Guards and how to let them pass, what goes, and who gains or loses access. */
import type { GuardView, PlanView, RiskItem, RiskList } from '../report-view.ts';
import { copyButton } from './copy-button.ts';
import type { Changes } from './table/changes-section.ts';
import type { Filter } from './table/filters.ts';
import { button, type Child, code, element, grouped, sentence } from './elements.ts';
import { growingList } from './growing-list.ts';
import { section } from './section.ts';

type Leads = Pick<Changes, 'show' | 'filter'>;

/** @param changes the table, to which names lead */
export function risksSection(plan: PlanView, changes: Leads): HTMLElement | undefined {
  const { guards, risks, acknowledge } = plan;
  if (guards.length === 0 && risks.length === 0) return undefined;
  return section(
    'Risks',
    guards.length === 0 ? undefined : element('ul', { class: 'guards' }, guards.map(guardItem)),
    acknowledge === undefined ? undefined : acknowledgement(acknowledge),
    element(
      'div',
      { class: 'risk-lists' },
      risks.map((list) => riskList(list, changes)),
    ),
  );
}

function guardItem({ blocks, guards, names }: GuardView): HTMLElement {
  return element(
    'li',
    { class: blocks ? 'guard danger' : 'guard warning' },
    guards.map((guard) => [
      element(
        'p',
        { class: guard.blocks ? 'danger' : 'warning' },
        element('strong', { class: 'badge' }, guard.blocks ? 'blocks' : 'warns'),
        ' ',
        code(guard.id),
      ),
      element('p', {}, sentence(guard.message)),
    ]),
    names.length === 0
      ? undefined
      : element(
          'details',
          {},
          element('summary', {}, 'which resources'),
          element(
            'ul',
            { class: 'names' },
            names.map((name) => element('li', {}, code(name))),
          ),
        ),
  );
}

function acknowledgement(command: string): HTMLElement {
  return element(
    'div',
    { class: 'command' },
    element('p', {}, 'To let the guards that block pass, for this very plan:'),
    element('div', { class: 'command-line' }, code(command), copyButton(command, 'command')),
  );
}

function riskList({ title, tone, items, filter }: RiskList, changes: Leads): HTMLElement {
  const showAll = filter && (() => changes.filter(asFilter(filter)));
  return element(
    'div',
    { class: `risk-list ${tone}` },
    element('h3', {}, `${title} `, element('span', { class: 'count' }, grouped(items.length))),
    growingList(items, (item) => riskItem(item, changes), showAll),
  );
}

function asFilter(filter: NonNullable<RiskList['filter']>): Partial<Filter> {
  return 'action' in filter ? { actions: new Set([filter.action]) } : filter;
}

function riskItem({ name, text, change, losses = [] }: RiskItem, changes: Leads): Child {
  const lead =
    change === undefined
      ? code(name)
      : button(name, () => changes.show(change), { class: 'link code', title: 'Show it in the table' });
  const lost =
    losses.length === 0
      ? undefined
      : element(
          'ul',
          { class: 'losses', 'aria-label': 'What is lost' },
          losses.map((loss) => element('li', {}, sentence(loss))),
        );
  return [lead, element('div', { class: 'text' }, sentence(text), lost)];
}
