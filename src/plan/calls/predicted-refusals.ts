/**
 * The predicted refusals of a whole plan. In a plan they are notes, because another token may apply it. In the plan that
 * apply makes they are errors, because the same token would be refused (rule 30).
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { quoted } from '../../model/quoted.ts';
import type { Draft } from '../draft/draft-declared.ts';
import { predictRefusal, refusalNotes } from './predict-refusal.ts';
import type { PlanContext } from '../context/plan-context.ts';

type DraftsByAddress = ReadonlyMap<AddressText, Draft>;

/** Adds a note about predicted refusals to a change that has its calls already. */
export function withPredictedRefusals(context: PlanContext, change: Change, drafts: DraftsByAddress): Change {
  const draft = drafts.get(formatAddress(change.address));
  const refusals = draft === undefined ? [] : refusalNotes(context, { ...draft, change });
  return refusals.length === 0 ? change : { ...change, notes: [...change.notes, ...refusals] };
}

/** The same as errors. @param changes with their calls */
export function predictedRefusals(
  context: PlanContext,
  changes: readonly Change[],
  drafts: DraftsByAddress,
): Diagnostic[] {
  return changes.flatMap((change) => {
    const { address, action, place } = change;
    const draft = drafts.get(formatAddress(address));
    const reasons = draft === undefined ? [] : predictRefusal(context, { ...draft, change });
    if (reasons.length === 0) return [];
    return {
      code: 'will-be-refused',
      severity: 'error' as const,
      class: 'failure' as const,
      message: `the service will refuse to ${action} ${quoted(formatAddress(address))}: ${reasons.join('; ')}`,
      ...(place === undefined ? {} : { place }),
      fix: 'give the token the permission, or apply with one that has it',
    };
  });
}
