/** What was left alone, and what the plan has looked at. */
import type { PlanView } from '../report-view.ts';
import { code, element, sentence } from './elements.ts';
import { growingList } from './growing-list.ts';
import { section } from './section.ts';

export function noticesSection({ mentions }: PlanView): HTMLElement | undefined {
  if (mentions.length === 0) return undefined;
  return section(
    'Left alone',
    growingList(mentions, ({ name, text }) => [
      code(name),
      element('span', { class: 'text' }, sentence(text)),
    ]),
  );
}

export function coverageSection({ coverage }: PlanView): HTMLElement {
  return section(
    'Checked',
    element(
      'dl',
      { class: 'coverage' },
      coverage.map(({ label, details, incomplete }) => [
        element('dt', {}, label),
        ...details.map((text) => element('dd', {}, sentence(text))),
        ...incomplete.map((text) =>
          element('dd', {}, element('strong', { class: 'badge warning' }, 'incomplete'), ' ', sentence(text)),
        ),
      ]),
    ),
  );
}
