/** Targets that the stack has left: what was applied there is told once, and neither looked at nor forgotten. */
import { parseAddress } from '../../model/resource/address.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { kept, type Removal } from './removal.ts';

/** One mention for each target that is no longer in the plan and that the ledger has records of. */
export function keptInLeftTargets(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const outside = context.spent.map(parseAddress).filter((address) => !context.isInView(address));
  return [...Map.groupBy(outside, ({ target }) => target)].flatMap(([target, [address, ...more]]) => {
    if (address === undefined) return [];
    const others = more.length === 0 ? 'it is' : `it and ${more.length} more are`;
    const message = `what this stack applied in target "${target}" is not looked at any more: ${others} left alone`;
    return kept(address, message, 'add the target again to manage it, or release it there by hand');
  });
}
