/**
 * Decides about removal requests: documents that ask for a deletion. Also has the possible decisions about resources that are no longer
 * declared, and what ownership tag, record and creator mark allow.
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
import { hasOurMark } from './moved-ownership.ts';

export type Removal =
  | {
      readonly is: 'delete';
      readonly reason: string;
      readonly remove?: 'safe' | 'force';
      readonly place?: Diagnostic['place'];
    }
  /** the ownership tag is removed, or the record dropped; the resource stays */
  | { readonly is: 'release'; readonly reason: string }
  /** for a child: what this stack had set is removed */
  | { readonly is: 'withdraw'; readonly reason: string }
  | { readonly is: 'notice'; readonly notice: Notice }
  | { readonly is: 'problem'; readonly problem: Diagnostic }
  /** the ledger drops its record; nothing else */
  | { readonly is: 'forget'; readonly notice?: Notice };

export function kept(address: Address, message: string, fix?: string): Extract<Removal, { is: 'notice' }> {
  return { is: 'notice', notice: { address, message, ...(fix === undefined ? {} : { fix }) } };
}

/** The fix for a kept resource that the user wants to delete. */
export const removalRequestFix = 'to delete it anyway, write a document for it with "metadata.remove: safe"';

/**
 * The removal, or a notice if something is known to block the deletion. The text of each obstacle says whether the service or trueup
 * would refuse the deletion: a service without a safe delete refuses nothing.
 */
export function unlessBlocked(context: PlanContext, live: LiveResource, removal: Removal): Removal {
  const { address } = live;
  const { blockers, overridden } = context.kind(address.kind);
  const obstacles = blockers?.(live, 'delete', context.record(address)) ?? [];
  if (obstacles.length === 0) return removal;
  const message = `to be deleted, but kept: ${obstacles.join('; ')}`;
  const { notice } = overridden === undefined ? kept(address, message) : kept(address, message, forceFix);
  return { is: 'notice', notice: { ...notice, isPending: true } };
}

const forceFix =
  'to delete it anyway, write a document for it with "metadata.remove: force", which the guard "forced-delete" stops until it is acknowledged';

/** Whether the name belongs to this stack in its target. */
export function isNameOwned(context: PlanContext, { kind, target, name }: Address): boolean {
  return ownsName(context.target(target).target, name, context.kind(kind).names);
}

/** The flags in the tag, or without a tag in the record. If the ledger keeps the ownership, the tag may be old: a flag in either counts. */
export function removalFlags(
  context: PlanContext,
  { address, evidence }: LiveResource,
): Pick<OwnershipTag, 'protect' | 'release'> {
  const ownershipTag = ownOwnershipTag(evidence);
  const record =
    ownershipTag === undefined || context.isLedgerOwned(address) ? context.record(address) : undefined;
  return {
    protect: ownershipTag?.protect === true || record?.protect === true,
    release: ownershipTag?.release === true || record?.onRemove === 'release',
  };
}

/**
 * Whether a resource of a target that keeps no ownership tags may be deleted: it has the creator mark of this stack, and the ledger
 * records that this stack created it, or, after a lost ledger, that its manifest had "onRemove: delete".
 */
export function isDeletableByRecord(context: PlanContext, live: LiveResource): boolean {
  const { address } = live;
  const record = context.record(address);
  const isAllowed = record?.origin === 'created' || record?.onRemove === 'delete';
  return context.isLedgerOwned(address) && isAllowed && hasOurMark(context, live);
}

/** The removal requests of resources that could be read; for others the reason is reported with their target. */
export function seenRemovalRequests(context: PlanContext): DesiredResource[] {
  return [...context.removalRequests.values()].filter(
    ({ address }) => context.unreadReason(address) === undefined,
  );
}

/** The removal of a resource with a removal request. */
export function checkRemovalRequest(context: PlanContext, removalRequest: DesiredResource): Removal {
  const { address, metadata, place } = removalRequest;
  const refusal = refuseRemovalRequest(context, address);
  if (refusal !== undefined) {
    const [code, message, fix] = refusal;
    const problem = { code, severity: 'error', class: 'conflict', message, place, fix } as const;
    return { is: 'problem', problem };
  }
  const live = context.live.get(formatAddress(address));
  if (live === undefined) return unlessIncomplete(context, address, goneOrRenamed(context, address));
  const remove = metadata.remove ?? 'safe';
  const changed = remove === 'safe' ? keptAsChanged(context, live, 'to be deleted') : undefined;
  if (changed !== undefined) return kept(address, changed.message, changed.fix);
  const reason = `a removal request asks for it (${remove})`;
  const removal: Removal = { is: 'delete', reason, remove, place };
  const isForced = remove === 'force' && context.kind(address.kind).contents === undefined;
  return unlessIncomplete(context, address, isForced ? removal : unlessBlocked(context, live, removal));
}

/** The recorded resource of a name that no resource has, if it has another name now. */
export function renamedResource(context: PlanContext, address: Address): LiveResource | undefined {
  const text = formatAddress(address);
  const { id } = context.ledger.records.get(text) ?? {};
  if (id === undefined || context.live.has(text) || context.unmatched.includes(text)) return undefined;
  return context.liveWithId(address, id);
}

/** For a name that no resource has. A recorded resource may have another name now: its record stays until it is recorded there. */
function goneOrRenamed(context: PlanContext, address: Address): Removal {
  const renamed = renamedResource(context, address);
  if (renamed === undefined)
    return { is: 'forget', notice: { address, message: 'it is gone: its removal request can be deleted' } };
  const now = quoted(renamed.address.name);
  if (context.desired.has(formatAddress(renamed.address))) {
    const message = `it is declared as ${now}, so its removal request does not remove it`;
    return kept(address, message, `delete the removal request, or the document of ${now}`);
  }
  const message = `its name in the service is ${now} now, so its removal request does not remove it`;
  return kept(
    address,
    message,
    `to remove it, write the removal request for ${now}, or give it its name back`,
  );
}

type Refusal = readonly [code: Diagnostic['code'], message: string, fix: string];

function refuseRemovalRequest(context: PlanContext, address: Address): Refusal | undefined {
  const text = formatAddress(address);
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'child' || (ownership.by === 'ledger' && ownership.undeclared === 'release'))
    return ['not-removable', `${quoted(text)} cannot be removed by itself`, 'delete its document instead'];
  const live = context.live.get(text);
  if (live === undefined) return undefined;
  if (!isOursToRemove(context, live)) return notOurs(context, live);
  const permanent = context.kind(address.kind).permanent?.(live);
  if (permanent !== undefined)
    return [
      'not-removable',
      `${quoted(text)} cannot be removed: ${permanent}`,
      'delete its document instead, so that the next apply releases it',
    ];
  return removalFlags(context, live).protect
    ? [
        'protected',
        `${quoted(text)} is protected`,
        'declare it with "protect: false", apply, then write the removal request',
      ]
    : undefined;
}

function notOurs(context: PlanContext, { address, evidence }: LiveResource): Refusal {
  const text = formatAddress(address);
  if (context.record(address) === undefined || !context.hasOurTag(evidence))
    return [
      'not-ours',
      `${quoted(text)} does not belong to this stack`,
      'adopt it first, or remove it by hand',
    ];
  const byHand =
    'delete this document, so that the next apply releases it, and delete it in the service by hand';
  return [
    'not-ours',
    `${quoted(text)} was adopted, and with "ownership: ledger" an adopted resource is only released, not removed`,
    hasOurMark(context, { address, evidence })
      ? `declare it with "onRemove: delete", apply, and write this document then; or ${byHand}`
      : byHand,
  ];
}

/** A removal request is about one resource, so only gaps that concern its own kind and target prevent the removal. */
function unlessIncomplete(context: PlanContext, address: Address, verdict: Removal): Removal {
  if (verdict.is === 'notice' || verdict.is === 'problem') return verdict;
  const whyIncomplete = context.incompleteReason(address);
  return whyIncomplete === undefined
    ? verdict
    : kept(address, `kept: ${whyIncomplete}, so the plan is incomplete and nothing is removed`);
}

/**
 * If a target keeps no ownership tags, only a resource that this stack created is removed, and only while it has our creator mark and
 * the service shows no tag of another stack.
 */
function isOursToRemove(context: PlanContext, live: LiveResource): boolean {
  const { address, evidence } = live;
  if (context.kind(address.kind).ownership.by === 'claim') {
    if (!context.hasOurTag(evidence)) return false;
    return isDeletableByRecord(context, live) || !context.isLedgerOwned(address);
  }
  if (context.record(address) !== undefined) return true;
  const { owns, exclusive } = context.target(address.target).target;
  return isNameOwned(context, address) && (exclusive === true || owns !== undefined);
}
