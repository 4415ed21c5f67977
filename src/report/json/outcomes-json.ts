/** The outcomes of all changes as JSON. Members have a fixed order; absent ones are left out. */
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import { addressMembers } from './address-members.ts';
import type { OutcomeJson } from './apply-event-schema.ts';
import { renderJson } from './canonical-json.ts';
import { placeMember, diagnosticsMember } from './diagnostics-json.ts';
import { countOutcomes } from '../terminal/outcomes-text.ts';

/** `{ version: 1, summary: { applied, unchanged, stale, skipped, unknown, failed }, outcomes, diagnostics? }` */
export function renderOutcomesJson(
  outcomes: readonly Outcome[],
  diagnostics: readonly ShownDiagnostic[] = [],
): string {
  return renderJson({
    version: 1,
    summary: countOutcomes(outcomes),
    outcomes: outcomes.map(outcomeJson),
    ...diagnosticsMember(diagnostics),
  });
}

export function outcomeJson({
  address,
  action,
  kind,
  detail,
  place,
  done,
  foundTrue,
  warnings,
}: Outcome): OutcomeJson {
  return {
    ...addressMembers(address),
    action,
    outcome: kind,
    ...(detail === undefined ? {} : { detail }),
    ...placeMember(place),
    ...(done === undefined ? {} : { done: [...done] }),
    ...(foundTrue && { foundTrue }),
    ...(warnings === undefined ? {} : { warnings: [...warnings] }),
  };
}
