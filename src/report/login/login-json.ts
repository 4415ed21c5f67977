/** The checks of a login as JSON. Valid against `login-schema`. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { type LoginReport, wouldSucceed } from '../../model/login-check.ts';
import { renderJson } from '../json/canonical-json.ts';
import { diagnosticsMember, placeMember } from '../json/diagnostics-json.ts';

/** `{ version: 1, stack, target, mount, role, against, succeeds, checks, trial?, diagnostics? }` */
export function renderLoginJson(report: LoginReport, diagnostics: readonly ShownDiagnostic[] = []): string {
  const { checks, trial, ...about } = report;
  return renderJson({
    version: 1,
    ...about,
    succeeds: wouldSucceed(report),
    checks: checks.map(({ place, ...check }) => ({ ...check, ...placeMember(place) })),
    ...(trial === undefined ? {} : { trial }),
    ...diagnosticsMember(diagnostics),
  });
}
