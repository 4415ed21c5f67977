/** The head of the page: what the report is about in a few lines, how to go on, and where the parts are. */
import type { PlanView, ReportView, Statement } from '../report-view.ts';
import { copyButton } from './copy-button.ts';
import { type Child, code, element, grouped, sentence } from './elements.ts';
import { titleOf } from './section.ts';

export function pageHead(view: ReportView, sections: readonly HTMLElement[]): HTMLElement {
  const { title, name, plan } = view;
  const parts = sections.map((part) =>
    element('li', {}, element('a', { href: `#${part.id}` }, titleOf(part))),
  );
  return element(
    'header',
    { class: 'head' },
    element(
      'div',
      { class: 'head-inner' },
      element(
        'h1',
        {},
        `${title}${name === undefined ? '' : ' '}`,
        name === undefined ? undefined : code(name),
      ),
      facts(view),
      plan !== undefined && plan.changes.length > 0
        ? tiles(plan)
        : element('p', { class: 'summary' }, sentence(view.summary)),
      view.statements.map(banner),
      plan === undefined ? undefined : [...incomplete(plan), goingOn(plan)],
      parts.length < 2
        ? undefined
        : element('nav', { 'aria-label': 'Parts of the report' }, element('ul', {}, parts)),
    ),
  );
}

/** When it was made, from which commit, for which pull request and targets. */
function facts({ facts: all = [] }: ReportView): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const labels = [...new Set(all.map(({ label }) => label))];
  return element(
    'dl',
    { class: 'about' },
    labels.map((label) => [
      element('dt', {}, label),
      all
        .filter((fact) => fact.label === label)
        .map(({ text, href }) =>
          element(
            'dd',
            {},
            href === undefined ? element('bdi', {}, text) : element('a', { href, rel: 'noreferrer' }, text),
          ),
        ),
    ]),
  );
}

function tiles({ counts, unchanged }: PlanView): HTMLElement {
  const planned = counts
    .filter(({ count }) => count > 0)
    .map(({ action, symbol, count }) => tile(grouped(count), `${symbol} ${action}`, action));
  return element('ul', { class: 'tiles' }, planned, tile(grouped(unchanged), '= unchanged', 'none'));
}

function tile(count: string, label: string, action: string): HTMLElement {
  return element(
    'li',
    { class: `tile ${action}` },
    element('strong', {}, count),
    ' ',
    element('span', {}, label),
  );
}

function banner({ tone, text }: Statement): HTMLElement {
  return element('p', { class: `banner ${tone}` }, sentence(text));
}

/** Why the look was incomplete, and what services lack. */
function incomplete({ reasons, limits }: PlanView): HTMLElement[] {
  const list = (items: readonly Child[]) =>
    element(
      'ul',
      {},
      items.map((item) => element('li', {}, item)),
    );
  return [
    ...(reasons.length === 0
      ? []
      : [
          element(
            'div',
            { class: 'banner warning' },
            element(
              'p',
              {},
              element('strong', {}, 'The look was incomplete'),
              ', so nothing undeclared is removed:',
            ),
            list(reasons.map(sentence)),
          ),
        ]),
    ...(limits.length === 0
      ? []
      : [
          element(
            'div',
            { class: 'banner plain' },
            list(limits.map(({ name, text }) => [code(name), ' lacks: ', ...sentence(text)])),
          ),
        ]),
  ];
}

function goingOn({ next, digest }: PlanView): HTMLElement {
  return element(
    'div',
    { class: 'going-on' },
    element('h2', {}, 'How to go on'),
    element('p', {}, sentence(next)),
    element('p', { class: 'digest' }, 'digest ', code(digest), ' ', copyButton(digest, 'digest')),
  );
}
