/**
 * What a plan is stopped for until somebody has read it (rule 33): pure, from the drafted changes, the context and what
 * the stack says of guards. Most count per kind and target; the plan stays complete whatever they say.
 */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Concern, type Guard, guardDefaults, guardIds } from '../../model/plan/guard.ts';
import type { Risk } from '../../model/plan/risk.ts';
import type { Guards } from '../../model/stack/target.ts';
import { commitGuards } from './commit-guards.ts';
import { countGuards, type CountedGuard } from './count-guards.ts';
import type { Draft } from '../draft/draft-declared.ts';
import { findRenames, type LikelyRename } from '../ownership/find-renames.ts';
import { guardMessages, type UncountedGuard } from './guard-messages.ts';
import { identityGuards } from './identity-guards.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { comesAlong } from '../ledger/take-over-stack.ts';
import { countOwnership } from './ownership-counts.ts';

/** Every guard that fires: those that block first, then by id, kind and target. */
export function findGuards(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): Guard[] {
  const { guards } = context.stack;
  const pending = [...drafts.values()].filter(({ change }) => change.action !== 'none');
  const found = [
    ...commitGuards(context.commitOrder, pending.length),
    ...countGuards(countOwnership(context, drafts), guards),
    ...identityFindings(context, pending),
    ...forcedFindings(pending),
    ...renameFindings(context, drafts),
    ...riskFindings(pending),
  ];
  return found.map((finding) => ({ ...finding, effect: effectOf(finding, guards) })).toSorted(inOrder);
}

function effectOf({ id }: CountedGuard, { raise = [], allow = [] }: Guards): Guard['effect'] {
  if (allow.includes(id)) return 'warns';
  return raise.includes(id) ? 'blocks' : guardDefaults[id];
}

function inOrder(one: Guard, other: Guard): number {
  // What is about one kind comes before what is about a target, and that before what is about the plan.
  const text = ({ kind, target }: Guard) =>
    `${Number(kind === undefined) + Number(target === undefined)} ${kind ?? ''}/${target ?? ''}`;
  return (
    Number(one.effect === 'warns') - Number(other.effect === 'warns') ||
    guardIds.indexOf(one.id) - guardIds.indexOf(other.id) ||
    (text(one) < text(other) ? -1 : 1)
  );
}

/** A concern and the guard that it belongs to, before those of one kind and target are put together. */
interface Sighting extends Concern {
  readonly id: UncountedGuard;
}

function gather(sightings: readonly Sighting[]): CountedGuard[] {
  const groups = Map.groupBy(sightings, ({ id, address: { kind, target } }) => `${id}/${kind}/${target}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { id, address } = first;
    const concerns = group.map(({ address: of, says: about }) => ({ address: of, says: about }));
    const counted = concerns.length;
    const message = `${counted} ${address.kind} in "${address.target}" ${guardMessages[id]}`;
    return [{ id, kind: address.kind, target: address.target, counted, message, concerns: sorted(concerns) }];
  });
}

function sorted(concerns: readonly Concern[]): Concern[] {
  return concerns.toSorted((a, b) => (formatAddress(a.address) < formatAddress(b.address) ? -1 : 1));
}

function identityFindings(context: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  const sightings = drafts.flatMap((draft) =>
    identityGuards(context, draft).map((sighting) => ({ ...sighting, address: draft.change.address })),
  );
  const told = new Set(
    sightings.filter(({ id }) => id === 'takeover').map(({ address }) => formatAddress(address)),
  );
  const untold = comesAlong(context).filter((address) => !told.has(formatAddress(address)));
  return gather([...sightings, ...untold.map((address) => ({ id: 'takeover' as const, address, says: [] }))]);
}

/** A forced deletion that overrides nothing is as good as a safe one. */
function forcedFindings(drafts: readonly Draft[]): CountedGuard[] {
  const sightings = drafts.flatMap(({ change: { address }, overridden = [] }) => {
    const says = overridden.map((one) => one.says);
    return says.length === 0 ? [] : [{ id: 'forced-delete' as const, address, says }];
  });
  return gather(sightings);
}

function renameFindings(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): CountedGuard[] {
  const sightings = findRenames(context, drafts).map((rename) => ({
    id: 'rename' as const,
    address: rename.made.change.address,
    says: [renameWords(context, rename)],
  }));
  return gather(sightings);
}

/** Only what bears a claim can be renamed in place (rules 17, 26). */
function renameWords(
  context: PlanContext,
  { gone: { address: former }, becomes, made }: LikelyRename,
): string {
  const looks = `looks like "${former.name}", which this plan ${verbs[becomes]}`;
  return context.kind(made.change.address.kind).ownership.by === 'claim'
    ? `${looks}: to rename it in place, put "renamedFrom: ${former.name}" into its metadata`
    : `${looks}: this kind has no rename, so one is created and the other deleted`;
}

const verbs = { deleted: 'deletes', released: 'releases', kept: 'keeps' } as const;

function riskFindings(drafts: readonly Draft[]): CountedGuard[] {
  return gather(drafts.flatMap(({ change: { address, risks = [] } }) => sightingsOf(address, risks)));
}

/** What only narrows trips nothing; one change may trip several guards, each with its own words. */
function sightingsOf(address: Address, risks: readonly Risk[]): Sighting[] {
  const widening = risks.filter(({ effect }) => effect === 'widens');
  const byGuard = Map.groupBy(widening, ({ guard }) => guard ?? ('widening' as const));
  return [...byGuard].map(([id, some]) => ({ id, address, says: some.map(({ says }) => says) }));
}
