/**
 * The script of a report: reads the data in the page and draws it, from the head to risks, problems and coverage. It requests
 * nothing from a network.
 */
import type {
  GuardView,
  PlanView,
  ProblemView,
  ReportView,
  RiskItem,
  RiskList,
  Statement,
} from '../report-view.ts';
import { type Changes, changesSection } from './changes-section.ts';
import {
  button,
  type Child,
  code,
  copyButton,
  element,
  grouped,
  growingList,
  section,
  sentence,
  titleOf,
} from './elements.ts';
import { type Filter, toneOf } from './filters.ts';
import { graphSection } from './graph-section.ts';

function draw(view: ReportView): void {
  const { plan } = view;
  document.title = [view.title, view.name].filter(Boolean).join(' ');
  const changes = plan === undefined ? undefined : changesSection(plan);
  const sections = [
    ...(plan === undefined || changes === undefined ? [] : [risksSection(plan, changes)]),
    problemsSection(view.problems),
    changes?.section,
    ...(plan === undefined || changes === undefined ? [] : [graphSection(plan, changes)]),
    ...(plan === undefined ? [] : [noticesSection(plan), coverageSection(plan)]),
  ].filter((section) => section !== undefined);
  const main = element('main', { id: 'report-body', tabindex: -1 }, sections);
  document.body.append(
    element('a', { class: 'skip', href: '#report-body' }, 'Skip to the report'),
    pageHead(view, sections),
    main,
  );
}

const data = document.getElementById('report')?.textContent ?? '';
draw(JSON.parse(data) as ReportView);

// The head of the page: what the report is about, the next steps, and links to the sections.

function pageHead(view: ReportView, sections: readonly HTMLElement[]): HTMLElement {
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
      plan === undefined ? undefined : [...incomplete(plan), nextSteps(plan)],
      parts.length < 2
        ? undefined
        : element('nav', { 'aria-label': 'Parts of the report' }, element('ul', {}, parts)),
    ),
  );
}

/** When the report was made, from which commit, for which pull request and targets. */
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

function tiles({ counts, unchanged, words }: PlanView): HTMLElement {
  const planned = counts
    .filter(({ count }) => count > 0)
    .map((one) => tile(grouped(one.count), `${one.symbol} ${one.action}`, toneOf(one)));
  return element(
    'ul',
    { class: 'tiles' },
    planned,
    tile(grouped(unchanged), `= ${words?.unchanged ?? 'unchanged'}`, 'none'),
  );
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

/** Why the read was incomplete, and what services lack. */
function incomplete({ reasons, limits, words }: PlanView): HTMLElement[] {
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
              element('strong', {}, 'The read was incomplete'),
              `, ${words?.incomplete ?? 'so nothing undeclared is removed'}:`,
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

function nextSteps({ next, digest }: PlanView): HTMLElement {
  return element(
    'div',
    { class: 'next-steps' },
    element('h2', {}, 'Next steps'),
    element('p', {}, sentence(next)),
    digest === undefined
      ? undefined
      : element('p', { class: 'digest' }, 'digest ', code(digest), ' ', copyButton(digest, 'digest')),
  );
}

// Problems and warnings: each with its place, fix, and the line of the file.

function problemsSection(problems: readonly ProblemView[]): HTMLElement | undefined {
  if (problems.length === 0) return undefined;
  return section('Problems', element('div', { class: 'problems' }, growingList(problems, problemItem)));
}

function problemItem({ severity, code: id, message, spot, members, excerpt }: ProblemView) {
  const tone = severity === 'error' ? 'danger' : 'warning';
  return element(
    'div',
    { class: `problem ${tone}` },
    element(
      'p',
      {},
      element('strong', { class: 'badge' }, severity),
      ' ',
      code(id),
      ' ',
      spot === undefined ? undefined : code(spot, { class: 'muted' }),
    ),
    element('p', {}, sentence(message)),
    members.map(([label, text]) =>
      element('p', { class: 'member' }, element('span', { class: 'muted' }, `${label}: `), sentence(text)),
    ),
    excerpt === undefined ? undefined : element('pre', { tabindex: 0 }, excerpt.join('\n')),
  );
}

// Guards and how to acknowledge them, removals, and who gains or loses access.

type Leads = Pick<Changes, 'show' | 'filter'>;

/** @param changes the table, to which names link */
function risksSection(plan: PlanView, changes: Leads): HTMLElement | undefined {
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
        { class: guard.effect === 'warns' ? 'warning' : 'danger' },
        element('strong', { class: 'badge' }, guard.effect),
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
    element('p', {}, 'To acknowledge the blocking guards, for this plan only:'),
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

// What was left alone, and what the plan has read.

function noticesSection({ notices, words }: PlanView): HTMLElement | undefined {
  if (notices.length === 0) return undefined;
  return section(
    words?.notices ?? 'Not changed',
    growingList(notices, ({ name, text }) => [
      code(name),
      element('span', { class: 'text' }, sentence(text)),
    ]),
  );
}

function coverageSection({ coverage }: PlanView): HTMLElement {
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
