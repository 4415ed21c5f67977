/** What the process's exit code says (architecture: exit codes). The one list of them. */
import type { Diagnostic } from '../model/diagnostic.ts';

export const exitCodes = {
  done: 0,
  error: 1,
  changesPending: 2,
  drift: 3,
  stale: 4,
  blocked: 5,
  partial: 6,
  invalid: 7,
  locked: 8,
  conflict: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The most telling code of a run that stops at its diagnostics. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): ExitCode {
  const classes = new Set(
    diagnostics.filter(({ severity }) => severity === 'error').map((found) => found.class),
  );
  if (classes.size === 0) return exitCodes.done;
  if (classes.has('invalid')) return exitCodes.invalid;
  if (classes.has('conflict')) return exitCodes.conflict;
  return exitCodes.error;
}
