/**
 * Diagnostics for a terminal: the message, an excerpt of the user's text with the span underlined, what is allowed, and a
 * total.
 */
import type { Place, ShownDiagnostic } from '../../model/diagnostic.ts';
import { counted } from '../../model/quoted.ts';
import { printable } from '../view/printable.ts';
import { columns, indent, labelled, type Paint } from './layout.ts';

/** More are not helpful: one wrong template may cause an error in every manifest. */
const maxShown = 100;

/**
 * The diagnostics in the given order, with a total; empty when there are none. If there are more than a hundred, the first
 * errors are shown, then the first warnings; the others are only counted. Without a final line end.
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

/** `3 errors, 1 warning`; empty without any. */
export function severityCounts(diagnostics: readonly ShownDiagnostic[]): string {
  const { errors, warnings } = countDiagnostics(diagnostics);
  return [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
}

/** `3 errors, 1 warning in 2 files` */
export function countLine(diagnostics: readonly ShownDiagnostic[]): string {
  const { files } = countDiagnostics(diagnostics);
  return `${severityCounts(diagnostics)}${files === 0 ? '' : ` in ${counted(files, 'file')}`}`;
}

export function errorsFirst(diagnostics: readonly ShownDiagnostic[]): ShownDiagnostic[] {
  const rank = ({ severity }: ShownDiagnostic) => (severity === 'error' ? 0 : 1);
  return diagnostics.toSorted((one, other) => rank(one) - rank(other));
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
  const shown = excerptOf(place);
  if (shown === undefined) return [];
  const bar = paint.dim('|');
  return indent(
    [
      `${paint.dim(shown.number.padStart(gutter))} ${bar} ${shown.text}`,
      `${' '.repeat(gutter)} ${bar} ${' '.repeat(shown.underline.indexOf('^'))}${paint[underline](shown.underline.trimStart())}`,
    ],
    2,
  );
}

// The excerpt of a diagnostic: the user's line with its number, and the span underlined. All text is printable.

interface Excerpt {
  readonly number: string;
  readonly text: string;
  /** spaces, then carets below the span */
  readonly underline: string;
}

/** Longer lines are cut around the span: a line may contain a whole certificate. */
const maxLength = 90;

/** Undefined without a place, or for an empty line. */
export function excerptOf(place: Place | undefined): Excerpt | undefined {
  return place === undefined || place.text.trim() === '' ? undefined : excerpt(place);
}

/** The underline is measured on the escaped text, which may be longer than the original. */
function excerpt({ line, column, text, ...place }: Place): Excerpt {
  const start = Math.min(place.shown?.start ?? column - 1, text.length);
  const length = place.shown === undefined ? place.length : place.shown.end - start;
  const cut = cutAround(text, start, length);
  const before = shown(text.slice(cut.from, start));
  const span = shown(text.slice(start, Math.min(start + length, cut.to)));
  const after = shown(text.slice(start + length, cut.to));
  const lead = cut.from > 0 ? '...' : '';
  const trail = cut.to < text.length ? '...' : '';
  return {
    number: String(line),
    text: `${lead}${before}${span}${after}${trail}`.trimEnd(),
    underline: ' '.repeat(columns(lead + before)) + '^'.repeat(Math.max(1, columns(span))),
  };
}

function cutAround(text: string, start: number, length: number): { from: number; to: number } {
  if (text.length <= maxLength) return { from: 0, to: text.length };
  const spare = Math.max(20, maxLength - length);
  const from = start <= spare / 2 ? 0 : Math.round(start - spare / 2);
  return { from, to: Math.min(text.length, from + maxLength) };
}

/** Printable text, with a tab as one space. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', ' '));
}
