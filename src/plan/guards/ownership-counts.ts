/** How many resources of each kind and target a plan changes, and how many the stack owned before (rule 33). */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { sentFields } from '../context/recorded-flags.ts';
import { isTakenOver } from '../ledger/take-over-stack.ts';

export interface OwnershipCount {
  readonly kind: string;
  readonly target: string;
  /** number of live resources of this stack when the plan was made */
  readonly owned: number;
  /** deleted, released or revoked */
  readonly taken: readonly Address[];
  /** how many of `taken` neither a record nor a claim proves to be ours: only an exclusive target or a tombstone removes them */
  readonly unproven: number;
  readonly updated: readonly Address[];
  readonly created: number;
}

type AllDrafts = ReadonlyMap<AddressText, Draft>;

/** One count for each kind and target with an owned or changed resource. */
export function countOwnership(context: PlanContext, drafts: AllDrafts): OwnershipCount[] {
  const owned = Map.groupBy(
    [...context.live.values()].filter((live) => isOwned(context, live, drafts)),
    ({ address }) => placeOf(address),
  );
  const changed = Map.groupBy(drafts.values(), ({ change: { address } }) => placeOf(address));
  return [...new Set([...owned.keys(), ...changed.keys()])].sort().flatMap((place) => {
    const found = owned.get(place) ?? [];
    const some = changed.get(place) ?? [];
    const first = found[0]?.address ?? some[0]?.change.address;
    if (first === undefined) return [];
    return {
      kind: first.kind,
      target: first.target,
      owned: found.length,
      taken: some.filter(isTaken).map(({ change: { address } }) => address),
      unproven: some.filter((draft) => isTaken(draft) && isUnverified(context, draft)).length,
      updated: some
        .filter(({ change }) => change.action === 'update' && sentFields(change.fields).length > 0)
        .map(({ change: { address } }) => address),
      created: some.filter(({ change }) => change.action === 'create').length,
    };
  });
}

/** Kind and target: the group in which guards count. */
export function placeOf({ kind, target }: Address): string {
  return `${kind}/${target}`;
}

/** Whether the resource stops being ours: a deletion, release or revocation (rule 33). */
export function isTaken({ change: { action } }: Draft): boolean {
  return action === 'delete' || action === 'release';
}

function isOwned(context: PlanContext, { address, witness }: LiveResource, drafts: AllDrafts): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'part') {
    // A part that is removed with its whole is not counted separately.
    const whole = drafts.get(formatAddress(ownership.of(address)));
    if (whole !== undefined && isTaken(whole)) return false;
  }
  const draft = drafts.get(formatAddress(address));
  if (draft !== undefined && isTakenOver(context, address, draft.live)) return true;
  if (draft !== undefined) return draft.change.action !== 'create' && draft.change.action !== 'adopt';
  if (context.record(address) !== undefined) return true;
  return ownership.by === 'claim' && context.bearsOurClaim(witness);
}

/** Whether neither the ledger nor a claim proves that it was ever ours; false for a part, which belongs to its whole. */
function isUnverified(context: PlanContext, { change: { address }, live }: Draft): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'part' || context.record(address) !== undefined) return false;
  return !isTakenOver(context, address, live) && !(live !== undefined && context.bearsOurClaim(live.witness));
}
