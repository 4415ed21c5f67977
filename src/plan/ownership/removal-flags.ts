/** What claim, record and creator mark say about the removal of a resource (rules 22, 48). */
import { ownOwnershipTag } from '../../model/resource/claim.ts';
import type { OwnershipTag, LiveResource } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** Where claims are the ledger's, a claim that the service shows may be an older one than the record: then either keeps the resource. */
export function removalFlags(
  context: PlanContext,
  { address, witness }: LiveResource,
): Pick<OwnershipTag, 'protect' | 'release'> {
  const claim = ownOwnershipTag(witness);
  const record = claim === undefined || context.isLedgerOwned(address) ? context.record(address) : undefined;
  return {
    protect: claim?.protect === true || record?.protect === true,
    release: claim?.release === true || record?.onRemove === 'release',
  };
}

/**
 * Whether a resource of a target that keeps no claims may be deleted: it bears the creator mark of this stack, and the ledger says that this
 * stack created it, or, after a lost ledger, that its manifest asked for its deletion.
 */
export function isDeletable(context: PlanContext, { address, witness }: LiveResource): boolean {
  const record = context.record(address);
  const isAsked = record?.origin === 'created' || record?.onRemove === 'delete';
  return context.isLedgerOwned(address) && isAsked && context.isOurs(witness.bornOf);
}
