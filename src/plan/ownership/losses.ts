/** Finds who loses something by the deletions of a plan, as kinds with `losses` describe it. Pure. */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** By address of a deleted whole: sentences about other resources that lose something and still exist afterwards. */
export function findLosses(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, readonly string[]> {
  const deleted = deletedParents(context, drafts);
  const losses = new Map<AddressText, readonly string[]>();
  if (deleted.size === 0) return losses;
  const outlives = (address: Address, id: string) => !deleted.has(keyOf(address, id));
  for (const live of context.live.values()) {
    const { ownership, losses: tell } = context.kind(live.address.kind);
    if (ownership.by !== 'part' || tell === undefined || live.id === undefined) continue;
    // Compare by id: the whole may have been renamed since the part was recorded.
    const whole = deleted.get(keyOf(ownership.of(live.address), live.id));
    const sentences = whole === undefined ? [] : tell(live, outlives);
    if (whole !== undefined && sentences.length > 0) losses.set(whole, sentences);
  }
  return losses;
}

/** The addresses of deleted wholes, by kind, target and id. */
function deletedParents(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<string, AddressText> {
  const deletions = [...drafts.values()].flatMap(({ change: { action, address, id } }) => {
    const isWhole = context.kind(address.kind).ownership.by !== 'part';
    return action === 'delete' && isWhole && id !== undefined
      ? [[keyOf(address, id), formatAddress(address)] as const]
      : [];
  });
  return new Map(deletions);
}

function keyOf({ kind, target }: Address, id: string): string {
  return `${kind}/${target}#${id}`;
}
