/**
 * The last check before a write: compares again the fields that the plan relied on. If they are already as desired, nothing has to be
 * done. If they are as before, the call is sent. Otherwise they changed since the plan: the change is stale, and nothing is sent.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import type { Risk } from '../model/guard.ts';
import { formatOwnershipTag, type LiveResource, type OwnershipTag } from '../model/resource.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, type Json, sameJson } from '../model/json.ts';
import type { Inheritable } from '../model/kind-specs.ts';
import type { Overridden } from '../model/kind.ts';
import { type ResourceComparison, compareResource } from './compare-resource.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';
import { isAsLastWritten, overriddenChange, overriddenIn } from './last-written.ts';
import { hasOurMark } from './moved-ownership.ts';
import { withPlannedAddresses } from './names.ts';

export type Recheck =
  | { readonly is: 'send' }
  | { readonly is: 'done' }
  | { readonly is: 'stale'; readonly why: string };

/** A call after another call of the same change: the fields that the other one wrote are no longer as the plan read them. */
export interface LaterCall {
  /** top-level names of the fields that the call writes */
  readonly written: ReadonlySet<string>;
  /** the facts among the change's preconditions that the call itself relies on */
  readonly reliesOn: readonly string[];
}

export interface RecheckMoment {
  /** the time, in milliseconds since 1970 */
  readonly now: number;
  /** ids of resources that the apply has created, for which the plan has addresses */
  readonly created?: ReadonlyMap<AddressText, string> | undefined;
  /** the current defaults of a parent; absent if the call does not rely on them */
  readonly inheritable?: Inheritable | undefined;
  /** absent if no other call of the change was sent before */
  readonly later?: LaterCall | undefined;
}

/** Compares with what the plan relied on, and with the time. */
export function recheckAt(
  context: PlanContext,
  draft: Draft,
  about: RecheckMoment & { readonly change: Change },
  found: LiveResource | undefined,
): Recheck {
  const expired = whyExpired(context, draft, about.now);
  if (expired !== undefined) return stale(expired);
  const fresh = withPlannedAddresses(context, draft, { found, ...about });
  const verdict = recheckDraft(context, draft, about, fresh);
  const changed = verdict.is === 'send' ? whyDefaultsChanged(context, draft, about) : undefined;
  return changed === undefined ? verdict : stale(changed);
}

/** Why the change is stale, if the current defaults of a parent give another result than those that the plan read. */
function whyDefaultsChanged(context: PlanContext, draft: Draft, about: RecheckMoment): string | undefined {
  const { address } = draft.change;
  const { inheritable, now: time } = about;
  const resource = context.desired.get(formatAddress(address));
  if (inheritable === undefined || resource === undefined) return undefined;
  const sides = { address, resource, desired: draft.desired, live: draft.live };
  const [planned, found] = [context, { ...context, inheritable: () => inheritable }].map((given) => {
    const { fields, inherited, notes, risks } = compareResource(given, sides, time);
    return JSON.stringify([fields, inherited.fields, notes, risks]);
  });
  return planned === found
    ? undefined
    : `the defaults of ${inheritable.from} changed since the plan was made`;
}

/** Compares with what the plan relied on. @param found the resource as it was read again */
function recheckDraft(
  context: PlanContext,
  draft: Draft,
  about: CheckedCall,
  found: LiveResource | undefined,
): Recheck {
  const { change, later } = about;
  const { action } = change;
  const fresh = found && context.withRecordedTag(found);
  if (action === 'create' && later === undefined) return recheckCreate(context, draft, fresh);
  const isRemoval = action === 'delete' || action === 'release';
  if (fresh === undefined) return isRemoval ? { is: 'done' } : stale('it no longer exists in the service');
  const owner = whyOwnerChanged(context, draft, change, fresh);
  if (owner !== undefined) return stale(owner);
  const isDelete = action === 'delete' && context.kind(change.address.kind).ownership.by !== 'child';
  const verdict = isDelete
    ? recheckDelete(context, draft, fresh)
    : recheckFields(context, draft, about, fresh);
  if (verdict.is !== 'send') return verdict;
  const changed = whyFactChanged(about, fresh) ?? whyOtherEffect(context, draft, about, fresh);
  return changed === undefined ? verdict : stale(changed);
}

/** A change, and which of its calls is checked. */
type CheckedCall = Pick<RecheckMoment, 'later'> & { readonly change: Change };

/**
 * Why the change is stale, if the write would now cause a destroy or another effect outside of the plan that the plan did not show.
 * A later call causes only the effects of the fields that it writes: those of the others were caused by the calls before it.
 */
function whyOtherEffect(
  context: PlanContext,
  draft: Draft,
  { change: { action, risks: planned = [] }, later }: CheckedCall,
  fresh: LiveResource,
): string | undefined {
  if (action === 'delete' || action === 'release') return undefined;
  const shown = new Set(planned.map(({ message }) => message));
  const isCaused = ({ path: [name = ''] }: Risk) => later === undefined || later.written.has(name);
  const other = compareNow(context, draft, fresh)
    .risks.filter(({ effect }) => effect === 'destroys' || effect === 'affects')
    .find((risk) => !shown.has(risk.message) && isCaused(risk));
  return other && `with what changed since the plan was made, ${other.message}`;
}

/** Why it is too late for the change by now: time passes between a plan, its approval and the write. */
function whyExpired(context: PlanContext, draft: Draft, time: number): string | undefined {
  const { address } = draft.change;
  const resource = context.desired.get(formatAddress(address));
  if (resource === undefined) return undefined;
  const { desired, live } = draft;
  return compareResource(context, { address, resource, desired, live }, time).expired?.message;
}

/** Whether it can become too late for a change at all. */
export function mayExpire(context: PlanContext, draft: Draft): boolean {
  return whyExpired(context, draft, Number.POSITIVE_INFINITY) !== undefined;
}

function stale(why: string): Recheck {
  return { is: 'stale', why };
}

/** For creates that would overwrite an existing resource: one that exists now was created after the plan. */
function recheckCreate(context: PlanContext, draft: Draft, fresh: LiveResource | undefined): Recheck {
  if (fresh === undefined) return { is: 'send' };
  const { fields } = compareNow(context, draft, fresh);
  return fields.length === 0
    ? { is: 'done' }
    : stale('a resource with this name appeared since the plan was made');
}

function recheckDelete(context: PlanContext, draft: Draft, fresh: LiveResource): Recheck {
  const { address } = draft.change;
  const kind = context.kind(address.kind);
  const record = context.record(address);
  if (context.isLedgerOwned(address) && !hasOurMark(context, fresh))
    return stale('its creator mark was removed');
  const obstacles =
    draft.remove === 'force' && kind.contents === undefined
      ? unapproved(draft, overriddenIn(context, fresh))
      : [...(kind.blockers?.(fresh, 'delete', record) ?? []), ...changedSince(context, fresh)];
  if (obstacles.length > 0) return stale(obstacles.join('; '));
  const mustBeSame = kind.ownership.by === 'ledger' && draft.remove === undefined && record !== undefined;
  return mustBeSame && !isAsLastWritten(context, fresh, record)
    ? stale('it changed since this stack last wrote it')
    : { is: 'send' };
}

function changedSince(context: PlanContext, fresh: LiveResource): string[] {
  const change = overriddenChange(context, fresh);
  return change === undefined ? [] : [change.message];
}

/** What a forced deletion would override now and the approved plan did not show. */
function unapproved({ overridden = [] }: Draft, fresh: readonly Overridden[]): string[] {
  const known = new Set(overridden.map(({ field }) => canonicalText({ ...field })));
  return fresh.flatMap(({ field, message }) => (known.has(canonicalText({ ...field })) ? [] : [message]));
}

/** A difference in the written fields that the plan did not show means that live changed since. */
function recheckFields(
  context: PlanContext,
  draft: Draft,
  { change, later }: CheckedCall,
  fresh: LiveResource,
): Recheck {
  const own = change.fields.filter(isOwnField).map((field) => [field, stateOfOwn(field, fresh)] as const);
  const changed = own.find(([, state]) => state === 'changed');
  if (changed !== undefined) return stale(`${pathText(changed[0])} changed since the plan was made`);
  const compared = releasesOnly(draft) ? nothing : compareNow(context, draft, fresh);
  const problem = compared.problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) return stale(problem.message);
  const isWritten = ({ path: [name = ''] }: FieldChange) => later === undefined || later.written.has(name);
  const left = fieldsOfWrite(context, draft, change, compared).filter(isWritten);
  const planned = new Map(change.fields.map((field) => [pathText(field), field] as const));
  const isExpected = later === undefined ? isAsPlanned : isAsPlannedInPart;
  const unplanned = left.find((field) => !isExpected(planned.get(pathText(field)), field));
  if (unplanned !== undefined) return stale(`${pathText(unplanned)} changed since the plan was made`);
  if (later?.written.size === 0) return { is: 'send' };
  const isDone = left.length === 0 && own.every(([field, state]) => state === 'after' || !isWritten(field));
  return isDone ? { is: 'done' } : { is: 'send' };
}

/**
 * Whether live is as a call of the change should make it, regardless of the response: a deleted resource is gone, and the written fields
 * are as planned. This does not prove that this call did it.
 * @param written top-level names of the fields that the call writes
 */
export function isCarriedOut(
  context: PlanContext,
  draft: Draft,
  about: Pick<RecheckMoment, 'created'> & { readonly change: Change; readonly written: ReadonlySet<string> },
  live: LiveResource | undefined,
): boolean {
  const { change, written } = about;
  const found = withPlannedAddresses(context, draft, { found: live, ...about });
  const fresh = found && context.withRecordedTag(found);
  const { ownership, absent } = context.kind(change.address.kind);
  const isDelete = change.action === 'delete' && ownership.by !== 'child';
  if (fresh === undefined || isDelete) return isDelete && fresh === undefined;
  if (written.size === 0 && change.action !== 'create') return false;
  if (whyOwnerChanged(context, draft, change, fresh) !== undefined) return false;
  const { fields, problems } = releasesOnly(draft) ? nothing : compareNow(context, draft, fresh);
  if (problems.some(({ severity }) => severity === 'error')) return false;
  const isWritten = ({ path: [name = ''] }: FieldChange) => written.has(name);
  const own = change.fields.filter((field) => isOwnField(field) && isWritten(field));
  return (
    own.every((field) => stateOfOwn(field, fresh) === 'after') &&
    !fields.some((field) => absent === 'default' || isWritten(field))
  );
}

/** A release that changes only the ownership tag and the ledger. */
function releasesOnly({ change, desired }: Draft): boolean {
  return change.action === 'release' && Object.keys(desired).length === 0;
}

const nothing: Pick<ResourceComparison, 'fields' | 'prepared' | 'problems'> = {
  fields: [],
  prepared: {},
  problems: [],
};

/**
 * The differences in fields that the write affects: planned fields, undeclared ones that the service changes with them, or all fields
 * if every write replaces the whole resource.
 */
function fieldsOfWrite(
  context: PlanContext,
  { desired }: Draft,
  change: Change,
  { fields, prepared }: typeof nothing,
): readonly FieldChange[] {
  if (context.kind(change.address.kind).absent === 'default') return fields;
  const written = new Set(change.fields.map(({ path }) => path[0]));
  const follows = (name = '') => desired[name] === undefined && prepared[name] !== undefined;
  return fields.filter(({ path: [name] }) => written.has(name) || follows(name));
}

function pathText({ path }: FieldChange): string {
  return path.join('.');
}

/** Whether a difference is the planned one. If the value before was unknown, only the value after must be the same. */
function isAsPlanned(planned: FieldChange | undefined, found: FieldChange): boolean {
  if (planned === undefined || !sameJson(planned.after, found.after)) return false;
  return (
    planned.unknown !== undefined || (found.unknown === undefined && sameJson(planned.before, found.before))
  );
}

/** `isAsPlanned` after another call of the change, which may have created the resource, or added or removed some elements of a set. */
function isAsPlannedInPart(planned: FieldChange | undefined, found: FieldChange): boolean {
  if (isAsPlanned(planned, found)) return true;
  if (planned === undefined || !sameJson(planned.after, found.after)) return false;
  if (planned.before === undefined) return isUnset(found.before);
  const [before, after, current] = [planned.before, planned.after, found.before].map(elementsOf);
  if (planned.shape !== 'set' || !before || !after || !current) return false;
  return (
    [...current].every((element) => before.has(element) || after.has(element)) &&
    [...before].every((element) => !after.has(element) || current.has(element))
  );
}

function isUnset(value: Json | undefined): boolean {
  return value === undefined || [null, '', false, [], {}].some((empty) => sameJson(value, empty));
}

function elementsOf(value: Json | undefined): ReadonlySet<string> | undefined {
  return Array.isArray(value) ? new Set(value.map(canonicalText)) : undefined;
}

function compareNow(context: PlanContext, draft: Draft, fresh: LiveResource) {
  const { address } = draft.change;
  const resource = context.desired.get(formatAddress(address));
  return compareResource(context, { address, resource, desired: draft.desired, live: fresh });
}

/** Ownership tag (`claim`) and name are fields of the planner itself: no kind's table has them. */
function isOwnField({ path }: FieldChange): boolean {
  return path.length === 1 && (path[0] === 'claim' || path[0] === 'name');
}

type FieldState = 'before' | 'after' | 'changed';

function stateOfOwn({ path, before, after }: FieldChange, fresh: LiveResource): FieldState {
  const value = path[0] === 'name' ? fresh.spec['name'] : comparableTag(fresh.evidence.ownershipTag);
  if (sameJson(value, after)) return 'after';
  return sameJson(value, before) ? 'before' : 'changed';
}

function whyFactChanged({ change, later }: CheckedCall, fresh: LiveResource): string | undefined {
  const changed = Object.entries(change.preconditions).find(
    ([name, value]) =>
      (later === undefined || later.reliesOn.includes(name)) && !sameJson(fresh.facts[name] ?? null, value),
  );
  return changed === undefined ? undefined : `${changed[0]} changed since the plan was made`;
}

/** Why the tag makes the change stale. Unless the change writes it, it must be as read, or, for a child, as the plan writes it. */
function whyOwnerChanged(
  context: PlanContext,
  draft: Draft,
  change: Change,
  fresh: LiveResource,
): string | undefined {
  if (change.fields.some((field) => isOwnField(field) && field.path[0] === 'claim')) return undefined;
  const current = comparableTag(fresh.evidence.ownershipTag);
  const isSeen = current === comparableTag(ownershipTagSeen(context, draft));
  const isGiven = draft.ownershipTag !== undefined && current === comparableTag(draft.ownershipTag);
  return isSeen || isGiven ? undefined : 'its ownership tag changed since the plan was made';
}

/**
 * The ownership tag that the plan read in the service. For a child it is the tag of its parent, which decides who owns it: a child
 * whose kind does not read that tag again is not written.
 */
function ownershipTagSeen(
  context: PlanContext,
  { change: { address }, live }: Draft,
): OwnershipTag | undefined {
  const { ownership } = context.kind(address.kind);
  const parent =
    ownership.by === 'child' ? context.live.get(formatAddress(ownership.of(address))) : undefined;
  if (parent === undefined) return live?.evidence.ownershipTag;
  const { ownershipTag } = parent.evidence;
  return ownershipTag?.recorded ? undefined : ownershipTag;
}

/** The tag as a text for comparisons. An inherited tag differs from the same tag on the resource itself. */
function comparableTag(ownershipTag: OwnershipTag | undefined): string | undefined {
  return ownershipTag && `${formatOwnershipTag(ownershipTag)}${ownershipTag.inherited ? ' (inherited)' : ''}`;
}
