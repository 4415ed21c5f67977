/** Problems as one HTML page, for a command that has no plan to show. */
import { counted } from '../../model/counted.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { printable } from '../format/printable.ts';
import { countDiagnostics } from '../terminal/diagnostics-text.ts';
import { htmlDocument } from './document.ts';
import { problemViews } from './problem-view.ts';

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
