/**
 * Resources that an earlier apply of this stack began to create, and that the ledger does not have: the apply did not end, or got no
 * answer. Only the history names them, so they stay open until a plan finds out about each.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { PlanContext } from './plan-context.ts';
import { kept, type Removal } from './removal.ts';

/** The notice about a live, undeclared resource without a record that an earlier apply had begun to create: only its manifest is gone. */
export function keptAsBegun(context: PlanContext, address: Address): Removal {
  if (context.isBeingCreated(address)) {
    const message =
      'not declared; an apply of this stack that holds the lock and has not ended yet has begun to create it: it is left alone';
    return kept(
      address,
      message,
      'plan again when that apply has ended; if it was killed, remove its lock with "trueup unlock"',
    );
  }
  const message = 'not declared; an apply of this stack that did not end may have created it: it is kept';
  const { ownership } = context.kind(address.kind);
  const isReleased = ownership.by === 'ledger' && ownership.undeclared === 'release';
  return kept(address, message, isReleased ? releaseFix : deleteFix);
}

const deleteFix =
  'declare it and apply; then, to delete it, set "metadata.remove: safe" in its document; to leave it as it is, set "metadata.onRemove: release" there, apply, and remove the document';

const releaseFix =
  'declare it and apply, to manage it; it is never deleted: if you remove its document then, it stays as it is, and this notice ends';

/**
 * The creations that stay open after this plan: the resource is live, undeclared and without a record, or was not read. Other kinds than
 * those that only the ledger identifies show by themselves, once they are read, whether this stack created them.
 */
export function openCreations(
  context: PlanContext,
  begun: ReadonlySet<AddressText> | undefined,
): readonly AddressText[] {
  return [...(begun ?? [])].filter((text) => {
    if (context.ledger.records.has(text)) return false;
    const address = parseAddress(text);
    const isUnread =
      !context.isInView(address) ||
      context.unreadReason(address) !== undefined ||
      context.incompleteReason(address) !== undefined;
    return (
      isUnread ||
      (context.kind(address.kind).ownership.by === 'ledger' && context.live.has(formatAddress(address)))
    );
  });
}
