/** What claim and record say about the removal of an undeclared resource (rules 22, 48). */
import { ownClaim } from '../../model/resource/claim.ts';
import type { Claim, LiveResource } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** Where claims are the ledger's, a claim that the service shows may be an older one than the record: then either keeps the resource. */
export function removalFlags(
  context: PlanContext,
  { address, witness }: LiveResource,
): Pick<Claim, 'protect' | 'release'> {
  const claim = ownClaim(witness);
  const record = claim === undefined || context.isLedgerOwned(address) ? context.record(address) : undefined;
  return {
    protect: claim?.protect === true || record?.protect === true,
    release: claim?.release === true || record?.onRemove === 'release',
  };
}
