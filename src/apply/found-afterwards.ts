/**
 * What the plan that is made after an apply says of changes whose end nobody heard, or that were answered as failed: an
 * answer is not the fact (rule 40). What failed stays failed; that it is true all the same stands beside it.
 */
import { type AddressText, formatAddress } from '../model/resource/address.ts';
import type { Change } from '../model/plan/change.ts';
import type { Outcome } from '../model/plan/outcome.ts';
import type { Planning } from '../plan/build-plan.ts';

/** The same outcomes, those marked that were found true. @param changes of the plan that was applied */
export function withFoundTrue(
  outcomes: readonly Outcome[],
  changes: readonly Change[],
  again: Planning,
): readonly Outcome[] {
  const applied = new Map(changes.map((change) => [formatAddress(change.address), change]));
  const open = new Set(again.plan.changes.map(({ address }) => formatAddress(address)));
  return outcomes.map((outcome) => {
    const text = formatAddress(outcome.address);
    const { foundTrue, ...others } = outcome;
    // What was true a moment ago and is so no more is still to do, and told as that.
    if (open.has(text)) return others;
    const change = isInQuestion(outcome) ? applied.get(text) : undefined;
    return change !== undefined && isTrue(change, outcome, again) ? { ...outcome, foundTrue: true } : outcome;
  });
}

/** Creations of an apply that may have been carried out although nobody heard of it. */
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

/** What was refused, and is there by now, is our creation only by all witnesses. */
function isTrue(change: Change, { refused }: Outcome, { remainingWork }: Planning): boolean {
  const { action, fields, isOurs } = remainingWork(change);
  const isWitnessed = isOurs || refused === undefined || change.action !== 'create';
  return !action && fields.length === 0 && isWitnessed;
}
