/** What the checks find. Each check gives at least one finding; its id is the name of the check, or names the problem. */
import type { Target } from '../../model/stack.ts';

/** In the order of the report. The first ones are about this machine and the stack, the others about each target. */
export const machineChecks = ['node', 'git', 'ci', 'stack', 'secrets', 'ledger', 'lock'] as const;
export const targetChecks = [
  'address',
  'proxy',
  'tls',
  'service',
  'clock',
  'token',
  'place',
  'dialect',
  'features',
  'rights',
] as const;

type CheckName = (typeof machineChecks)[number] | (typeof targetChecks)[number];

/** Scripts rely on them: they are not renamed. */
export const problemIds = [
  // node, git, ci
  'node-too-old',
  'git-missing',
  'git-no-repository',
  'git-no-commit',
  'git-shallow',
  'ci-fork',
  'ci-unprotected-branch',
  'ci-unknown-job',
  'ci-no-comment-token',
  // stack, secrets, ledger, lock
  'stack-invalid',
  'manifests-invalid',
  'manifests-incomplete',
  'secret-missing',
  'secret-in-name',
  'ledger-unreadable',
  'ledger-unwritable',
  'ledger-closed',
  'ledger-other-repository',
  'ledger-target-moved',
  'ledger-elsewhere',
  'ledger-lost',
  'ledger-temporary',
  'lock-held',
  'lock-of-earlier-attempt',
  'lock-unreadable',
  // address, proxy, tls
  'name-unknown',
  'name-unresolved',
  'connection-refused',
  'connection-timeout',
  'connection-failed',
  'proxy-invalid',
  'proxy-name-unknown',
  'proxy-unreachable',
  'proxy-login',
  'proxy-refused',
  'tls-untrusted',
  'tls-expired',
  'tls-expires-soon',
  'tls-not-yet-valid',
  'tls-wrong-host',
  'tls-missing',
  'tls-ca-unusable',
  'tls-failed',
  'tls-not-used',
  // service, clock
  'service-redirects',
  'service-foreign',
  'service-failing',
  'service-sealed',
  'service-uninitialized',
  'service-standby',
  'clock-differs',
  'clock-unknown',
  // token, place, dialect, features, rights
  'token-missing',
  'token-refused',
  'token-ends-soon',
  'token-limited',
  'audit-token-unusable',
  'login-refused',
  'organization-missing',
  'organization-refused',
  'namespace-missing',
  'mount-missing',
  'mount-refused',
  'mount-other',
  'dialect-differs',
  'dialect-unknown',
  'feature-missing',
  'feature-needed',
  'read-incomplete',
  'read-failed',
  'right-missing',
  'rights-unknown',
  // any check
  'unchecked',
] as const;

type ProblemId = (typeof problemIds)[number];

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

/** What a check is called for this service. */
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

/** The findings with one for each check that was not made. */
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
