/** What becomes of a part whose document is gone: by what becomes of its whole, it is taken back or left alone. */
import { ownClaim } from '../../model/resource/claim.ts';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { judgeWhole } from './judge-whole.ts';
import type { Removal } from './removal.ts';

/** @param whole what the part belongs to */
export function judgePart(context: PlanContext, address: Address, whole: Address): Removal | undefined {
  const text = formatAddress(whole);
  const live = context.live.get(text);
  const goes = live !== undefined && !context.desired.has(text);
  const claim = live && ownClaim(live.witness);
  if (goes && claim !== undefined) {
    // What becomes of the whole becomes of its parts.
    if (context.isOurs(claim.stack)) return isReleased(context, live) ? { is: 'forget' } : undefined;
    const message = `no longer declared, and "${text}" is claimed by stack "${claim.stack}": it is left alone`;
    return { is: 'forget', mention: { address, message } };
  }
  // It was ours and somebody took the claim away: it is left alone whole, or its parts would be written behind its back.
  if (goes && context.record(whole) !== undefined) return { is: 'forget' };
  return {
    is: 'revoke',
    reason: `no longer declared for "${text}": what this stack had set is taken back`,
  };
}

/** A whole that is let go keeps its parts as they are: once its claim is gone, nobody takes back what they hold. */
function isReleased(context: PlanContext, live: LiveResource): boolean {
  if (context.tombstones.has(formatAddress(live.address))) return false;
  return context.isComplete && judgeWhole(context, live)?.is === 'release';
}
