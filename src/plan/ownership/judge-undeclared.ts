/**
 * Decides what happens to resources that are no longer declared (rules 22-24): wholes, parts, tombstones, and resources in
 * targets that the stack no longer has. After an incomplete look nothing is removed.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { removalOfChild } from './judge-part.ts';
import { checkRemovalRequest, seenRemovalRequests } from './judge-tombstone.ts';
import { removalOfParent } from './judge-whole.ts';
import { kept, type Removal } from './removal.ts';

/**
 * A verdict for every undeclared address that is live and ours, or that the ledger has. With a selection only tombstones
 * are judged, because resources outside of it may be declared all the same.
 */
export function removalOfUndeclared(context: PlanContext): ReadonlyMap<AddressText, Removal> {
  const verdicts = new Map<AddressText, Removal>();
  for (const [text, live] of undeclaredLive(context)) {
    const verdict = removalOfLive(context, live);
    if (verdict !== undefined)
      verdicts.set(text, context.isComplete ? verdict : keptWhenIncomplete(live.address, verdict));
  }
  for (const text of context.unmatched) {
    if (isDeclared(context, text) || verdicts.has(text) || !isKnownGone(context, text)) continue;
    verdicts.set(text, { is: 'forget' });
  }
  for (const removal of keptInLeftTargets(context))
    verdicts.set(formatAddress(removal.mention.address), removal);
  for (const removal of keptUnrecorded(context))
    verdicts.set(formatAddress(removal.mention.address), removal);
  for (const tombstone of seenRemovalRequests(context))
    verdicts.set(formatAddress(tombstone.address), checkRemovalRequest(context, tombstone));
  return verdicts;
}

function isDeclared({ desired, tombstones }: PlanContext, text: AddressText): boolean {
  return desired.has(text) || tombstones.has(text);
}

function undeclaredLive(context: PlanContext): [AddressText, LiveResource][] {
  return context.isSelection ? [] : [...context.live].filter(([text]) => !isDeclared(context, text));
}

/** A record is dropped only when its resource was looked for and everything could be read. */
function isKnownGone(context: PlanContext, text: AddressText): boolean {
  const address = parseAddress(text);
  if (!context.isInView(address) || context.blindSpot(address) !== undefined) return false;
  return context.unsupported(address) === undefined || !hasParent(context, address);
}

/** Where the service lacks such parts, one may stand behind what it answers, as long as its whole is there (rule 48). */
function hasParent(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  return ownership.by === 'part' && context.live.has(formatAddress(ownership.of(address)));
}

/** After an incomplete look, wherever the gap was, nothing undeclared is removed (architecture: promises). */
function keptWhenIncomplete(address: Address, verdict: Removal): Removal {
  if (verdict.is === 'mention' || verdict.is === 'problem') return verdict;
  return kept(address, 'kept: it is no longer declared, but after an incomplete look nothing is removed');
}

function removalOfLive(context: PlanContext, live: LiveResource): Removal | undefined {
  const { address } = live;
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'part') return unlessSecret(context, live, removalOfParent(context, live));
  return context.record(address) === undefined
    ? undefined
    : unlessSecret(context, live, removalOfChild(context, address, ownership.of(address)));
}

/** A change stands in plan files with the name of its resource, which must not be a secret of this run (rule 42). */
function unlessSecret(
  context: PlanContext,
  { address }: LiveResource,
  verdict: Removal | undefined,
): Removal | undefined {
  const isChange = verdict?.is === 'delete' || verdict?.is === 'release' || verdict?.is === 'revoke';
  if (!isChange || context.secretsIn(address.name).length === 0) return verdict;
  return kept(
    address,
    'kept: its name contains a secret of this run',
    'remove it by hand, and revoke the secret',
  );
}

/**
 * One mention for each target that keeps no claims and has resources with our birth mark that the ledger does not know: they were
 * released, or their records are lost, and nothing else would ever speak of them (rule 48).
 */
function keptUnrecorded(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const unrecorded = undeclaredLive(context).flatMap(([, { address, witness }]) => {
    const isUnknown = context.isLedgerOwned(address) && context.record(address) === undefined;
    return isUnknown && witness.claim === undefined && context.isOurs(witness.bornOf) ? [address] : [];
  });
  return [...Map.groupBy(unrecorded, ({ target }) => target).values()].flatMap((addresses) => {
    const [first] = addresses;
    if (first === undefined) return [];
    const names = addresses.map(({ name }) => quoted(name)).toSorted();
    const shown = names.slice(0, 10).join(', ');
    const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
    const message = `not declared; this stack once created ${shown}${more}, and its ledger has no record: left alone`;
    return kept(first, message, 'to manage one again, declare it; to be rid of it, delete it by hand');
  });
}

/** One mention for each target that the stack no longer has: it is not read, and its records are kept. */
function keptInLeftTargets(context: PlanContext): Extract<Removal, { is: 'mention' }>[] {
  const outside = context.unmatched.map(parseAddress).filter((address) => !context.isInView(address));
  return [...Map.groupBy(outside, ({ target }) => target)].flatMap(([target, [address, ...more]]) => {
    if (address === undefined) return [];
    const others = more.length === 0 ? 'it is' : `it and ${more.length} more are`;
    const message = `what this stack applied in target ${quoted(target)} is not looked at any more: ${others} left alone`;
    return kept(address, message, 'add the target again to manage it, or release it there by hand');
  });
}
