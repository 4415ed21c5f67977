/** A problem told to the user: what was found, where, what is allowed, and the way out. Never thrown; always returned. */

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

/** The exit code an error leads to (architecture: exit codes); a run ends with the most telling one. */
export type DiagnosticClass = 'invalid' | 'conflict' | 'incomplete' | 'failure';

export interface Diagnostic {
  /** stable and searchable, in kebab-case: `unknown-field` */
  readonly code: string;
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

/** Diagnostics in reading order: by file, line, column, code; those without a place first. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const at = (d: Diagnostic) => d.place ?? { file: '', line: 0, column: 0 };
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

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}
