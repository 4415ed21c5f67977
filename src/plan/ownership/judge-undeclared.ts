/**
 * What becomes of resources that no manifest declares any more (rules 22-24): wholes, parts, tombstones, and what lies in
 * targets that the stack has left. After an incomplete look nothing is removed.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { judgePart } from './judge-part.ts';
import { judgeTombstone, seenTombstones } from './judge-tombstone.ts';
import { judgeWhole } from './judge-whole.ts';
import { keptInLeftTargets } from './left-targets.ts';
import { kept, type Removal } from './removal.ts';

/**
 * Every undeclared address that is live and ours by some witness, or that the ledger knows; with its verdict. In a
 * selection the tombstones alone are judged: what else it does not hold may well be declared.
 */
export function judgeUndeclared(context: PlanContext): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  for (const [text, live] of undeclaredLive(context)) {
    const verdict = judgeLive(context, live);
    if (verdict !== undefined)
      verdicts.set(text, context.isComplete ? verdict : unpruned(live.address, verdict));
  }
  for (const text of context.spent) {
    if (isDeclared(context, text) || verdicts.has(text) || !isKnownGone(context, text)) continue;
    verdicts.set(text, { is: 'forget' });
  }
  for (const removal of keptInLeftTargets(context))
    verdicts.set(formatAddress(removal.mention.address), removal);
  for (const tombstone of seenTombstones(context))
    verdicts.set(formatAddress(tombstone.address), judgeTombstone(context, tombstone));
  return verdicts;
}

function isDeclared({ desired, tombstones }: PlanContext, text: AddressText): boolean {
  return desired.has(text) || tombstones.has(text);
}

function undeclaredLive(context: PlanContext): [AddressText, LiveResource][] {
  return context.isSelection ? [] : [...context.live].filter(([text]) => !isDeclared(context, text));
}

/** A record is evidence: it goes only when somebody looked for its resource and saw all that there is. */
function isKnownGone(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  return context.isInView(address) && context.blindSpot(address) === undefined;
}

/** What is not declared is not removed after an incomplete look, wherever the gap was (architecture: promises). */
function unpruned(address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  return kept(address, 'kept: it is no longer declared, but after an incomplete look nothing is removed');
}

function judgeLive(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'part') return judgeWhole(context, live);
  return context.record(address) === undefined
    ? undefined
    : judgePart(context, address, ownership.of(address));
}
