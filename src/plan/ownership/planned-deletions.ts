/**
 * What a plan is going to delete, told before all of it has been read: parts say who loses something by a deletion, and
 * are read for what goes and for nothing else that is not declared (rule 10).
 */
import { type AddressText, parseAddress } from '../../model/resource/address.ts';
import { judgeUndeclared } from './judge-undeclared.ts';
import { type PlanContextInput, makePlanContext } from '../context/plan-context.ts';

/**
 * @param input the targets in question, with all that stands for itself in them; parts may be missing, for none of them
 * decides what becomes of its whole
 */
export function plannedDeletions(input: PlanContextInput): ReadonlySet<AddressText> {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const desired = input.desired.filter(({ address }) => targets.has(address.target));
  const context = makePlanContext({ ...input, desired });
  const leaving = [...judgeUndeclared(context)].filter(
    ([text, { is }]) => is === 'delete' && context.kind(parseAddress(text).kind).ownership.by !== 'part',
  );
  return new Set(leaving.map(([text]) => text));
}
