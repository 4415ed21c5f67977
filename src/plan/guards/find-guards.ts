/**
 * Finds the guards that a plan trips (rule 33), from its drafts, the context and the guard settings of the stack. Most guards
 * count per kind and target. Guards never change the plan itself. Pure.
 */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Concern, type Guard, guardDefaults, guardIds, sortConcerns } from '../../model/plan/guard.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { Guards } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { checkoutGuards } from './checkout-guards.ts';
import { countGuards, type CountedGuard } from './count-guards.ts';
import type { Draft } from '../draft/draft-declared.ts';
import { findRenames, type LikelyRename } from '../ownership/find-renames.ts';
import { guardMessages, replacedMessage, type UncountedGuard } from './guard-messages.ts';
import { identityGuards } from './identity-guards.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { takenOverAddresses } from '../ledger/take-over-stack.ts';
import { countOwnership } from './ownership-counts.ts';

/** All guards that fire: blocking ones first, then by id, kind and target. */
export function findGuards(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): Guard[] {
  const { guards } = context.stack;
  const pending = [...drafts.values()].filter(({ change }) => change.action !== 'none');
  const found = [
    ...checkoutGuards(context, pending),
    ...countGuards(countOwnership(context, drafts), guards),
    ...identityFindings(context, pending),
    ...forcedFindings(pending),
    ...renameFindings(context, drafts),
    ...riskFindings(pending),
  ];
  return found
    .map(({ always, ...finding }: Finding) => ({
      ...finding,
      effect: always ? ('blocks' as const) : effectOf(finding, guards),
    }))
    .toSorted(inOrder);
}

function effectOf({ id, effect }: CountedGuard, { raise = [], allow = [] }: Guards): Guard['effect'] {
  if (allow.includes(id)) return 'warns';
  return raise.includes(id) ? 'blocks' : (effect ?? guardDefaults[id]);
}

function inOrder(one: Guard, other: Guard): number {
  // Guards about one kind come first, then those about a target, then those about the plan.
  const text = ({ kind, target }: Guard) =>
    `${Number(kind === undefined) + Number(target === undefined)} ${kind ?? ''}/${target ?? ''}`;
  return (
    Number(one.effect === 'warns') - Number(other.effect === 'warns') ||
    guardIds.indexOf(one.id) - guardIds.indexOf(other.id) ||
    (text(one) < text(other) ? -1 : 1)
  );
}

/** `always`: it blocks whatever the stack allows. */
type Finding = CountedGuard & { readonly always?: true };

/** One resource that trips a guard, before hits of the same kind and target are grouped. */
interface GuardHit extends Concern {
  readonly id: UncountedGuard;
  readonly always?: true;
}

function gather(hits: readonly GuardHit[]): Finding[] {
  const groups = Map.groupBy(
    hits,
    ({ id, always = false, address: { kind, target } }) => `${id}/${always}/${kind}/${target}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { id, address, always } = first;
    const concerns = group.map(({ address: of, messages: about }) => ({ address: of, messages: about }));
    const counted = concerns.length;
    const message = `${counted} ${address.kind} in ${quoted(address.target)} ${always ? replacedMessage : guardMessages[id]}`;
    const { kind, target } = address;
    const about = { id, kind, target, counted, message, concerns: sortConcerns(concerns) };
    return [always ? { ...about, always } : about];
  });
}

function identityFindings(context: PlanContext, drafts: readonly Draft[]): Finding[] {
  const hits = drafts.flatMap((draft) =>
    identityGuards(context, draft).map((hit) => ({ ...hit, address: draft.change.address })),
  );
  const reported = new Set(
    hits.filter(({ id }) => id === 'takeover').map(({ address }) => formatAddress(address)),
  );
  const unreported = takenOverAddresses(context).filter((address) => !reported.has(formatAddress(address)));
  return gather([
    ...hits,
    ...unreported.map((address) => ({ id: 'takeover' as const, address, messages: [] })),
  ]);
}

/** A forced deletion that overrides nothing trips no guard: it equals a safe one. */
function forcedFindings(drafts: readonly Draft[]): CountedGuard[] {
  const hits = drafts.flatMap(({ change: { address }, overridden = [] }) => {
    const messages = overridden.map((one) => one.message);
    return messages.length === 0 ? [] : [{ id: 'forced-delete' as const, address, messages }];
  });
  return gather(hits);
}

function renameFindings(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): CountedGuard[] {
  const hits = findRenames(context, drafts).map((rename) => ({
    id: 'rename' as const,
    address: rename.made.change.address,
    messages: [renameWords(context, rename)],
  }));
  return gather(hits);
}

/** Only resources with a claim can be renamed in place (rules 17, 26). */
function renameWords(
  context: PlanContext,
  { gone: { address: former }, becomes, made }: LikelyRename,
): string {
  const looks = `looks like ${quoted(former.name)}, which this plan ${verbs[becomes]}`;
  return context.kind(made.change.address.kind).ownership.by === 'claim'
    ? `${looks}: to rename it in place, put ${quoted(`renamedFrom: ${former.name}`)} into its metadata`
    : `${looks}: this kind has no rename, so one is created and the other deleted`;
}

const verbs = { deleted: 'deletes', released: 'releases', kept: 'keeps' } as const;

function riskFindings(drafts: readonly Draft[]): CountedGuard[] {
  return gather(drafts.flatMap(({ change: { address, risks = [] } }) => hitsOf(address, risks)));
}

/** What only narrows access trips no guard; one change may trip several, each with its own messages. */
function hitsOf(address: Address, risks: readonly Risk[]): GuardHit[] {
  const byGuard = Map.groupBy(
    risks.filter(({ effect }) => effect !== 'narrows'),
    ({ effect, guard }) => (effect === 'destroys' ? 'scheduled-destroy' : (guard ?? 'widening')),
  );
  return [...byGuard].map(([id, some]) => ({ id, address, messages: some.map(({ message }) => message) }));
}
