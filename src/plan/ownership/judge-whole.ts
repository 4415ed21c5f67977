/**
 * Decides what happens to a whole that is no longer declared. Nothing is deleted without witnesses (rules 22, 24): a claim
 * alone, a lost ledger or changed content never leads to a deletion.
 */

import { ownOwnershipTag } from '../../model/resource/claim.ts';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { isDeletable, removalFlags } from './removal-flags.ts';
import { removalRequestFix, isNameOwned, kept, type Removal, unlessHindered } from './removal.ts';
import { isAsLastWritten, keptAsChanged } from './last-written.ts';

/** @param live of a kind that is no part. @returns undefined when the resource is not ours and needs no mention */
export function removalOfParent(context: PlanContext, live: LiveResource): Removal | undefined {
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
