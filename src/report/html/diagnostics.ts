/** Problems as one HTML page, for a command that has no plan to show, and as a part of other pages. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { counted } from '../../model/quoted.ts';
import { countDiagnostics, excerpt, formatSpot } from '../text/diagnostics.ts';
import { printable } from '../view/printable.ts';
import { htmlDocument } from './document.ts';
import type { ProblemView } from './report-view.ts';

/** @param said what is to be said without any */
export function renderDiagnosticsHtml(diagnostics: readonly ShownDiagnostic[], said: string): string {
  const { errors, warnings } = countDiagnostics(diagnostics);
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  return htmlDocument({
    title: errors > 0 ? 'No plan could be made' : 'No plan',
    summary: counts === '' ? printable(said) : counts,
    statements: [],
    problems: problemViews(diagnostics),
  });
}

// Problems for the page: errors first, each with its place, what to do, and the line of the file.

export function problemViews(diagnostics: readonly ShownDiagnostic[]): ProblemView[] {
  const isError = ({ severity }: ShownDiagnostic) => severity === 'error';
  return [...diagnostics.filter(isError), ...diagnostics.filter((diagnostic) => !isError(diagnostic))].map(
    problemView,
  );
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
  const shown = place === undefined || place.text.trim() === '' ? undefined : excerpt(place);
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
