/**
 * Guards that count: how many resources of each kind and target a plan deletes or updates, compared with how many the stack
 * owned before.
 */
import {
  type Address,
  type AddressText,
  formatAddress,
  kindAndTarget,
  kindAndTargetIn,
  parseAddress,
} from '../model/address.ts';
import { type BuiltInGuard, type Guard, guardLimits } from '../model/guard.ts';
import type { RemovedByPart } from '../model/part.ts';
import { quoted } from '../model/quoted.ts';
import type { LiveResource } from '../model/resource.ts';
import type { Guards } from '../model/stack.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';
import { sentFields } from './recorded-flags.ts';
import { isTakenOver } from './take-over-stack.ts';

interface OwnershipCount {
  readonly kind: string;
  readonly target: string;
  /** number of live resources of this stack when the plan was made */
  readonly owned: number;
  /** deleted, released or withdrawn by this plan */
  readonly removed: readonly Address[];
  /** how many other resources earlier applies of parts (`--select`) removed within a day */
  readonly removedBefore: number;
  /** owned, declared and not in `removed`; undeclared resources that are kept do not count, or they would hide that all others go */
  readonly remaining: number;
  /** how many of `removed` have neither a record nor our ownership tag: only an exclusive target or a removal request removes them */
  readonly unrecorded: number;
  readonly updated: readonly Address[];
  readonly created: number;
}

type AllDrafts = ReadonlyMap<AddressText, Draft>;

export interface CountInput {
  /** of the plan */
  readonly drafts: AllDrafts;
  /** of the whole stack: they show what it owns, also for a plan of a part */
  readonly all: AllDrafts;
  readonly removedByParts?: readonly RemovedByPart[] | undefined;
}

/** One count for each kind and target with an owned or changed resource. */
export function countOwnership(
  context: PlanContext,
  { drafts, all, removedByParts = [] }: CountInput,
): OwnershipCount[] {
  const owned = Map.groupBy(
    [...context.live.values()].filter((live) => isOwned(context, live, { drafts, all })),
    ({ address }) => kindAndTarget(address),
  );
  const changed = Map.groupBy(drafts.values(), ({ change: { address } }) => kindAndTarget(address));
  const before = Map.groupBy(
    // A resource that this plan removes exists again, so it counts only once.
    new Set(removedByParts.map(({ address }) => address).filter((text) => !isRemovedIn(drafts, text))),
    kindAndTargetIn,
  );
  return [...new Set([...owned.keys(), ...changed.keys(), ...before.keys()])].sort().flatMap((place) => {
    const found = owned.get(place) ?? [];
    const some = changed.get(place) ?? [];
    const removedBefore = before.get(place) ?? [];
    const first = found[0]?.address ?? some[0]?.change.address ?? removedBefore.map(parseAddress)[0];
    if (first === undefined) return [];
    return {
      kind: first.kind,
      target: first.target,
      owned: found.length,
      removed: some.filter(isDeletedOrReleased).map(({ change: { address } }) => address),
      removedBefore: removedBefore.length,
      remaining: found.filter(({ address }) => remains(context, address, drafts)).length,
      unrecorded: some.filter((draft) => isDeletedOrReleased(draft) && isUnverified(context, draft)).length,
      updated: some
        .filter(({ change }) => change.action === 'update' && sentFields(change.fields).length > 0)
        .map(({ change: { address } }) => address),
      created: some.filter(({ change }) => change.action === 'create').length,
    };
  });
}

/** Whether the resource stays with the stack. A selection leaves everything outside of it as it is. */
function remains(context: PlanContext, address: Address, drafts: AllDrafts): boolean {
  if (isRemovedIn(drafts, formatAddress(address))) return false;
  return context.isSelection || context.desired.has(formatAddress(address));
}

function isRemovedIn(drafts: AllDrafts, text: AddressText): boolean {
  const draft = drafts.get(text);
  return draft !== undefined && isDeletedOrReleased(draft);
}

/** Whether the resource stops being ours: a deletion, release or withdrawal. */
export function isDeletedOrReleased({ change: { action } }: Draft): boolean {
  return action === 'delete' || action === 'release';
}

function isOwned(
  context: PlanContext,
  { address, evidence }: LiveResource,
  { drafts, all }: Pick<CountInput, 'drafts' | 'all'>,
): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'child') {
    // A child that is removed with its parent is not counted separately.
    if (isRemovedIn(drafts, formatAddress(ownership.of(address)))) return false;
  }
  const draft = all.get(formatAddress(address));
  if (draft !== undefined && isTakenOver(context, address, draft.live)) return true;
  if (draft !== undefined) return draft.change.action !== 'create' && draft.change.action !== 'adopt';
  if (context.record(address) !== undefined) return true;
  return ownership.by === 'claim' && context.hasOurTag(evidence);
}

/** Whether neither the ledger nor an ownership tag proves that it was ever ours; false for a child, which belongs to its parent. */
function isUnverified(context: PlanContext, { change: { address }, live }: Draft): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'child' || context.record(address) !== undefined) return false;
  return !isTakenOver(context, address, live) && !(live !== undefined && context.hasOurTag(live.evidence));
}

// Guards that count: many deletes, deletion of all, and percentages of what the stack owns. Deletes are counted
// per kind and target, per target and over the plan, so that many small groups are noticed, too.

/** A guard before the stack's settings decide its effect. `effect`: set if it blocks although its id only warns by default. */
export type CountedGuard = Omit<Guard, 'effect' | 'id'> & {
  readonly id: BuiltInGuard;
  readonly effect?: 'blocks';
};

/** With fewer owned resources, percentages are not meaningful. */
const enoughForPercent = 10;

/** @param counts of a whole plan */
export function countGuards(counts: readonly OwnershipCount[], limits: Guards): CountedGuard[] {
  const { maxDeletes, maxDeletePercent, maxUpdatePercent } = { ...guardLimits, ...limits };
  const each = counts.flatMap((count) => [
    ...toZero(count),
    ...tooLarge(count, {
      id: 'delete-percent',
      some: count.removed,
      before: count.removedBefore,
      limit: maxDeletePercent,
      done: deletedOrReleased,
    }),
    ...tooLarge(count, {
      id: 'update-percent',
      some: count.updated,
      before: 0,
      limit: maxUpdatePercent,
      done: 'updated',
    }),
  ]);
  return [...tooMany(counts, maxDeletes), ...each];
}

const deletedOrReleased = 'deleted or released';

/** The group in which deletes are counted: a kind in a target, a target, or the plan. */
interface Scope {
  readonly kind?: string;
  readonly target?: string;
  readonly counts: readonly OwnershipCount[];
}

/** A wider scope is reported only if it includes deletes that no narrower scope has reported. */
function tooMany(counts: readonly OwnershipCount[], limit: number): CountedGuard[] {
  const byKind = counts.map((count): Scope => ({ kind: count.kind, target: count.target, counts: [count] }));
  const byTarget = [...Map.groupBy(counts, ({ target }) => target)].map(
    ([target, some]): Scope => ({ target, counts: some }),
  );
  const reported = new Set<string>();
  return [byKind, byTarget, [{ counts }]].flatMap((scopes) => {
    const findings = scopes
      .flatMap((scope) => tooManyIn(scope, limit))
      .filter(({ concerns }) => concerns.some(({ address }) => !reported.has(formatAddress(address))));
    for (const { concerns } of findings)
      for (const { address } of concerns) reported.add(formatAddress(address));
    return findings;
  });
}

function tooManyIn({ kind, target, counts }: Scope, limit: number): CountedGuard[] {
  const some = counts.flatMap((count) => count.removed);
  const before = counts.reduce((sum, { removedBefore }) => sum + removedBefore, 0);
  if (some.length === 0 || some.length + before <= limit) return [];
  const of = counts.reduce((sum, { owned }) => sum + owned, 0) + before;
  const where = target === undefined ? 'all targets' : quoted(target);
  const message = `${some.length + before} of ${of} ${kind ?? (of === 1 ? 'resource' : 'resources')} in ${where} would be ${deletedOrReleased}${earlier(before)}, more than ${limit}`;
  const scope = { ...(kind === undefined ? {} : { kind }), ...(target === undefined ? {} : { target }) };
  return [finding(scope, some, { id: 'deletes', before, of, limit, message })];
}

/** A clause about how many resources of a count were removed before, by applies of parts. */
function earlier(before: number): string {
  return before === 0 ? '' : `, ${before} of them by applies of parts of the stack within the last 24 hours`;
}

/** Fires when no declared resource remains; for a single one only if none is created, because then it may be replaced. */
function toZero(count: OwnershipCount): CountedGuard[] {
  const { kind, target, owned, created, remaining, unrecorded } = count;
  const some = count.removed.length;
  if (owned === 0 || some === 0 || remaining > 0 || (some === 1 && created > 0)) return [];
  const all = owned === 1 ? `the only ${kind}` : `all ${owned} ${kind}`;
  const what = some < owned ? `${some} of ${owned} ${kind}` : all;
  const rest = some < owned ? '; no other of them is declared' : '';
  const message =
    unrecorded === 0
      ? `${what} that this stack owns in ${quoted(target)} would be ${deletedOrReleased}${rest}`
      : `${what} that this stack owns or removes in ${quoted(target)} would be ${deletedOrReleased}, without a record of ${unrecorded < owned ? unrecorded : owned === 1 ? 'it' : 'any'}`;
  return [finding({ kind, target }, count.removed, { id: 'zero', before: 0, of: owned, limit: 0, message })];
}

interface Share {
  readonly id: 'delete-percent' | 'update-percent';
  readonly some: readonly Address[];
  /** how many more were removed by applies of parts */
  readonly before: number;
  /** percent */
  readonly limit: number;
  readonly done: string;
}

function tooLarge(
  { kind, target, owned }: OwnershipCount,
  { id, some, before, limit, done }: Share,
): CountedGuard[] {
  const [counted, of] = [some.length + before, owned + before];
  // Compare without division, so that rounding does not change the limit.
  if (some.length === 0 || of < enoughForPercent || counted * 100 <= limit * of) return [];
  const percent = Math.round((counted * 1000) / of) / 10;
  const message = `${counted} of ${of} ${kind} in ${quoted(target)} would be ${done}${earlier(before)}: ${percent} %, more than ${limit} %`;
  return [finding({ kind, target }, some, { id, before, of, limit, message })];
}

function finding(
  scope: Pick<CountedGuard, 'kind' | 'target'>,
  some: readonly Address[],
  { before, ...about }: Pick<CountedGuard, 'id' | 'of' | 'limit' | 'message'> & { readonly before: number },
): CountedGuard {
  const concerns = some.map((address) => ({ address, messages: [] }));
  return { ...scope, counted: some.length + before, ...about, concerns };
}
