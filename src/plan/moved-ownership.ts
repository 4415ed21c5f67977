/** What a plan reports about resources that move between stacks: in the stack that takes them over, and in their former owner. Pure. */
import { type Address, formatAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { MovedAway } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import {
  type DesiredResource,
  type LiveResource,
  type OwnershipEvidence,
  ownOwnershipTag,
} from '../model/resource.ts';
import type { PlanContext } from './plan-context.ts';

/** Whether the creator mark is ours, or that of a stack from which the resource moved to us. */
export function hasOurMark(
  context: Pick<PlanContext, 'isOurs' | 'record'>,
  {
    address,
    evidence: { creatorStack },
  }: { readonly address: Address; readonly evidence: OwnershipEvidence },
): boolean {
  if (context.isOurs(creatorStack)) return true;
  const { formerOwners = [] } = context.record(address) ?? {};
  return formerOwners.some(({ stack }) => stack === creatorStack);
}

/** The other stack that owns the resource until this stack has taken it over completely. */
export function movingFrom(
  context: PlanContext,
  address: Address,
  live: LiveResource | undefined,
): string | undefined {
  const { moves } = context;
  const recorded = moves.from.size === 0 ? undefined : context.recordedAt(address);
  const from = recorded === undefined ? undefined : moves.from.get(recorded);
  if (from !== undefined) return from;
  const ownershipTag = live && ownOwnershipTag(live.evidence);
  return ownershipTag?.moving ? ownershipTag.stack : undefined;
}

/** The adoption of a resource that comes from another stack, or from the former name of this one. */
export function takeOverVerdict(
  context: PlanContext,
  address: Address,
  live: LiveResource | undefined,
): { readonly action: 'adopt'; readonly reason: string } {
  const from = movingFrom(context, address, live);
  const reason =
    from === undefined
      ? `belongs to stack ${quoted(context.former?.name ?? '')}, the former name of this one`
      : `moves from stack ${quoted(from)} to this one, ${isWithoutRecord(context, address) ? 'without a record' : 'with its record and history'}`;
  return { action: 'adopt', reason };
}

function isWithoutRecord({ moves, recordedAt }: PlanContext, address: Address): boolean {
  return moves.withoutRecord.has(recordedAt(address) ?? formatAddress(address));
}

/** Where the resource is now, if another stack has taken it over and this one has not got it back. */
export function movedAway(context: PlanContext, address: Address): MovedAway | undefined {
  const away = context.ledger.movedAway?.get(formatAddress(address));
  return context.record(address) === undefined ? away : undefined;
}

/**
 * The stack that a live resource, or the parent of a child, moves or moved to, even if it has another name now: the ledger has its id
 * at the address of the move. This stack neither changes nor removes it.
 */
export function receivingStack(context: PlanContext, address: Address): string | undefined {
  if (context.movesAway.size === 0 && context.ledger.movedAway === undefined) return undefined;
  const id = context.live.get(formatAddress(address))?.id;
  if (id === undefined) return undefined;
  const { ownership } = context.kind(address.kind);
  const owned = ownership.by === 'child' ? ownership.of(address) : address;
  const moving = context.movingWithId(owned, id);
  if (moving !== undefined) return moving.metadata.movedTo?.stack;
  return context.record(owned) === undefined ? context.movedAwayWithId(owned, id)?.to.stack : undefined;
}

/** The problem of a declared resource whose id is that of a resource for which another document has `movedTo`. */
export function renamedWhileMovingProblem(
  context: PlanContext,
  { address }: DesiredResource,
): Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'> | undefined {
  const stack = receivingStack(context, address);
  if (stack === undefined || context.record(address) === undefined) return undefined;
  return {
    code: 'move-impossible',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} is the new name of the resource that moves to stack ${quoted(stack)}`,
    fix: 'rename it back in the service, or remove one of the two documents',
  };
}

export function ownedByReceiverProblem(
  { address }: DesiredResource,
  { to, at }: MovedAway,
): Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'> {
  return {
    code: 'moved-away',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} belongs to stack ${quoted(to.stack)}, which took it over from this stack at ${at}`,
    fix: `remove its manifest here; to take it back, write ${quoted(`movedFrom: { stack: ${to.stack} }`)} into its metadata`,
  };
}

/** The notice for a document with `movedTo`, for which nothing is written. */
export function noticeOfMove(
  context: PlanContext,
  { address, metadata: { movedTo } }: DesiredResource,
): Notice {
  const stack = quoted(movedTo?.stack ?? '');
  const live = context.live.get(formatAddress(address));
  const away = movedAway(context, address);
  if (context.record(address) !== undefined)
    return {
      address,
      message: `kept: it stays with this stack until stack ${stack} takes it over`,
      fix: `apply stack ${stack}, where its metadata has ${quoted(`movedFrom: { stack: ${context.stack.name} }`)}`,
    };
  if (away !== undefined && away.to.stack !== movedTo?.stack)
    return {
      address,
      message: `stack ${quoted(away.to.stack)} took it over at ${away.at}, but this document names stack ${stack}`,
      fix: `to let stack ${stack} own it, write ${quoted(`movedFrom: { stack: ${away.to.stack} }`)} there; then delete this document`,
    };
  if (away !== undefined)
    return {
      address,
      message: `stack ${quoted(away.to.stack)} took it over at ${away.at}: this document can be deleted`,
    };
  if (live !== undefined && context.hasOurTag(live.evidence))
    return {
      address,
      message: `kept, but stack ${stack} cannot take it over: the ledger of this stack has no record of it`,
      fix: 'declare it here again, rebuild the record with "trueup recover", and move it then',
    };
  return { address, message: 'it does not belong to this stack: this document can be deleted' };
}

/** Why nothing can be taken over: because of the ledgers, or because a resource could not be read, so that the plan does not show it. */
export function moveProblems(context: PlanContext): Diagnostic[] {
  const { from, problems } = context.moves;
  const unread = [...from].flatMap(([text, stack]): Diagnostic[] => {
    const resource = context.desired.get(text);
    const why = resource && context.unreadReason(resource.address);
    if (resource === undefined || why === undefined) return [];
    return [
      {
        code: 'move-impossible',
        severity: 'error',
        class: 'incomplete',
        message: `${quoted(text)} cannot be taken over from stack ${quoted(stack)} while it cannot be read: ${why}`,
        place: resource.place,
        fix: 'make it possible to read it, then plan again',
      },
    ];
  });
  return [...problems, ...unread];
}

/** A notice for each resource that this stack has taken over completely: its `movedFrom` can be removed. */
export function doneMoves(context: PlanContext): Notice[] {
  return [...context.desired.values()].flatMap(({ address, metadata: { movedFrom } }) => {
    const live = context.live.get(formatAddress(address));
    if (movedFrom === undefined || context.record(address) === undefined) return [];
    if (movingFrom(context, address, live) !== undefined) return [];
    return [{ address, message: 'this stack owns it: "movedFrom" can be removed from its metadata' }];
  });
}
