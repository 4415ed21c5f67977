/**
 * Decides what happens to resources that are no longer declared (rules 22-24): parents, children, and resources in targets that
 * the stack no longer has. Nothing is removed without evidence of ownership, nor after an incomplete read.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { type LiveResource, ownOwnershipTag } from '../model/resource.ts';
import { isAsLastWritten, keptAsChanged } from './last-written.ts';
import type { PlanContext } from './plan-context.ts';
import {
  checkRemovalRequest,
  isDeletable,
  isNameOwned,
  kept,
  type Removal,
  removalFlags,
  removalRequestFix,
  seenRemovalRequests,
  unlessHindered,
} from './removal.ts';

/**
 * A verdict for every undeclared address that is live and ours, or that the ledger has. With a selection only tombstones
 * are judged, because resources outside of it may be declared all the same.
 */
export function removalOfUndeclared(context: PlanContext): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  for (const [text, live] of undeclaredLive(context)) {
    const verdict = removalOfLive(context, live);
    if (verdict !== undefined)
      verdicts.set(text, context.isComplete ? verdict : keptWhenIncomplete(live.address, verdict));
  }
  for (const text of context.unmatched) {
    if (isDeclared(context, text) || verdicts.has(text) || !isKnownGone(context, text)) continue;
    verdicts.set(text, { is: 'forget' });
  }
  for (const removal of keptInLeftTargets(context))
    verdicts.set(formatAddress(removal.mention.address), removal);
  for (const removal of keptUnrecorded(context))
    verdicts.set(formatAddress(removal.mention.address), removal);
  for (const tombstone of seenRemovalRequests(context))
    verdicts.set(formatAddress(tombstone.address), checkRemovalRequest(context, tombstone));
  return verdicts;
}

function isDeclared({ desired, tombstones }: PlanContext, text: AddressText): boolean {
  return desired.has(text) || tombstones.has(text);
}

function undeclaredLive(context: PlanContext): [AddressText, LiveResource][] {
  return context.isSelection ? [] : [...context.live].filter(([text]) => !isDeclared(context, text));
}

/** A record is dropped only when its resource was looked for and everything could be read. */
function isKnownGone(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  if (!context.isInView(address) || context.blindSpot(address) !== undefined) return false;
  return context.unsupported(address) === undefined || !hasParent(context, address);
}

/** Where the service lacks such parts, one may stand behind what it answers, as long as its whole is there (rule 48). */
function hasParent(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  return ownership.by === 'part' && context.live.has(formatAddress(ownership.of(address)));
}

/** After an incomplete look, wherever the gap was, nothing undeclared is removed (architecture: promises). */
function keptWhenIncomplete(address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  return kept(address, 'kept: it is no longer declared, but after an incomplete look nothing is removed');
}

function removalOfLive(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'part') return unlessSecret(context, live, removalOfParent(context, live));
  return context.record(address) === undefined
    ? undefined
    : unlessSecret(context, live, removalOfChild(context, address, ownership.of(address)));
}

/** A change stands in plan files with the name of its resource, which must not be a secret of this run (rule 42). */
function unlessSecret(
  context: PlanContext,
  { address }: LiveResource,
  verdict: Removal | undefined,
): Removal | undefined {
  const isChange = verdict?.is === 'delete' || verdict?.is === 'release' || verdict?.is === 'revoke';
  if (!isChange || context.secretsIn(address.name).length === 0) return verdict;
  return kept(
    address,
    'kept: its name contains a secret of this run',
    'remove it by hand, and revoke the secret',
  );
}

/**
 * One mention for each target that keeps no claims and has resources with our birth mark that the ledger does not know: they were
 * released, or their records are lost, and nothing else would ever speak of them (rule 48).
 */
function keptUnrecorded(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const unrecorded = undeclaredLive(context).flatMap(([, { address, witness }]) => {
    const isUnknown = context.isLedgerOwned(address) && context.record(address) === undefined;
    return isUnknown && witness.claim === undefined && context.isOurs(witness.bornOf) ? [address] : [];
  });
  return [...Map.groupBy(unrecorded, ({ target }) => target).values()].flatMap((addresses) => {
    const [first] = addresses;
    if (first === undefined) return [];
    const names = addresses.map(({ name }) => quoted(name)).toSorted();
    const shown = names.slice(0, 10).join(', ');
    const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
    const message = `not declared; this stack once created ${shown}${more}, and its ledger has no record: left alone`;
    return kept(first, message, 'to manage one again, declare it; to be rid of it, delete it by hand');
  });
}

/** One mention for each target that the stack no longer has: it is not read, and its records are kept. */
function keptInLeftTargets(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const outside = context.unmatched.map(parseAddress).filter((address) => !context.isInView(address));
  return [...Map.groupBy(outside, ({ target }) => target)].flatMap(([target, [address, ...more]]) => {
    if (address === undefined) return [];
    const others = more.length === 0 ? 'it is' : `it and ${more.length} more are`;
    const message = `what this stack applied in target ${quoted(target)} is not looked at any more: ${others} left alone`;
    return kept(address, message, 'add the target again to manage it, or release it there by hand');
  });
}

// Decides what happens to a whole that is no longer declared. Nothing is deleted without witnesses (rules 22, 24): a claim
// alone, a lost ledger or changed content never leads to a deletion.

/** @param live of a kind that is no part. @returns undefined when the resource is not ours and needs no mention */
function removalOfParent(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  const record = context.record(address);
  if (ownership.by === 'claim') return removalOfTagged(context, live, record);
  if (ownership.by === 'ledger' && ownership.undeclared === 'delete')
    return removalOfRecorded(context, live, record);
  return record === undefined
    ? undefined
    : { is: 'release', reason: 'no longer declared; it stays as it is' };
}

/** Rules 22. */
function removalOfTagged(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  const claim = ownOwnershipTag(live.witness);
  if (claim === undefined || !context.isOurClaim(claim)) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and its claim is not ours any more: it is left alone';
    return { is: 'forget', mention: { address, message } };
  }
  const { protect, release } = removalFlags(context, live);
  if (protect) return kept(address, 'no longer declared, and protected: it is kept');
  const declaredAs = context.recordedAt(address);
  if (declaredAs !== undefined && declaredAs !== formatAddress(address) && context.desired.has(declaredAs)) {
    const message = `it is ${quoted(declaredAs)} under a new name, and something else has taken that name: it is kept`;
    return kept(address, message, 'give one of the two its name back, or take the claim off one of them');
  }
  if (release) return { is: 'release', reason: 'no longer declared, and marked for release' };
  if (record === undefined) return removalWithoutRecord(context, live);
  if (record.origin === 'adopted' && !isDeletable(context, live))
    return { is: 'release', reason: 'no longer declared; it was adopted, so it is released and stays' };
  if (context.isLedgerOwned(address) && !context.isOurs(live.witness.bornOf))
    return kept(address, 'no longer declared, but without the birth mark of this stack: it is kept');
  const changed = keptAsChanged(context, live, 'no longer declared');
  if (changed !== undefined) return kept(address, changed.message, changed.fix);
  const why = record.origin === 'created' ? 'this stack created it' : 'its manifest said "onRemove: delete"';
  return unlessHindered(context, live, { is: 'delete', reason: `no longer declared; ${why}` });
}

/** Claim and birth mark are two witnesses; for the missing record, the guard `no-record` must be acknowledged (rules 22). */
function removalWithoutRecord(context: PlanContext, live: LiveResource): Removal {
  const { address, witness } = live;
  const { former } = context;
  if (former?.hasLedger === false && witness.claim?.stack === former.name) {
    const message = `not declared; it is claimed by stack ${quoted(former.name)}, whose ledger is not here: it is kept`;
    return kept(address, message, removalRequestFix);
  }
  if (context.isOurs(witness.bornOf) && !context.isLedgerOwned(address)) {
    const reason = 'not declared; this stack created it, but the ledger has no record of it';
    return unlessHindered(context, live, { is: 'delete', reason });
  }
  const message =
    'not declared; it bears our claim, but nothing proves that this stack created it: it is kept';
  const fix =
    'to delete it, write a document for it with "metadata.remove: safe"; to keep it, remove its claim';
  return kept(address, message, fix);
}

/** Rules 24: roles, and other kinds without claims. */
function removalOfRecorded(
  context: PlanContext,
  live: LiveResource,
  record: LedgerRecord | undefined,
): Removal | undefined {
  const { address } = live;
  if (!isNameOwned(context, address)) {
    if (record === undefined) return undefined;
    const message = 'no longer declared, and not among the names that its target owns: it is left alone';
    return { is: 'forget', mention: { address, message } };
  }
  if (record === undefined) return removalOfUnrecorded(context, live);
  if (record.protect) return kept(address, 'no longer declared, and protected: it is kept');
  if (record.onRemove === 'release') return releaseRecorded(context, address);
  const { exclusive = false } = context.target(address.target).target;
  if (record.origin === 'adopted' && record.onRemove !== 'delete' && !exclusive)
    return { is: 'release', reason: adoptedReason };
  // A resource that was adopted without differences was never written.
  const since = record.origin === 'adopted' ? 'since it was adopted or last written' : 'since our last write';
  if (!isAsLastWritten(context, live, record))
    return kept(address, `no longer declared, but changed ${since}: it is kept`, removalRequestFix);
  const reason = `no longer declared, and unchanged ${since}`;
  return unlessHindered(context, live, { is: 'delete', reason });
}

const adoptedReason =
  'no longer declared; it was adopted, so it is released and its access stays: "onRemove: delete" or a tombstone ends it';

/** In an exclusive target it keeps its record: without one, the next plan would delete it as not ours. */
function releaseRecorded(context: PlanContext, address: Address): Removal {
  const why = 'no longer declared, and marked for release';
  return context.target(address.target).target.exclusive
    ? kept(address, `${why}: it is kept, and remembered for as long as its target is exclusive to the stack`)
    : { is: 'release', reason: `${why}; it stays as it is` };
}

function removalOfUnrecorded(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { owns, exclusive } = context.target(address.target).target;
  if (exclusive) {
    const reason = 'not declared, and this target is exclusive to the stack';
    return unlessHindered(context, live, { is: 'delete', reason });
  }
  if (owns === undefined) return undefined;
  return kept(address, 'not declared, and never written by this stack: it is kept', removalRequestFix);
}

// Decides what happens to a part whose document is gone: it is withdrawn or left as it is, depending on its whole.

/** @param whole address of the resource that the part belongs to */
function removalOfChild(context: PlanContext, address: Address, whole: Address): Removal | undefined {
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
