/** Decides what happens to a part whose document is gone: it is withdrawn or left as it is, depending on its whole. */
import { ownOwnershipTag } from '../../model/resource/claim.ts';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { removalOfParent } from './judge-whole.ts';
import type { Removal } from './removal.ts';

/** @param whole address of the resource that the part belongs to */
export function removalOfChild(context: PlanContext, address: Address, whole: Address): Removal | undefined {
  const text = formatAddress(whole);
  const live = context.live.get(text);
  const isUndeclared = live !== undefined && !context.desired.has(text);
  const claim = live && ownOwnershipTag(live.witness);
  if (isUndeclared && claim !== undefined) {
    // A part of our own removed whole is deleted or released with it.
    if (context.isOurClaim(claim)) return isReleased(context, live) ? { is: 'forget' } : undefined;
    const message = `no longer declared, and ${quoted(text)} is claimed by stack ${quoted(claim.stack)}: it is left alone`;
    return { is: 'forget', mention: { address, message } };
  }
  // Somebody removed our claim from the whole, so neither it nor its parts are written any more.
  if (isUndeclared && context.record(whole) !== undefined) return { is: 'forget' };
  return {
    is: 'revoke',
    reason: `no longer declared for ${quoted(text)}: what this stack had set is taken back`,
  };
}

/** Whether the whole is released: then its parts stay as they are. */
function isReleased(context: PlanContext, live: LiveResource): boolean {
  if (context.tombstones.has(formatAddress(live.address))) return false;
  return context.isComplete && removalOfParent(context, live)?.is === 'release';
}
