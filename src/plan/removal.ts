/**
 * The decisions about resources that are no longer declared, what their ownership tag, record and creator mark allow, and
 * removal requests: documents that ask for a deletion (rules 22, 23, 48).
 */
import { type Address, formatAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { ownsName } from '../model/name-pattern.ts';
import { quoted } from '../model/quoted.ts';
import {
  type DesiredResource,
  type LiveResource,
  type OwnershipTag,
  ownOwnershipTag,
} from '../model/resource.ts';
import { keptAsChanged } from './last-written.ts';
import type { PlanContext } from './plan-context.ts';

export type Removal =
  | {
      readonly is: 'delete';
      readonly reason: string;
      readonly remove?: 'safe' | 'force';
      readonly place?: Diagnostic['place'];
    }
  /** the claim goes, or the ledger forgets it; the resource stays */
  | { readonly is: 'release'; readonly reason: string }
  /** for a part: what this stack had set is taken back */
  | { readonly is: 'revoke'; readonly reason: string }
  | { readonly is: 'mention'; readonly mention: Notice }
  | { readonly is: 'problem'; readonly problem: Diagnostic }
  /** the ledger drops its record; nothing else */
  | { readonly is: 'forget'; readonly mention?: Notice };

export function kept(address: Address, message: string, fix?: string): Extract<Removal, { is: 'mention' }> {
  return { is: 'mention', mention: { address, message, ...(fix === undefined ? {} : { fix }) } };
}

/** The fix for a kept resource that the user wants to delete. */
export const removalRequestFix =
  'to delete it all the same, write a document for it with "metadata.remove: safe"';

/**
 * The removal, or a mention in its place where something is known to stand against the deletion. Whether the service or trueup
 * would refuse it is part of each obstacle: a service without a safe delete refuses nothing (rule 48).
 */
export function unlessHindered(context: PlanContext, live: LiveResource, removal: Removal): Removal {
  const { address } = live;
  const { blockers, overridden } = context.kind(address.kind);
  const obstacles = blockers?.(live, 'delete', context.record(address)) ?? [];
  if (obstacles.length === 0) return removal;
  const message = `to be deleted, but kept: ${obstacles.join('; ')}`;
  return overridden === undefined ? kept(address, message) : kept(address, message, forceFix);
}

const forceFix =
  'to delete it anyway, write a document for it with "metadata.remove: force", which the guard "forced-delete" stops until it is acknowledged';

/** Whether the name belongs to this stack in its target. */
export function isNameOwned(context: PlanContext, { kind, target, name }: Address): boolean {
  return ownsName(context.target(target).target, name, context.kind(kind).names);
}

// What claim, record and creator mark say about the removal of a resource (rules 22, 48).

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

// Judges tombstones: documents that ask for the deletion of a resource (rules 23).

/** The tombstones of resources that could be read; for others the reason is reported with their target. */
export function seenRemovalRequests(context: PlanContext): DesiredResource[] {
  return [...context.tombstones.values()].filter(({ address }) => context.unseen(address) === undefined);
}

/** Rule 23. */
export function checkRemovalRequest(context: PlanContext, tombstone: DesiredResource): Removal {
  const { address, metadata, place } = tombstone;
  const refusal = refuseRemovalRequest(context, address);
  if (refusal !== undefined) {
    const [code, message, fix] = refusal;
    const problem = { code, severity: 'error', class: 'conflict', message, place, fix } as const;
    return { is: 'problem', problem };
  }
  const live = context.live.get(formatAddress(address));
  if (live === undefined) {
    const mention = { address, message: 'it is gone: its tombstone document can be deleted' };
    return unlessIncomplete(context, address, { is: 'forget', mention });
  }
  const remove = metadata.remove ?? 'safe';
  const changed = remove === 'safe' ? keptAsChanged(context, live, 'to be deleted') : undefined;
  if (changed !== undefined) return kept(address, changed.message, changed.fix);
  const reason = `a tombstone document asks for it (${remove})`;
  const removal: Removal = { is: 'delete', reason, remove, place };
  return unlessIncomplete(
    context,
    address,
    remove === 'force' ? removal : unlessHindered(context, live, removal),
  );
}

type Refusal = readonly [code: Diagnostic['code'], message: string, fix: string];

function refuseRemovalRequest(context: PlanContext, address: Address): Refusal | undefined {
  const text = formatAddress(address);
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'part' || (ownership.by === 'ledger' && ownership.undeclared === 'release'))
    return ['not-removable', `${quoted(text)} cannot be removed by itself`, 'delete its document instead'];
  const live = context.live.get(text);
  if (live === undefined) return undefined;
  if (!isOursToRemove(context, live)) return notOurs(context, live);
  return removalFlags(context, live).protect
    ? [
        'protected',
        `${quoted(text)} is protected`,
        'declare it with "protect: false", apply, then write the tombstone',
      ]
    : undefined;
}

function notOurs(context: PlanContext, { address, witness }: LiveResource): Refusal {
  const text = formatAddress(address);
  if (context.record(address) === undefined || !context.bearsOurClaim(witness))
    return [
      'not-ours',
      `${quoted(text)} is not this stack's to remove`,
      'adopt it first, or remove it by hand',
    ];
  const byHand =
    'delete this document, so that the next apply releases it, and delete it in the service by hand';
  return [
    'not-ours',
    `${quoted(text)} is not this stack's to remove: it was adopted, and where the ledger alone says whose it is, what was adopted is only released`,
    context.isOurs(witness.bornOf)
      ? `declare it with "onRemove: delete", apply, and write this document then; or ${byHand}`
      : byHand,
  ];
}

/** A tombstone is about one resource, so only gaps that concern its own kind and target prevent the removal. */
function unlessIncomplete(context: PlanContext, address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  const blind = context.blindSpot(address);
  return blind === undefined
    ? verdict
    : kept(address, `kept: ${blind}, and after an incomplete look nothing is removed`);
}

/**
 * Where a target keeps no claims, only what this stack created is removed, and only while its birth mark says so, too, and no claim
 * that the service shows all the same is another stack's (rule 48).
 */
function isOursToRemove(context: PlanContext, live: LiveResource): boolean {
  const { address, witness } = live;
  if (context.kind(address.kind).ownership.by === 'claim') {
    if (!context.bearsOurClaim(witness)) return false;
    return isDeletable(context, live) || !context.isLedgerOwned(address);
  }
  if (context.record(address) !== undefined) return true;
  const { owns, exclusive } = context.target(address.target).target;
  return isNameOwned(context, address) && (exclusive === true || owns !== undefined);
}
