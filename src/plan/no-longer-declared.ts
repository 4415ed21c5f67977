/**
 * Decides what happens to resources that are no longer declared: parents, children, and resources in targets that
 * the stack no longer has. Nothing is removed without evidence of ownership, nor after an incomplete read.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { formatIdentity, identityOf } from '../model/stack.ts';
import { type LiveResource, ownOwnershipTag } from '../model/resource.ts';
import { keptAsBegun } from './begun-writes.ts';
import { withRemovalsElsewhere } from './former-name-requests.ts';
import { keepNonEmpty } from './non-empty-containers.ts';
import { isAsLastWritten, keptAsChanged } from './last-written.ts';
import type { PlanContext } from './plan-context.ts';
import {
  checkRemovalRequest,
  isDeletableByRecord,
  isNameOwned,
  kept,
  type Removal,
  removalFlags,
  removalRequestFix,
  seenRemovalRequests,
  unlessBlocked,
} from './removal.ts';
import { hasOurMark, movedAway, receivingStack, noticeOfMove } from './moved-ownership.ts';

/**
 * A verdict for every undeclared address that is live and ours, or that the ledger has. With a selection only removal requests
 * get one, because resources outside of it may still be declared.
 */
export function removalOfUndeclared(context: PlanContext): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  const verdictOf = (address: Address, verdict: Removal) =>
    unlessMoving(context, address, context.isComplete ? verdict : keptWhenIncomplete(address, verdict));
  for (const [text, live] of undeclaredLive(context)) {
    const verdict = removalOfLive(context, live);
    if (verdict !== undefined) verdicts.set(text, verdictOf(live.address, verdict));
  }
  for (const text of context.unmatched) {
    if (isDeclared(context, text) || verdicts.has(text) || !isKnownGone(context, text)) continue;
    verdicts.set(text, isFoundAgain(context, text) ? { is: 'forget' } : keptUnseen(parseAddress(text)));
  }
  for (const removal of [...keptInRemovedTargets(context), ...keptUnrecorded(context)])
    verdicts.set(formatAddress(removal.notice.address), removal);
  for (const [text, resource] of context.movesAway)
    if (context.unreadReason(resource.address) === undefined)
      verdicts.set(text, { is: 'notice', notice: noticeOfMove(context, resource) });
  for (const removalRequest of seenRemovalRequests(context)) {
    const { address } = removalRequest;
    const verdict = unlessMoving(context, address, checkRemovalRequest(context, removalRequest));
    verdicts.set(formatAddress(address), verdict);
  }
  return withRemovalsElsewhere(context, keepNonEmpty(context, verdicts));
}

function isDeclared(context: PlanContext, text: AddressText): boolean {
  const { desired, removalRequests, movesAway } = context;
  if (desired.has(text) || removalRequests.has(text) || movesAway.has(text)) return true;
  const address = parseAddress(text);
  if (movesAway.size === 0 || !context.isInView(address)) return false;
  // The children of a resource move with it.
  const { ownership } = context.kind(address.kind);
  return ownership.by === 'child' && movesAway.has(formatAddress(ownership.of(address)));
}

function undeclaredLive(context: PlanContext): [AddressText, LiveResource][] {
  return context.isSelection ? [] : [...context.live].filter(([text]) => !isDeclared(context, text));
}

/**
 * Whether the record can be dropped even if the token just cannot see the resource now: it is live under another name, a later plan finds
 * it without its record, or this run has deleted it.
 */
function isFoundAgain(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'claim' || ownership.foundByLedgerOnly !== true) return true;
  if (context.deleted.has(text)) return true;
  const { id } = context.ledger.records.get(text) ?? {};
  return id !== undefined && context.liveWithId(address, id) !== undefined;
}

function keptUnseen(address: Address): Removal {
  return kept(
    address,
    'not found, and its record is kept: a token that may not read it gets the same answer',
    'to drop the record, write a document for it with "metadata.remove: safe"',
  );
}

/** Whether the resource of a record is certainly gone: everything that could show it was read. Only then the record is dropped. */
function isKnownGone(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  if (!context.isInView(address) || context.incompleteReason(address) !== undefined) return false;
  return context.unsupported(address) === undefined || !hasParent(context, address);
}

/** Whether the parent of this child exists: then the child may exist unseen in a service that does not support its kind. */
function hasParent(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  return ownership.by === 'child' && context.live.has(formatAddress(ownership.of(address)));
}

/** After any incomplete read, nothing undeclared is removed (architecture: promises). */
function keptWhenIncomplete(address: Address, verdict: Removal): Removal {
  if (verdict.is === 'notice' || verdict.is === 'problem') return verdict;
  return kept(address, 'kept: it is no longer declared, but the plan is incomplete, so nothing is removed');
}

/** A resource that moves is left alone, also under a new name in the service. */
function unlessMoving(context: PlanContext, address: Address, verdict: Removal): Removal {
  if (verdict.is === 'notice' || verdict.is === 'problem') return verdict;
  const stack = receivingStack(context, address);
  return stack === undefined ? verdict : kept(address, `kept: it moves to stack ${quoted(stack)}`);
}

function removalOfLive(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'child') return unlessSecret(context, live, removalOfParent(context, live));
  return context.record(address) === undefined
    ? undefined
    : unlessSecret(context, live, removalOfChild(context, address, ownership.of(address)));
}

/** Plan files contain the names of changed resources, which must not be secrets of this run. */
function unlessSecret(
  context: PlanContext,
  { address }: LiveResource,
  verdict: Removal | undefined,
): Removal | undefined {
  const isChange = verdict?.is === 'delete' || verdict?.is === 'release' || verdict?.is === 'withdraw';
  if (!isChange || context.secretsIn(address.name).length === 0) return verdict;
  return kept(
    address,
    'kept: its name contains a secret of this run',
    'remove it by hand, and revoke the secret',
  );
}

/**
 * One notice for each target that keeps no ownership tags and has resources with our creator mark but without a record: they were
 * released, or their records are lost, and nothing else would report them.
 */
function keptUnrecorded(context: PlanContext): Extract<Removal, { is: 'notice' }>[] {
  const unrecorded = undeclaredLive(context).flatMap(([, { address, evidence }]) => {
    const isUnknown = context.isLedgerOwned(address) && context.record(address) === undefined;
    return isUnknown && evidence.ownershipTag === undefined && context.isOurs(evidence.creatorStack)
      ? [address]
      : [];
  });
  return [...Map.groupBy(unrecorded, ({ target }) => target).values()].flatMap((addresses) => {
    const [first] = addresses;
    if (first === undefined) return [];
    const names = addresses.map(({ name }) => quoted(name)).toSorted();
    const shown = names.slice(0, 10).join(', ');
    const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
    const message = `not declared; this stack created ${shown}${more}, but its ledger has no record: left alone`;
    return kept(first, message, 'to manage one again, declare it; to remove it, delete it by hand');
  });
}

/** One notice for each target that the stack no longer has: it is not read, and its records are kept. */
function keptInRemovedTargets(context: PlanContext): Extract<Removal, { is: 'notice' }>[] {
  const outside = context.unmatched.map(parseAddress).filter((address) => !context.isInView(address));
  if (outside.length === 0) return [];
  const nameAt = new Map(
    context.stack.targets.map((target) => [formatIdentity(identityOf(target)), target.name] as const),
  );
  return [...Map.groupBy(outside, ({ target }) => target)].flatMap(([target, [address, ...more]]) => {
    if (address === undefined) return [];
    const others = more.length === 0 ? 'it is' : `it and ${more.length} more are`;
    const message = `no target of this stack is called ${quoted(target)} now: ${others} left alone`;
    const identity = context.ledger.targets?.get(target);
    // The target got another name.
    const renamed = identity === undefined ? undefined : nameAt.get(identity);
    const fix =
      renamed === undefined
        ? 'add the target again to manage it, or release it there by hand'
        : `target ${quoted(renamed)} has the same address: to keep the records, call it ${quoted(target)} again`;
    return kept(address, message, fix);
  });
}

// Decides what happens to a parent that is no longer declared. Nothing is deleted without evidence: an ownership tag
// alone, a lost ledger or changed content never causes a deletion.

/** @param live not a child. @returns undefined when the resource is not ours and needs no notice */
function removalOfParent(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  const record = context.record(address);
  if (ownership.by === 'claim') return removalOfTagged(context, live, record);
  if (ownership.by === 'ledger' && ownership.undeclared === 'delete')
    return removalOfRecorded(context, live, record);
  if (record !== undefined) return { is: 'release', reason: 'no longer declared; it stays as it is' };
  return context.hasBegunToCreate(address) ? keptAsBegun(context, address) : undefined;
}

/** The removal of an undeclared resource that has an ownership tag. */
function removalOfTagged(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  const ownershipTag = ownOwnershipTag(live.evidence);
  if (ownershipTag === undefined || !context.isOurTag(ownershipTag)) {
    if (record === undefined) return undefined;
    const message =
      'no longer declared, and it no longer has the ownership tag of this stack: it is left alone';
    return { is: 'forget', notice: { address, message } };
  }
  const { protect, release } = removalFlags(context, live);
  if (protect) return kept(address, 'no longer declared, and protected: it is kept');
  const declaredAs = context.recordedAt(address);
  if (declaredAs !== undefined && declaredAs !== formatAddress(address) && context.desired.has(declaredAs)) {
    const message = `it is ${quoted(declaredAs)} under a new name, and another resource has that name now: it is kept`;
    return kept(address, message, 'rename one of the two back, or remove the ownership tag from one of them');
  }
  if (release) return { is: 'release', reason: 'no longer declared, and marked for release' };
  if (record === undefined) return removalWithoutRecord(context, live);
  if (record.origin === 'adopted' && !isDeletableByRecord(context, live))
    return { is: 'release', reason: 'no longer declared; it was adopted, so it is released and stays' };
  if (context.isLedgerOwned(address) && !hasOurMark(context, live))
    return kept(address, 'no longer declared, but without the creator mark of this stack: it is kept');
  const changed = keptAsChanged(context, live, 'no longer declared');
  if (changed !== undefined) return kept(address, changed.message, changed.fix);
  const why = record.origin === 'created' ? 'this stack created it' : 'its manifest had "onRemove: delete"';
  return unlessBlocked(context, live, { is: 'delete', reason: `no longer declared; ${why}` });
}

/** Ownership tag and creator mark together allow a deletion. Because the record is missing, the guard `no-record` must be acknowledged. */
function removalWithoutRecord(context: PlanContext, live: LiveResource): Removal {
  const { address, evidence } = live;
  const { former } = context;
  if (former?.hasLedger === false && evidence.ownershipTag?.stack === former.name) {
    const message = `not declared; it belongs to stack ${quoted(former.name)}, whose ledger was not found: it is kept`;
    return kept(address, message, removalRequestFix);
  }
  if (context.isOurs(evidence.creatorStack) && !context.isLedgerOwned(address)) {
    const reason = 'not declared; this stack created it, but the ledger has no record of it';
    return unlessBlocked(context, live, { is: 'delete', reason });
  }
  const message =
    'not declared; it has the ownership tag of this stack, but nothing proves that this stack created it: it is kept';
  const fix =
    'to delete it, write a document for it with "metadata.remove: safe"; to keep it, remove its ownership tag';
  return kept(address, message, fix);
}

/** The removal of undeclared roles, and of other kinds without ownership tags. */
function removalOfRecorded(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  if (!isNameOwned(context, address)) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and its name is not in "owns" of the target: it is left alone';
    return { is: 'forget', notice: { address, message } };
  }
  const away = movedAway(context, address);
  if (away !== undefined)
    return kept(address, `it moved to stack ${quoted(away.to.stack)}: it is left alone`);
  if (record === undefined) return removalOfUnrecorded(context, live);
  if (record.protect) return kept(address, 'no longer declared, and protected: it is kept');
  if (record.onRemove === 'release') return releaseRecorded(context, address);
  const { exclusive = false } = context.target(address.target).target;
  if (record.origin === 'adopted' && record.onRemove !== 'delete' && !exclusive)
    return { is: 'release', reason: adoptedReason };
  // A resource that was adopted without differences was never written.
  const since =
    record.origin === 'adopted' ? 'since it was adopted or last written' : 'since this stack last wrote it';
  if (!isAsLastWritten(context, live, record))
    return kept(address, `no longer declared, but changed ${since}: it is kept`, removalRequestFix);
  const reason = `no longer declared, and unchanged ${since}`;
  return unlessBlocked(context, live, { is: 'delete', reason });
}

const adoptedReason =
  'no longer declared; it was adopted, so it is released and its access stays: "onRemove: delete" or a removal request removes it';

/** In an exclusive target a released resource keeps its record: without one, the next plan would delete it as not ours. */
function releaseRecorded(context: PlanContext, address: Address): Removal {
  const why = 'no longer declared, and marked for release';
  return context.target(address.target).target.exclusive
    ? kept(address, `${why}: it is kept, and so is its record while the target is exclusive to the stack`)
    : { is: 'release', reason: `${why}; it stays as it is` };
}

function removalOfUnrecorded(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { owns, exclusive } = context.target(address.target).target;
  if (exclusive) {
    const reason = 'not declared, and this target is exclusive to the stack';
    return unlessBlocked(context, live, { is: 'delete', reason });
  }
  if (context.hasBegunToCreate(address)) return keptAsBegun(context, address);
  if (owns === undefined) return undefined;
  return kept(address, 'not declared, and never written by this stack: it is kept', removalRequestFix);
}

/** What happens to a child whose document is gone: it is withdrawn or left as it is, depending on its parent. */
function removalOfChild(context: PlanContext, address: Address, parent: Address): Removal | undefined {
  const text = formatAddress(parent);
  const live = context.live.get(text);
  const isUndeclared = live !== undefined && !context.desired.has(text);
  const ownershipTag = live && ownOwnershipTag(live.evidence);
  if (isUndeclared && ownershipTag !== undefined) {
    // A child is deleted or released with its parent. Its record stays until then: the notes of the release come from it.
    if (context.isOurTag(ownershipTag))
      return context.record(parent) === undefined && isReleased(context, live) ? { is: 'forget' } : undefined;
    const message = `no longer declared, and ${quoted(text)} belongs to stack ${quoted(ownershipTag.stack)}: it is left alone`;
    return { is: 'forget', notice: { address, message } };
  }
  // Our ownership tag was removed from the parent, so neither it nor its children are written any more.
  if (isUndeclared && context.record(parent) !== undefined) return { is: 'forget' };
  return {
    is: 'withdraw',
    reason: `no longer declared for ${quoted(text)}: what this stack had set is removed`,
  };
}

/** Whether the parent is released, so that its children stay as they are. */
function isReleased(context: PlanContext, live: LiveResource): boolean {
  if (context.removalRequests.has(formatAddress(live.address))) return false;
  return context.isComplete && removalOfParent(context, live)?.is === 'release';
}
