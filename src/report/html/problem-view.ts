/** Problems for the page: errors first, each with its place, what to do, and the line of the file. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { formatSpot } from '../terminal/diagnostics-text.ts';
import { excerpt } from '../terminal/excerpt.ts';
import { printable } from '../format/printable.ts';
import type { ProblemView } from './report-view.ts';

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
