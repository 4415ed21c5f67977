/** Problems in Markdown: errors first, each with its place, what to do, and the line of the file. */
import { counted } from '../../model/counted.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { countDiagnostics, formatSpot } from '../terminal/diagnostics-text.ts';
import { excerpt } from '../terminal/excerpt.ts';
import { code, codeBlock, sentence } from './escape.ts';
import { fitted, maxMarkdownBytes, type Section } from './fit.ts';

/** The whole document of a command that found these. @param said what is to be said without any */
export function renderDiagnosticsMarkdown(diagnostics: readonly ShownDiagnostic[], said: string): string {
  const { errors, warnings, files } = countDiagnostics(diagnostics);
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  const where = files === 0 ? '' : ` in ${counted(files, 'file')}`;
  const title = diagnostics.length === 0 ? `### ${sentence(said)}` : `### ${counts}${where}`;
  const body = fitted(diagnosticsSection(diagnostics), maxMarkdownBytes - 1_500);
  return [title, body].filter(Boolean).join('\n\n');
}

export function diagnosticsSection(diagnostics: readonly ShownDiagnostic[], heading?: string): Section {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const warnings = diagnostics.filter(({ severity }) => severity !== 'error');
  return {
    ...(heading === undefined ? {} : { heading }),
    blocks: [...errors, ...warnings].map(oneDiagnostic),
    between: '\n\n',
    left: (count) => `**and ${count} more problems**, which \`--format json\` has all`,
  };
}

function oneDiagnostic({
  severity,
  code: id,
  message,
  place,
  found,
  allowed,
  fix,
  related,
}: ShownDiagnostic) {
  const spot = place === undefined ? '' : ` ${code(formatSpot(place))}`;
  const lines = [
    ...member('found', found),
    ...member('allowed', allowed),
    ...member('fix', fix),
    ...(related ?? []).map((other) => {
      const at = other.place === undefined ? '' : `, ${code(formatSpot(other.place))}`;
      return `- see: ${sentence(other.message)}${at}`;
    }),
  ];
  const shown = place === undefined || place.text.trim() === '' ? undefined : excerpt(place);
  return [
    `**${severity}** ${code(id)}${spot}: ${sentence(message)}`,
    ...(lines.length === 0 ? [] : [lines.join('\n')]),
    ...(shown === undefined ? [] : [codeBlock([shown.text, shown.underline], 'text')]),
  ].join('\n\n');
}

function member(label: string, text: string | undefined): string[] {
  return text === undefined || text.trim() === '' ? [] : [`- ${label}: ${sentence(text)}`];
}
