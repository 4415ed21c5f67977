/** An error or a warning for the user: what was found, where, what is allowed, and how to fix it. Returned, never thrown. */
import type { DiagnosticClass } from './code-entry.ts';
import type { DiagnosticCode } from './diagnostic-codes.ts';

/** A span of one line of a text that a user wrote. Lines and columns count from 1; `length` is in characters. */
export interface Place {
  /** as the user would type it, relative to the working directory; `-` for standard input */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  /** the whole text of that line, for the excerpt */
  readonly text: string;
  /** offsets of the span in `text`, if secrets were replaced in `text`; `end` is exclusive */
  readonly shown?: { readonly start: number; readonly end: number };
  /** for an expression of a template: the place of its value in the list of `metadata.each` */
  readonly list?: Place;
  /** the value is a default of the stack */
  readonly isDefault?: true;
}

export type Severity = 'error' | 'warning';

export interface Diagnostic<Code extends string = DiagnosticCode> {
  /** stable and searchable, in kebab-case: `unknown-field` */
  readonly code: Code;
  readonly severity: Severity;
  readonly class: DiagnosticClass;
  /** one sentence without a full stop; values quoted */
  readonly message: string;
  readonly place?: Place;
  /** what was found and what is allowed, if the message does not say it */
  readonly found?: string;
  readonly allowed?: string;
  /** how to fix it, as an instruction */
  readonly fix?: string;
  /** a second place, such as the first of two duplicates */
  readonly related?: readonly { readonly message: string; readonly place?: Place }[];
}

/** A diagnostic as reports accept it: a plan file of another trueup version may hold codes that are unknown here. */
export type ShownDiagnostic = Diagnostic<string>;

/** The diagnostic of something that could not be read. */
export function incomplete(code: DiagnosticCode, message: string): Diagnostic {
  return { code, severity: 'error', class: 'incomplete', message };
}

/** The diagnostics as reports show them: sorted, with the places of list items, and those with the same cause joined to one. */
export function asReported(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const causes = Map.groupBy(sortDiagnostics(withListPlaces(diagnostics)), causeOf);
  return [...causes.values()].flatMap(([first, ...more]) => {
    if (first === undefined || more.length === 0) return first ?? [];
    const subjects = more.flatMap(({ message }) => subject.exec(message)?.[0] ?? []);
    const others = [...new Set(subjects)].slice(0, shownSubjects).join(', ');
    const left = more.length - shownSubjects;
    const message = `${first.message} (and the same for ${others}${left > 0 ? ` and ${left} more` : ''})`;
    return [{ ...first, message }];
  });
}

const shownSubjects = 20;

/** The resource that a message is about: the first one that it names. */
const subject = /"[A-Z]\w*\/[^/"]+\/[^"]*"|\b[A-Z][A-Za-z]* "[^"]*"/;

/** The same key for diagnostics that differ only in the resource that they name, and have the same place and list item. */
function causeOf(diagnostic: Diagnostic): string | Diagnostic {
  const { code, severity, class: errorClass, message, place, found, allowed, fix, related } = diagnostic;
  const [name = ''] = subject.exec(message) ?? [];
  if (place === undefined || name === '') return diagnostic;
  const spot = (at: Place | undefined) => at && [at.file, at.line, at.column];
  // The target of an address stays in the text: what is wrong in one target may be right in another.
  const about = name.replace(/[^/"]*"$/, '');
  const others = related?.map(({ place: at, message: says }) => [spot(at), says]);
  return JSON.stringify([
    ...[code, severity, errorClass, spot(place), spot(place.list), about],
    ...[message, found, allowed, fix].map((text) => text?.replaceAll(name, '')),
    others,
  ]);
}

/** For each place in a template, adds the place in its list as a related place. */
function withListPlaces(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((diagnostic) => {
    const { place, related = [] } = diagnostic;
    if (place?.list === undefined && related.every((other) => other.place?.list === undefined))
      return diagnostic;
    const listed = (at: Place | undefined, message: string) =>
      at?.list === undefined ? [] : [{ message, place: at.list }];
    return {
      ...diagnostic,
      related: [
        ...listed(place, 'with this item of the list'),
        ...related.flatMap((other) => [
          other,
          ...listed(other.place, `${other.message}: this item of the list`),
        ]),
      ],
    };
  });
}

/** Sorts by file, line, column, code; diagnostics without a place come first. */
export function sortDiagnostics<D extends ShownDiagnostic>(diagnostics: readonly D[]): D[] {
  const at = (d: D) => d.place ?? { file: '', line: 0, column: 0 };
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...diagnostics].sort(
    (a, b) =>
      text(at(a).file, at(b).file) ||
      at(a).line - at(b).line ||
      at(a).column - at(b).column ||
      text(a.code, b.code) ||
      text(a.message, b.message),
  );
}

export function hasErrors(diagnostics: readonly ShownDiagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}
