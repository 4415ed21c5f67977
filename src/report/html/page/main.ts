/** The script of a report: reads the data that stands in the page, and draws it. It asks no network for anything. */
import type { ReportView } from '../report-view.ts';
import { changesSection } from './table/changes-section.ts';
import { element } from './elements.ts';
import { graphSection } from './graph/graph-section.ts';
import { coverageSection, noticesSection } from './looked-at.ts';
import { pageHead } from './page-head.ts';
import { problemsSection } from './problems-section.ts';
import { risksSection } from './risks-section.ts';

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
