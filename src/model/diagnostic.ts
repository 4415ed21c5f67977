/** A problem told to the user: what was found, where, what is allowed, and the way out. Never thrown; always returned. */
import type { DiagnosticClass } from './codes/code-entry.ts';
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
  /** what was found and what is allowed, where the message does not say it */
  readonly found?: string;
  readonly allowed?: string;
  /** the way out, as an instruction */
  readonly fix?: string;
  /** a second place, such as the first of two duplicates */
  readonly related?: readonly { readonly message: string; readonly place?: Place }[];
}

/** As reports take it: out of a plan file of another version it may have a code that this one does not know. */
export type ShownDiagnostic = Diagnostic<string>;

/** Diagnostics in reading order: by file, line, column, code; those without a place first. */
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
