/** What the catalogue says of one code. Titles name no kind: a code belongs to what went wrong, not to where. */

/** The exit code an error leads to (architecture: exit codes); a run ends with the most telling one. */
export type DiagnosticClass = 'invalid' | 'conflict' | 'incomplete' | 'failure';

export interface CodeEntry {
  /** what is the case, in one line without a full stop */
  readonly title: string;
  /** of what is told under it; several where that depends on who found it */
  readonly class: DiagnosticClass | readonly DiagnosticClass[];
  /** it stops nothing */
  readonly warning?: true;
  /** what to do, as an instruction without a full stop; the message of a single error knows more */
  readonly fix: string;
}

/** By code, in kebab-case. Once published, a code keeps its meaning: scripts and searches rely on it. */
export type CodeTable = Readonly<Record<string, CodeEntry>>;
