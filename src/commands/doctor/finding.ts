/** The findings of the checks. Each check gives at least one finding, whose id is the name of the check, or that of a problem. */
import type { Target } from '../../model/stack.ts';
import { findingMeanings, type ProblemId } from '../../run/finding-meanings.ts';

/** The checks in the order of the report: first those of this machine and the stack, then those of each target. */
export const machineChecks = ['node', 'git', 'ci', 'stack', 'secrets', 'ledger', 'lock'] as const;
export const targetChecks = [
  'address',
  'proxy',
  'tls',
  'service',
  'clock',
  'token',
  // whether the organization, or the mount, can be read
  'place',
  'dialect',
  'features',
  'rights',
] as const;

type CheckName = (typeof machineChecks)[number] | (typeof targetChecks)[number];

export const problemIds = Object.keys(findingMeanings) as readonly ProblemId[];

/** `error`: an apply would stop. `info`: nothing is wrong, or it was not checked. */
export const levels = ['ok', 'info', 'warning', 'error'] as const;
type Level = (typeof levels)[number];

export interface Finding {
  readonly check: CheckName;
  readonly id: CheckName | ProblemId;
  readonly level: Level;
  /** the name of the target that it is about */
  readonly target?: string;
  /** a clause without a full stop; values quoted */
  readonly message: string;
  /** what to do, as an instruction */
  readonly fix?: string;
}

/** The name of a check in the report, which depends on the service. */
export function checkLabel(check: CheckName, service: Target['service'] | undefined): string {
  if (check !== 'place' || service === undefined) return check;
  return service === 'workspaces' ? 'organization' : 'mount';
}

export function ok(check: CheckName, message: string): Finding {
  return { check, id: check, level: 'ok', message };
}

interface Problem {
  readonly id: ProblemId;
  readonly message: string;
  readonly fix?: string | undefined;
}

export function info(check: CheckName, problem: Problem): Finding {
  return found(check, 'info', problem);
}

export function warning(check: CheckName, problem: Problem & { readonly fix: string }): Finding {
  return found(check, 'warning', problem);
}

export function failed(check: CheckName, problem: Problem & { readonly fix: string }): Finding {
  return found(check, 'error', problem);
}

function found(check: CheckName, level: Level, { id, message, fix }: Problem): Finding {
  return { check, id, level, message, ...(fix === undefined ? {} : { fix }) };
}

export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === 'error');
}

/** Adds a finding for each check that was not made. */
export function withUnchecked(
  findings: readonly Finding[],
  checks: readonly CheckName[],
  why: string,
): Finding[] {
  const made = new Set(findings.map(({ check }) => check));
  const missing = checks.filter((check) => !made.has(check));
  return [
    ...findings,
    ...missing.map((check) => info(check, { id: 'unchecked', message: `not checked: ${why}` })),
  ];
}
