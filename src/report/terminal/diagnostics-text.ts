/** Diagnostics for a terminal: the message, an excerpt of the user's text, what is allowed, and a total. */
import { counted } from '../../model/counted.ts';
import type { ShownDiagnostic, Place } from '../../model/diagnostic.ts';
import { type Excerpt, excerpt } from './excerpt.ts';
import { indent, labelled } from './layout.ts';
import type { Paint } from './paint.ts';
import { printable } from '../format/printable.ts';

/** More are not helpful: one wrong template may cause an error in every manifest. */
const maxShown = 100;

/**
 * In the given order, with a total; empty when there are none. Of more than a hundred, the first errors are shown, then
 * the first warnings, and the rest are only counted. Without a final line end.
 */
export function renderDiagnostics(
  diagnostics: readonly ShownDiagnostic[],
  { paint }: { paint: Paint },
): string {
  if (diagnostics.length === 0) return '';
  const shown = firstDiagnostics(diagnostics);
  const left = diagnostics.length - shown.length;
  return [
    ...shown.map((diagnostic) => oneDiagnostic(diagnostic, paint)),
    ...(left === 0 ? [] : [`and ${left} more, which "--format json" shows`]),
    countLine(diagnostics),
  ].join('\n\n');
}

function firstDiagnostics(diagnostics: readonly ShownDiagnostic[]): readonly ShownDiagnostic[] {
  if (diagnostics.length <= maxShown) return diagnostics;
  const room = { error: maxShown, warning: maxShown - countDiagnostics(diagnostics).errors };
  return diagnostics.filter(({ severity }) => room[severity]-- > 0);
}

/** `3 errors, 1 warning in 2 files` */
function countLine(diagnostics: readonly ShownDiagnostic[]): string {
  const { errors, warnings, files } = countDiagnostics(diagnostics);
  const counts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  return files === 0 ? counts : `${counts} in ${counted(files, 'file')}`;
}

export function countDiagnostics(diagnostics: readonly ShownDiagnostic[]) {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const files = new Set(diagnostics.flatMap(({ place }) => (place === undefined ? [] : [place.file])));
  return { errors, warnings: diagnostics.length - errors, files: files.size };
}

function oneDiagnostic(diagnostic: ShownDiagnostic, paint: Paint): string {
  const { code, severity, message, place, found, allowed, fix, related = [] } = diagnostic;
  const gutter = gutterWidth([place, ...related.map((other) => other.place)]);
  const where = place === undefined ? '' : ` ${formatSpot(place)}`;
  const lines = [
    `${paint[severity](`${severity}[${printable(code)}]`)}${paint.bold(where)}`,
    `  ${paint.bold(printable(message))}`,
    ...excerptLines(place, gutter, severity, paint),
    ...member('found', found),
    // Only this one is wrapped: it may be a long list, while users copy the other two.
    ...(allowed === undefined ? [] : labelled('  allowed: ', printable(allowed), 100)),
    ...member('fix', fix),
    ...related.flatMap((other) => [
      `  see: ${printable(other.message)}${other.place === undefined ? '' : `, ${formatSpot(other.place)}`}`,
      ...excerptLines(other.place, gutter, 'dim', paint),
    ]),
  ];
  return lines.join('\n');
}

/** `manifests/a.yaml:12:7`, as editors and terminals open it. */
export function formatSpot({ file, line, column }: Place): string {
  return `${printable(file)}:${line}:${column}`;
}

function member(label: string, text: string | undefined): string[] {
  return text === undefined ? [] : [`  ${label}: ${printable(text)}`];
}

function gutterWidth(places: readonly (Place | undefined)[]): number {
  return Math.max(0, ...places.flatMap((place) => (place === undefined ? [] : [String(place.line).length])));
}

type Underline = 'error' | 'warning' | 'dim';

function excerptLines(
  place: Place | undefined,
  gutter: number,
  underline: Underline,
  paint: Paint,
): string[] {
  if (place === undefined || place.text.trim() === '') return [];
  const shown: Excerpt = excerpt(place);
  const bar = paint.dim('|');
  return indent(
    [
      `${paint.dim(shown.number.padStart(gutter))} ${bar} ${shown.text}`,
      `${' '.repeat(gutter)} ${bar} ${' '.repeat(shown.underline.indexOf('^'))}${paint[underline](shown.underline.trimStart())}`,
    ],
    2,
  );
}
