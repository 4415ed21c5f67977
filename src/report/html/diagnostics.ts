/** Problems as one HTML page, for a command that has no plan to show, and as a part of other pages. */
import { hasErrors, type ShownDiagnostic } from '../../model/diagnostic.ts';
import { errorsFirst, excerptOf, formatSpot, severityCounts } from '../text/diagnostics.ts';
import { printable } from '../view/printable.ts';
import { htmlDocument } from './document.ts';
import type { ProblemView } from './report-view.ts';

/** @param emptyText the summary when there are none */
export function renderDiagnosticsHtml(diagnostics: readonly ShownDiagnostic[], emptyText: string): string {
  return htmlDocument({
    title: hasErrors(diagnostics) ? 'No plan could be made' : 'No plan',
    summary: severityCounts(diagnostics) || printable(emptyText),
    statements: [],
    problems: problemViews(diagnostics),
  });
}

// Problems for the page: errors first, each with its place, what to do, and the line of the file.

export function problemViews(diagnostics: readonly ShownDiagnostic[]): ProblemView[] {
  return errorsFirst(diagnostics).map(problemView);
}

function problemView({ severity, code, message, place, found, allowed, fix, related = [] }: ShownDiagnostic) {
  const named = [
    ['found', found],
    ['allowed', allowed],
    ['fix', fix],
    ...related.map((other) => [
      'see',
      other.place === undefined ? other.message : `${other.message}, ${formatSpot(other.place)}`,
    ]),
  ] as const;
  const shown = excerptOf(place);
  return {
    severity,
    code: printable(code),
    message: printable(message),
    ...(place === undefined ? {} : { spot: formatSpot(place) }),
    members: named.flatMap(([label = '', text = '']) =>
      text.trim() === '' ? [] : [[label, printable(text)] as const],
    ),
    ...(shown === undefined ? {} : { excerpt: [shown.text, shown.underline] }),
  };
}
