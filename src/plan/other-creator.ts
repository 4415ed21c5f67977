/** Which other stack created a resource, by its creator mark. */
import { quoted } from '../model/quoted.ts';
import { type Address, formatAddress } from '../model/address.ts';
import type { PlanContext } from './plan-context.ts';
import { hasOurMark } from './moved-ownership.ts';

/** The other stack whose creator mark is on the resource, or on its parent. */
export function otherCreator(context: PlanContext, address: Address): string | undefined {
  const { ownership } = context.kind(address.kind);
  const marked = ownership.by === 'child' ? ownership.of(address) : address;
  const live = context.live.get(formatAddress(marked));
  return live === undefined || hasOurMark(context, live) ? undefined : live.evidence.creatorStack;
}

/** Names the creator, as a clause about the resource. */
export function creatorMessage(stack: string): string {
  return `stack ${quoted(stack)} created it`;
}

/** For the end of a message; empty if no other stack has created the resource. */
export function creatorSuffix(context: PlanContext, address: Address): string {
  const creator = otherCreator(context, address);
  return creator === undefined ? '' : `: ${creatorMessage(creator)}`;
}
