/** One entry of the error catalogue. Titles name no kind: a code is about what went wrong, not about where. */

/** Decides the exit code (architecture: exit codes). Of several errors, the most important class decides. */
export type DiagnosticClass = 'invalid' | 'conflict' | 'incomplete' | 'failure';

export interface CodeEntry {
  /** what went wrong, in one line without a full stop */
  readonly title: string;
  /** the class of the diagnostics with this code; several if it depends on the command that found the problem */
  readonly class: DiagnosticClass | readonly DiagnosticClass[];
  /** diagnostics with this code are warnings: they stop nothing */
  readonly warning?: true;
  /** what to do, as an instruction without a full stop; the message of a single error is more precise */
  readonly fix: string;
}

/** Entries by code, in kebab-case. Once published, a code keeps its meaning: scripts and searches rely on it. */
export type CodeTable = Readonly<Record<string, CodeEntry>>;
