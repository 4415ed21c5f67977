/**
 * Targets with `ownership: ledger`, whose service keeps no claims (rule 48): there the ledger's record is the claim. Every rule
 * about claims then holds as it stands, but that a claim of another stack cannot be seen, and that none is written.
 */
import type { Kind } from '../../model/kind/kind.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { OwnershipTag, LiveResource } from '../../model/resource/resource.ts';
import type { Target } from '../../model/stack/target.ts';

/** Whether resources of this kind would have claims, and have none in this target. */
export function isLedgerOwned({ ownership }: Kind, target: Target): boolean {
  return ownership.by === 'claim' && target.ownership === 'ledger';
}

/**
 * The resource with the claim that its record stands for. A claim that the service shows all the same stays as it is: the
 * workspace may be another stack's.
 * @param stack the name of the stack whose record it is
 */
export function withRecordedOwnership(
  live: LiveResource,
  record: LedgerRecord | undefined,
  stack: string,
): LiveResource {
  if (live.witness.claim !== undefined || record?.id === undefined || record.id !== live.id) return live;
  const { protect = false, onRemove } = record;
  const claim: OwnershipTag = {
    stack,
    protect,
    release: onRemove === 'release',
    inherited: false,
    recorded: true,
  };
  return { ...live, witness: { ...live.witness, claim } };
}
