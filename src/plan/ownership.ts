/**
 * Decides whether this stack may write a declared resource. Nothing is taken over silently: a resource that is not provably ours is
 * a problem whose fix says which line adopts it.
 */
import { type Address, formatAddress } from '../model/address.ts';
import {
  type DesiredResource,
  formatOwnershipTag,
  type LiveResource,
  type OwnershipTag,
  shownOwnershipTag,
} from '../model/resource.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { FieldChange } from '../model/field.ts';
import type { Origin } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { missingReference } from './missing-reference.ts';
import type { PlanContext } from './plan-context.ts';
import { isTakenOver } from './take-over-stack.ts';
import { creatorSuffix } from './other-creator.ts';
import {
  movedAway,
  ownedByReceiverProblem,
  renamedWhileMovingProblem,
  takeOverVerdict,
} from './moved-ownership.ts';

/** The ownership tag before and after; each absent if there is none. */
export interface OwnershipTagChange {
  readonly before?: string;
  readonly after?: string;
}

export interface Ours {
  readonly is: 'ours';
  readonly action: 'create' | 'update' | 'adopt';
  readonly reason: string;
  readonly origin: Origin;
  /** the ownership tag that the resource, or its parent, will have */
  readonly ownershipTag?: OwnershipTag;
  /** present when the tag has to be written */
  readonly tagChange?: OwnershipTagChange;
}

interface Refused {
  readonly is: 'problem';
  readonly problem: Diagnostic;
}

type Verdict =
  | Ours
  /** live, not in the ledger: an adoption, which must be acknowledged if it changes anything */
  | { readonly is: 'unrecorded' }
  | Refused
  /** a child whose parent has a problem, which is reported there, or could not be read */
  | { readonly is: 'blocked' };

export function ownershipOfDeclared(context: PlanContext, resource: DesiredResource): Verdict {
  const { ownership } = context.kind(resource.address.kind);
  const live = context.live.get(formatAddress(resource.address));
  if (ownership.by === 'child') return ownershipOfChild(context, resource, ownership.of(resource.address));
  const moving = renamedWhileMovingProblem(context, resource);
  if (moving !== undefined) return refuse(resource, moving);
  if (live === undefined) return ownershipOfMissing(context, resource, ownership.by === 'claim');
  if (ownership.by === 'ledger') return ownershipByRecord(context, resource);
  const verdict = ownershipByTag(context, resource, live);
  return context.isLedgerOwned(resource.address) ? ownershipWithoutTag(context, resource, verdict) : verdict;
}

/**
 * The verdict in a target that keeps no ownership tags: none is added, and another stack may own the resource without a tag. If the
 * service nevertheless shows a tag of ours, the tag is maintained: its flags follow `protect` and `onRemove` of the manifest.
 */
function ownershipWithoutTag(context: PlanContext, resource: DesiredResource, verdict: Verdict): Verdict {
  const evidence = context.live.get(formatAddress(resource.address))?.evidence ?? {};
  if (verdict.is === 'problem' && verdict.problem.code === 'exists-unclaimed')
    return refuse(resource, unrecordedProblem(context, resource));
  if (verdict.is !== 'ours' || shownOwnershipTag(evidence) !== undefined) return verdict;
  const { ownershipTag: _, tagChange: __, ...own } = verdict;
  // The service does not show this tag: it was made from the record of the resource.
  if (evidence.ownershipTag !== undefined) return own;
  if (own.action !== 'adopt') return { ...own, reason: 'created by an interrupted apply of this stack' };
  const why = resource.metadata.adopt
    ? 'and the manifest adopts it'
    : 'and its creator mark alone does not prove who owns it now';
  return { ...own, reason: `exists without a record in this ledger, ${why}` };
}

function ownershipOfMissing(context: PlanContext, resource: DesiredResource, hasTag: boolean): Verdict {
  const known = context.record(resource.address) !== undefined;
  const isReadCompletely = context.incompleteReason(resource.address) === undefined;
  const why = isReadCompletely ? 'it no longer exists' : 'it was not found, and the read is incomplete';
  const reason = known ? `declared and applied before, but ${why}` : 'declared, not live';
  const ownershipTag = desiredOwnershipTag(context, resource);
  const isOwnedByTag = hasTag && !context.isLedgerOwned(resource.address);
  return {
    is: 'ours',
    action: 'create',
    reason,
    origin: 'created',
    ...(isOwnedByTag ? { ownershipTag, tagChange: { after: formatOwnershipTag(ownershipTag) } } : {}),
  };
}

function desiredOwnershipTag({ plainTag }: PlanContext, { metadata }: DesiredResource): OwnershipTag {
  const [protect, release] = [metadata.protect ?? false, metadata.onRemove === 'release'];
  return protect || release ? { ...plainTag, protect, release } : plainTag;
}

/** The verdict about a live resource that can have an ownership tag. */
function ownershipByTag(context: PlanContext, resource: DesiredResource, live: LiveResource): Verdict {
  const { ownershipTag, creatorStack } = live.evidence;
  const refused = refusedOwnershipTag(context, resource, ownershipTag);
  if (refused !== undefined) return refused;
  const record = context.record(resource.address);
  const wanted = desiredOwnershipTag(context, resource);
  const isCreatedHere = context.isOurs(creatorStack) && provesByMark(context, resource, ownershipTag);
  const origin = record?.origin ?? originWithoutRecord(context, resource, { isCreatedHere, ownershipTag });
  const own = { is: 'ours', origin, ownershipTag: wanted } as const;
  const [before, after] = [ownershipTag && formatOwnershipTag(ownershipTag), formatOwnershipTag(wanted)];
  if (ownershipTag?.stack !== context.stack.name && isTakenOver(context, resource.address, live))
    return {
      ...own,
      ...takeOverVerdict(context, resource.address, live),
      tagChange: { ...(before === undefined ? {} : { before }), after },
    };
  if (before !== undefined) {
    const tagChange = before === after ? {} : { tagChange: { before, after } };
    return { ...own, action: 'update', reason: liveDiffers, ...tagChange };
  }
  // A record with an id was found by the id of this resource. A record without one may be about an earlier resource with this name.
  if (isCreatedHere || record?.id !== undefined) {
    const reason = 'ours, but its ownership tag was removed: the tag is restored';
    return { ...own, action: 'update', reason, tagChange: { after } };
  }
  return ownershipOfUnowned(context, resource, { ...own, tagChange: { after } });
}

function ownershipOfUnowned(
  context: PlanContext,
  resource: DesiredResource,
  own: Omit<Ours, 'action' | 'reason'>,
): Verdict {
  const hasOurMark = context.isOurs(context.live.get(formatAddress(resource.address))?.evidence.creatorStack);
  return resource.metadata.adopt || (hasOurMark && context.isLedgerOwned(resource.address))
    ? { ...own, action: 'adopt', reason: 'exists without an ownership tag, and the manifest adopts it' }
    : refuse(resource, unownedProblem(context, resource));
}

/** The origin without a record. For kinds without a creator mark, our tag and a history entry that begins the creation prove the same. */
function originWithoutRecord(
  context: PlanContext,
  { address }: DesiredResource,
  known: { readonly isCreatedHere: boolean; readonly ownershipTag: OwnershipTag | undefined },
): Origin {
  const isBegun = known.ownershipTag !== undefined && context.hasBegunToCreate(address);
  return known.isCreatedHere || isBegun ? 'created' : 'adopted';
}

/**
 * Whether our creator mark proves that the resource is ours. Without the ownership tag, the resource may have been released since, or
 * belong to a stack with the same name in another repository, unless an interrupted apply of this stack was creating it.
 */
function provesByMark(
  context: PlanContext,
  { address }: DesiredResource,
  ownershipTag: OwnershipTag | undefined,
): boolean {
  return ownershipTag !== undefined || context.hasBegunToCreate(address);
}

const liveDiffers = 'declared, and live differs';

/** An ownership tag that forbids writing: another stack's, or one that is inherited from a project. */
function refusedOwnershipTag(
  context: PlanContext,
  resource: DesiredResource,
  ownershipTag: OwnershipTag | undefined,
): Refused | undefined {
  if (ownershipTag?.inherited) return refuse(resource, inheritedTagProblem(resource, ownershipTag));
  if (ownershipTag === undefined || context.isOurTag(ownershipTag)) return undefined;
  const away = movedAway(context, resource.address);
  if (away?.to.stack === ownershipTag.stack) return refuse(resource, ownedByReceiverProblem(resource, away));
  return refuse(
    resource,
    context.isOurs(ownershipTag.stack)
      ? foreignIdProblem(resource, ownershipTag)
      : ownedByAnotherProblem(resource, ownershipTag),
  );
}

/** The verdict about a resource that can have no ownership tag: the ledger is the evidence. */
function ownershipByRecord(context: PlanContext, resource: DesiredResource): Verdict {
  const record = context.record(resource.address);
  const away = movedAway(context, resource.address);
  if (away !== undefined) return refuse(resource, ownedByReceiverProblem(resource, away));
  if (record === undefined) return { is: 'unrecorded' };
  if (isTakenOver(context, resource.address, undefined))
    return { is: 'ours', ...takeOverVerdict(context, resource.address, undefined), origin: record.origin };
  return { is: 'ours', action: 'update', reason: liveDiffers, origin: record.origin };
}

/**
 * The verdict about a live resource without a record, once its differences are known. It is adopted, and shown, even
 * if it is as declared, because that does not prove who created it. Only a resource that an interrupted apply of ours had
 * begun to create is ours as created, if no readable field differs; fields with unknown values are written again.
 */
export function ownershipOfUnrecorded(
  context: PlanContext,
  { address, metadata }: DesiredResource,
  fields: readonly FieldChange[],
): Ours {
  if (context.hasBegunToCreate(address) && fields.every(({ unknown }) => unknown !== undefined))
    return { is: 'ours', action: 'update', reason: liveDiffers, origin: 'created' };
  const own = { is: 'ours', action: 'adopt', origin: 'adopted' } as const;
  if (fields.length === 0) {
    const reason = 'exists as declared, and was never written by this stack: nothing is sent, it is recorded';
    return { ...own, reason };
  }
  const adoption = metadata.adopt ? ', and the manifest adopts it' : '';
  return { ...own, reason: `exists, differs, and was never written by this stack${adoption}` };
}

/** A child belongs to the owner of its parent. */
function ownershipOfChild(context: PlanContext, resource: DesiredResource, parent: Address): Verdict {
  const declared = context.desired.get(formatAddress(parent));
  if (context.unreadReason(parent) !== undefined) return { is: 'blocked' };
  return declared === undefined
    ? ownershipOfUndeclaredChild(context, resource, parent)
    : ownershipOfDeclaredChild(context, resource, ownershipOfDeclared(context, declared));
}

function childUpdate(context: PlanContext, { address }: DesiredResource): Ours {
  const origin = context.record(address)?.origin ?? 'adopted';
  return { is: 'ours', action: 'update', reason: liveDiffers, origin };
}

function ownershipOfDeclaredChild(context: PlanContext, resource: DesiredResource, parent: Verdict): Verdict {
  if (parent.is === 'problem' || parent.is === 'blocked') return { is: 'blocked' };
  const update = childUpdate(context, resource);
  if (parent.is === 'unrecorded') return update;
  // Children of a parent that this stack created are ours, even if a crash prevented their records.
  const origin = context.record(resource.address)?.origin ?? parent.origin;
  const own = {
    ...update,
    origin,
    ...(parent.ownershipTag === undefined ? {} : { ownershipTag: parent.ownershipTag }),
  };
  if (parent.action !== 'create') return own;
  return {
    ...own,
    action: 'create',
    reason: 'declared for a resource that this plan creates',
    origin: 'created',
  };
}

function ownershipOfUndeclaredChild(
  context: PlanContext,
  resource: DesiredResource,
  parent: Address,
): Verdict {
  const live = context.live.get(formatAddress(parent));
  if (live === undefined) return refuse(resource, missingParentProblem(context, resource, parent));
  const { ownershipTag } = live.evidence;
  const refused = refusedOwnershipTag(context, resource, ownershipTag);
  if (refused !== undefined) return refused;
  const update = childUpdate(context, resource);
  if (ownershipTag !== undefined || context.record(resource.address) !== undefined) return update;
  if (resource.metadata.adopt) {
    const reason = `${quoted(formatAddress(parent))} has no ownership tag, and the manifest adopts this child of it`;
    return { ...update, action: 'adopt', reason };
  }
  return refuse(resource, unownedParentProblem(context, resource, parent));
}

type ProblemText = Pick<Diagnostic, 'code' | 'class' | 'message' | 'fix'>;

function refuse(resource: DesiredResource, text: ProblemText): Refused {
  return { is: 'problem', problem: { severity: 'error', place: resource.place, ...text } };
}

function unownedProblem(context: PlanContext, { address }: DesiredResource): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} exists without an ownership tag of any stack${creatorSuffix(context, address)}`,
    fix: 'add "adopt: true" to its metadata to take it over; the next plan then shows every difference',
  };
}

function unrecordedProblem(context: PlanContext, { address }: DesiredResource): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} exists, but the ledger of this stack has no record of it${creatorSuffix(context, address)}`,
    fix: 'make sure that no other stack owns it, and add "adopt: true" to its metadata; the next plan then shows every difference',
  };
}

function unownedParentProblem(
  context: PlanContext,
  { address }: DesiredResource,
  parent: Address,
): ProblemText {
  return {
    code: 'exists-unclaimed',
    class: 'conflict',
    message: `${quoted(formatAddress(parent))}, the parent of ${quoted(formatAddress(address))}, has no ownership tag of any stack${creatorSuffix(context, address)}`,
    fix: 'declare it in this stack, or add "adopt: true" to the metadata here to take over only this child',
  };
}

function ownedByAnotherProblem({ address }: DesiredResource, ownershipTag: OwnershipTag): ProblemText {
  return {
    code: 'claimed-by-another-stack',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} belongs to stack ${quoted(ownershipTag.stack)}`,
    fix: `move it here with "trueup move" in that stack, or release it there (metadata.onRemove: release) and adopt it here; if this stack had that name before, write ${quoted(`renamedFrom: ${ownershipTag.stack}`)} into the "metadata" of the stack`,
  };
}

/** The tag has our stack's name and another id: it is from another repository, or from this stack before its ledger was lost. */
function foreignIdProblem({ address }: DesiredResource, { stack, id = '' }: OwnershipTag): ProblemText {
  return {
    code: 'claimed-by-another-id',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} belongs to another stack that is called ${quoted(stack)}, too: its ownership tag has the id ${quoted(id)}, which is not that of this stack's ledger`,
    fix: 'if the ledger of this stack was lost, rebuild it with "trueup recover". If it is another stack, rename one of the two, or take over what it has with "trueup recover --adopt-repository"',
  };
}

function inheritedTagProblem({ address }: DesiredResource, ownershipTag: OwnershipTag): ProblemText {
  return {
    code: 'claim-inherited',
    class: 'conflict',
    message: `${quoted(formatAddress(address))} inherits the ownership tag of stack ${quoted(ownershipTag.stack)} from its project, whose workspaces would all belong to that stack`,
    fix: 'remove that tag binding from the project',
  };
}

function missingParentProblem(
  context: PlanContext,
  { address }: DesiredResource,
  parent: Address,
): ProblemText {
  const refers = `${quoted(formatAddress(address))} is a child of ${quoted(formatAddress(parent))}`;
  return { code: 'unknown-reference', ...missingReference(context, parent, refers) };
}
