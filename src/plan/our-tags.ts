/**
 * Which ownership tags and creator marks count as this stack's: by its name and id, by the name that it had before, and by the stacks
 * that resources moved from.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Ledger, LedgerRecord, MovedAway } from '../model/ledger.ts';
import {
  type LiveResource,
  type OwnershipEvidence,
  type OwnershipTag,
  ownOwnershipTag,
} from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import type { StackMoves } from './stack-moves.ts';

/** The former name of a renamed stack, with what its ledger holds. */
export interface FormerStack {
  readonly name: string;
  readonly hasLedger: boolean;
  /** the id in its ownership tags */
  readonly stackId?: string;
  /** addresses of the records that this plan takes over, and that no apply under the new name has written yet */
  readonly records: ReadonlySet<AddressText>;
  /** why it cannot be taken over */
  readonly problems?: readonly Diagnostic[];
}

/** The ids in ownership tags that are this stack's. */
export interface StackIds {
  /** undefined until the first apply has made one */
  readonly own?: string | undefined;
  /** of tags that this stack has taken over, and that still have the former id */
  readonly taken?: readonly string[] | undefined;
}

interface TagsInput {
  readonly stack: Stack;
  readonly ledger: Ledger;
  readonly stackIds?: StackIds;
  readonly begunCreations?: ReadonlySet<AddressText>;
  readonly begunChanges?: ReadonlySet<AddressText>;
}

/** Which ownership tags and creator marks are this stack's, by name and id, and what an interrupted apply of it began. */
export function ownershipTagsOf(
  { stack, ledger, begunChanges, begunCreations, stackIds }: TagsInput,
  former: FormerStack | undefined,
) {
  const ids: StackIds = stackIds ?? { own: ledger.stackId, taken: ledger.takenIds };
  const isOurs = (name: string | undefined) =>
    name !== undefined && (name === stack.name || name === stack.renamedFrom);
  const hasFormerId = ({ id }: OwnershipTag) => former?.hasLedger === false || id === former?.stackId;
  const hasOwnId = (ownershipTag: OwnershipTag) =>
    ownershipTag.id === ids.own || (ownershipTag.stack === former?.name && hasFormerId(ownershipTag));
  const isOurTag = ({ stack: name, id, moving }: OwnershipTag) =>
    moving === true || (isOurs(name) && (id === undefined || ids.taken?.includes(id) === true));
  /** Resources with the same tag share one copy of it without the id. */
  const withoutId = new Map<OwnershipTag, OwnershipTag>();
  return {
    isOurs,
    isOurTag,
    stackId: ids.own,
    plainTag: { stack: stack.name, protect: false, release: false, inherited: false },
    hasOurTag: (evidence: OwnershipEvidence) => {
      const ownershipTag = ownOwnershipTag(evidence);
      return ownershipTag !== undefined && isOurTag(ownershipTag);
    },
    /** Removes our own id from a tag, because it is not compared. */
    withoutOwnId: (live: LiveResource): LiveResource => {
      const { ownershipTag } = live.evidence;
      if (ownershipTag?.id === undefined || !hasOwnId(ownershipTag)) return live;
      const { id: _, ...rest } = ownershipTag;
      const own = withoutId.get(ownershipTag) ?? rest;
      withoutId.set(ownershipTag, own);
      return { ...live, evidence: { ...live.evidence, ownershipTag: own } };
    },
    hasBegunToChange: (address: Address) =>
      [begunChanges, begunCreations].some((begun) => begun?.has(formatAddress(address)) === true),
  };
}

// What the ledger says about ownership, for a live resource: where a target keeps no ownership tags, the record takes the place of the
// tag. The tag of a former owner counts as ours once our ledger has the record. In the former owner's plans, its own tag then counts as
// the other stack's.

interface RecordedOwner {
  readonly ledger: Ledger;
  /** name of this stack */
  readonly stack: string;
  readonly former: FormerStack | undefined;
  readonly moves: Pick<StackMoves, 'from'>;
  isOurTag(ownershipTag: OwnershipTag): boolean;
  /** A resource that this stack gave away, by its kind, target and id, because it may have been renamed in the service since. */
  movedAwayWithId(owned: Address, id: string): MovedAway | undefined;
}

/** The resource that can have the ownership tag: the live one, or the parent of a live child. */
interface OwnedResource {
  readonly address: Address;
  /** its address in the ledger */
  readonly at: AddressText;
  /** Whether its target keeps no ownership tag of it. */
  isLedgerOwned(): boolean;
}

/** A live resource with the ownership tag that counts for this stack, which may differ from the one in the target. */
export function withRecordedOwner(
  live: LiveResource,
  owned: OwnedResource,
  known: RecordedOwner,
): LiveResource {
  const { ledger } = known;
  const record = ledger.records.get(owned.at);
  if (record === undefined) {
    const away =
      ledger.movedAway?.get(owned.at) ?? (live.id && known.movedAwayWithId(owned.address, live.id));
    return away ? withOtherOwner(live, away, { owned, known }) : live;
  }
  const { ownershipTag } = live.evidence;
  if (ownershipTag !== undefined) return withFormerOwner(live, ownershipTag, { record, known });
  const isChild = live.address.kind !== owned.address.kind;
  return !isChild && owned.isLedgerOwned() ? withRecordedOwnership(live, record, { owned, known }) : live;
}

/** The resource with the tag of the stack that took it over from this one, and that may not have written its own tag yet. */
function withOtherOwner(
  live: LiveResource,
  { to, id }: MovedAway,
  { owned, known }: { readonly owned: OwnedResource; readonly known: RecordedOwner },
): LiveResource {
  const { ownershipTag } = live.evidence;
  const isStillOurs = ownershipTag === undefined ? owned.isLedgerOwned() : known.isOurTag(ownershipTag);
  if (!isStillOurs || !isSameId(id, live.id)) return live;
  const recorded = ownershipTag === undefined ? { recorded: true as const } : {};
  return withTag(live, { stack: to.stack, protect: false, release: false, inherited: false, ...recorded });
}

/** Marks the tag as moving if a former owner of the resource wrote it. */
function withFormerOwner(
  live: LiveResource,
  { id, ...ownershipTag }: OwnershipTag,
  { record, known }: { readonly record: LedgerRecord; readonly known: RecordedOwner },
): LiveResource {
  const { stack, inherited } = ownershipTag;
  if (inherited || stack === known.stack || !isSameId(record.id, live.id)) return live;
  const isFormer = record.formerOwners?.some(
    (one) => one.stack === stack && (id === undefined || one.id === id),
  );
  return isFormer ? withTag(live, { ...ownershipTag, moving: true }) : live;
}

/** Whether both ids can be those of one resource: a missing id contradicts nothing. */
function isSameId(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

function withTag(live: LiveResource, ownershipTag: OwnershipTag): LiveResource {
  return { ...live, evidence: { ...live.evidence, ownershipTag } };
}

/** The resource with an ownership tag made from its record, for a target that keeps none. */
function withRecordedOwnership(
  live: LiveResource,
  record: LedgerRecord,
  { owned, known }: { readonly owned: OwnedResource; readonly known: RecordedOwner },
): LiveResource {
  if (record.id === undefined || record.id !== live.id) return live;
  const { former, moves, stack } = known;
  const { protect = false, onRemove } = record;
  const from = moves.from.get(owned.at);
  return withTag(live, {
    stack: from ?? (former?.records.has(owned.at) === true ? former.name : stack),
    protect,
    release: onRemove === 'release',
    inherited: false,
    recorded: true,
    ...(from === undefined ? {} : { moving: true as const }),
  });
}
