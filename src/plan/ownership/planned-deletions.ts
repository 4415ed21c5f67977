/**
 * Finds what a plan is going to delete before all parts are read: undeclared parts are read only for wholes that will be
 * deleted, to tell who loses something (rule 10).
 */
import { type AddressText, parseAddress } from '../../model/resource/address.ts';
import { removalOfUndeclared } from './judge-undeclared.ts';
import { type PlanContextInput, makePlanContext } from '../context/plan-context.ts';

/**
 * @param input with the targets in question and all wholes in them; parts may be missing, because no verdict about a whole
 * depends on them
 */
export function plannedDeletions(input: PlanContextInput): ReadonlySet<AddressText> {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const desired = input.desired.filter(({ address }) => targets.has(address.target));
  const context = makePlanContext({ ...input, desired });
  const deletions = [...removalOfUndeclared(context)].filter(
    ([text, { is }]) => is === 'delete' && context.kind(parseAddress(text).kind).ownership.by !== 'part',
  );
  return new Set(deletions.map(([text]) => text));
}
