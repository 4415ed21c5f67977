/** Which other stack created a resource, by the creator mark that the resource bears. */
import { quoted } from '../model/quoted.ts';
import { type Address, formatAddress } from '../model/address.ts';
import type { PlanContext } from './plan-context.ts';

/** The other stack whose creator mark is on the resource, or on the whole that it is a part of. */
export function otherCreator(context: PlanContext, address: Address): string | undefined {
  const { ownership } = context.kind(address.kind);
  const marked = ownership.by === 'part' ? ownership.of(address) : address;
  const bornOf = context.live.get(formatAddress(marked))?.witness.bornOf;
  return context.isOurs(bornOf) ? undefined : bornOf;
}

/** Names the creator, as a clause about the resource. */
export function creatorMessage(stack: string): string {
  return `stack ${quoted(stack)} created it`;
}

/** For the end of a message; empty where no other stack has created the resource. */
export function creatorSuffix(context: PlanContext, address: Address): string {
  const creator = otherCreator(context, address);
  return creator === undefined ? '' : `: ${creatorMessage(creator)}`;
}
