/** Gives findings of the lint the level that the stack chose for them: raised to errors, or left out (rule 47). */
import { lintCodeNames } from '../../model/codes/lint-codes.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Lint } from '../../model/stack/target.ts';

/** Diagnostics that are no lint stay as they are. */
export function applyLint(
  diagnostics: readonly Diagnostic[],
  { raise = [], allow = [] }: Lint = {},
): Diagnostic[] {
  const [raised, allowed] = [new Set<string>(raise), new Set<string>(allow)];
  return diagnostics.flatMap((diagnostic) => {
    const { code } = diagnostic;
    if (!lintCodeNames.includes(code)) return [diagnostic];
    if (allowed.has(code)) return [];
    return [raised.has(code) ? { ...diagnostic, severity: 'error' } : diagnostic];
  });
}
