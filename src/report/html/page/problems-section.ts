/** What forbids applying, and warnings: each with its place, what to do, and the line of the file. */
import type { ProblemView } from '../report-view.ts';
import { code, element, sentence } from './elements.ts';
import { growingList } from './growing-list.ts';
import { section } from './section.ts';

export function problemsSection(problems: readonly ProblemView[]): HTMLElement | undefined {
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
