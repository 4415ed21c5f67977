/** The exit codes of the process (architecture: exit codes). This is the only list of them. */
import { hasErrors, type ShownDiagnostic } from '../model/diagnostic.ts';
import type { Outcome } from '../model/change.ts';
import type { Plan } from '../model/plan.ts';

export const exitCodes = {
  done: 0,
  error: 1,
  changesPending: 2,
  loginRefused: 2,
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

/** The exit code of a run that stops because of these diagnostics; the most specific one when they have several classes. */
export function exitCodeOf(diagnostics: readonly ShownDiagnostic[]): ExitCode {
  const classes = new Set(
    diagnostics.filter(({ severity }) => severity === 'error').map((found) => found.class),
  );
  if (classes.size === 0) return exitCodes.done;
  if (classes.has('invalid')) return exitCodes.invalid;
  if (classes.has('conflict')) return exitCodes.conflict;
  return exitCodes.error;
}

/** The exit code of a plan: that of its problems, else that of an incomplete read. */
export function exitCodeOfPlan({ problems, coverage }: Pick<Plan, 'problems' | 'coverage'>): ExitCode {
  const code = exitCodeOf(problems);
  return code === exitCodes.done && !coverage.complete ? exitCodes.error : code;
}

/** The exit code of an apply. @param proof the plan that was made afterwards; undefined when there was nothing to prove */
export function exitCodeOfApply(outcomes: readonly Outcome[], proof: Plan | undefined): ExitCode {
  const some = (...kinds: Outcome['kind'][]) => outcomes.some(({ kind }) => kinds.includes(kind));
  const written =
    some('applied', 'unknown') || outcomes.some(({ done = [], foundTrue }) => foundTrue || done.length > 0);
  if (some('failed', 'unknown', 'skipped'))
    return written ? exitCodes.partial : some('stale') ? exitCodes.stale : exitCodes.error;
  if (some('stale')) return written ? exitCodes.partial : exitCodes.stale;
  if (proof === undefined || isProven(proof)) return exitCodes.done;
  return written ? exitCodes.partial : exitCodes.error;
}

function isProven({ changes, changedNames, problems, coverage }: Plan): boolean {
  return changes.length === 0 && changedNames.length === 0 && !hasErrors(problems) && coverage.complete;
}

/** For `trueup --help`. */
export const exitCodesHelp = `  0    done, or nothing to do
  1    error
  2    changes (plan --exit-code), plans that differ (diff), a login that would
       fail (role check), files that are not formatted (fmt --check)
  3    drift: live resources differ from the last apply (drift)
  4    stale: the plan is not the approved one, or live resources have changed
  5    blocked by a guard
  6    applied in part
  7    invalid manifests
  8    locked by another apply
  9    ownership conflict
  130  interrupted`;
