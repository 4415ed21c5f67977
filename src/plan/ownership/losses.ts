/** Who loses something by the deletions of a plan, in the words of the kinds that know who depends on what goes. Pure. */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** Sentences about each deletion by which something loses that outlives it. */
export function findLosses(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, readonly string[]> {
  const deleted = deletedWholes(context, drafts);
  const losses = new Map<AddressText, readonly string[]>();
  if (deleted.size === 0) return losses;
  const outlives = (address: Address, id: string) => !deleted.has(keyOf(address, id));
  for (const live of context.live.values()) {
    const { ownership, losses: tell } = context.kind(live.address.kind);
    if (ownership.by !== 'part' || tell === undefined || live.id === undefined) continue;
    // A part bears the id of its whole, which somebody may have renamed since the part was recorded.
    const whole = deleted.get(keyOf(ownership.of(live.address), live.id));
    const told = whole === undefined ? [] : tell(live, outlives);
    if (whole !== undefined && told.length > 0) losses.set(whole, told);
  }
  return losses;
}

/** By kind, target and id, the addresses of what goes. */
function deletedWholes(
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
