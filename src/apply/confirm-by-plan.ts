/**
 * Uses the plan that is made after an apply to check changes whose answer was lost or was a failure: such an answer may be
 * wrong (rule 40). The outcome stays the same, but is marked as found true.
 */
import { type AddressText, formatAddress } from '../model/resource/address.ts';
import type { Change } from '../model/plan/change.ts';
import type { Outcome } from '../model/plan/outcome.ts';
import type { PlanResult } from '../plan/build-plan.ts';

/** The same outcomes, with `foundTrue` where it applies. @param changes of the plan that was applied */
export function withFoundTrue(
  outcomes: readonly Outcome[],
  changes: readonly Change[],
  again: PlanResult,
): readonly Outcome[] {
  const applied = new Map(changes.map((change) => [formatAddress(change.address), change]));
  const open = new Set(again.plan.changes.map(({ address }) => formatAddress(address)));
  return outcomes.map((outcome) => {
    const text = formatAddress(outcome.address);
    const { foundTrue, ...others } = outcome;
    // A change that was found true before, but is planned again, is not done.
    if (open.has(text)) return others;
    const change = isInQuestion(outcome) ? applied.get(text) : undefined;
    return change !== undefined && isTrue(change, outcome, again) ? { ...outcome, foundTrue: true } : outcome;
  });
}

/** Creations of an apply that may have been carried out without a known result. */
export function creationsInDoubt(outcomes: readonly Outcome[]): AddressText[] {
  return outcomes
    .filter((outcome) => outcome.action === 'create' && mayHaveHappened(outcome))
    .map(({ address }) => formatAddress(address));
}

function mayHaveHappened({ kind, inDoubt }: Pick<Outcome, 'kind' | 'inDoubt'>): boolean {
  return kind === 'unknown' || inDoubt === true;
}

function isInQuestion(outcome: Outcome): boolean {
  return mayHaveHappened(outcome) || outcome.refused === true;
}

/** A refused creation counts as done only if all witnesses prove that the resource is ours. */
function isTrue(change: Change, { refused }: Outcome, { remainingWork }: PlanResult): boolean {
  const { action, fields, isOurs } = remainingWork(change);
  const isWitnessed = isOurs || refused === undefined || change.action !== 'create';
  return !action && fields.length === 0 && isWitnessed;
}
