/** Judges tombstones: documents that ask for the deletion of a resource (rules 23). */
import type { Diagnostic } from '../../model/diagnostic.ts';
import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { DesiredResource, LiveResource } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { isDeletable, removalFlags } from './removal-flags.ts';
import { isNameOwned, kept, type Removal, unlessHindered } from './removal.ts';
import { keptAsChanged } from './last-written.ts';

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
