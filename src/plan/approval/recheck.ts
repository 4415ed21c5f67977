/**
 * The last look before a write (rule 29): compares the fields that the plan relied on once more. Already as desired:
 * nothing to do. As before: send. Anything else changed since the plan: stale, and nothing is sent.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Change } from '../../model/plan/change.ts';
import { formatClaim } from '../../model/resource/claim.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText, sameJson } from '../../model/json/json.ts';
import type { Overridden } from '../../model/kind/kind.ts';
import type { Claim, LiveResource } from '../../model/resource/resource.ts';
import { type ResourceComparison, compareResource } from '../draft/compare-resource.ts';
import type { Draft } from '../draft/draft-declared.ts';
import { isAsLastWritten } from '../ownership/judge-whole.ts';
import type { PlanContext } from '../context/plan-context.ts';

export type Recheck =
  | { readonly is: 'send' }
  | { readonly is: 'done' }
  | { readonly is: 'stale'; readonly why: string };

export function recheckDraft(
  context: PlanContext,
  draft: Draft,
  change: Change,
  found: LiveResource | undefined,
): Recheck {
  const { action } = change;
  const now = found && context.withClaim(found);
  if (action === 'create') return recheckCreate(context, draft, now);
  const takesAway = action === 'delete' || action === 'release';
  if (now === undefined) return takesAway ? { is: 'done' } : stale('it is gone from the service');
  const owner = movedOwner(draft, change, now);
  if (owner !== undefined) return stale(owner);
  const isDelete = action === 'delete' && context.kind(change.address.kind).ownership.by !== 'part';
  const verdict = isDelete ? recheckDelete(context, draft, now) : recheckFields(context, draft, change, now);
  const fact = verdict.is === 'send' ? movedFact(change, now) : undefined;
  return fact === undefined ? verdict : stale(fact);
}

function stale(why: string): Recheck {
  return { is: 'stale', why };
}

/** For creates that would overwrite an existing resource: one that exists now did not when the plan was made. */
function recheckCreate(context: PlanContext, draft: Draft, now: LiveResource | undefined): Recheck {
  if (now === undefined) return { is: 'send' };
  const { fields } = compareNow(context, draft, now);
  return fields.length === 0
    ? { is: 'done' }
    : stale('something of that name appeared since the plan was made');
}

function recheckDelete(context: PlanContext, draft: Draft, now: LiveResource): Recheck {
  const { address } = draft.change;
  const kind = context.kind(address.kind);
  const record = context.record(address);
  if (context.isLedgerOwned(address) && !context.isOurs(now.witness.bornOf))
    return stale('its birth mark is gone');
  const obstacles =
    draft.remove === 'force'
      ? unapproved(draft, kind.overridden?.(now, record) ?? [])
      : (kind.blockers?.(now, 'delete', record) ?? []);
  if (obstacles.length > 0) return stale(obstacles.join('; '));
  const isWitnessed = kind.ownership.by === 'ledger' && draft.remove === undefined && record !== undefined;
  return isWitnessed && !isAsLastWritten(context, now, record)
    ? stale('it changed since our last write')
    : { is: 'send' };
}

/** What a forced deletion would override now and the approved plan did not show. */
function unapproved({ overridden = [] }: Draft, now: readonly Overridden[]): string[] {
  const known = new Set(overridden.map(({ field }) => canonicalText({ ...field })));
  return now.flatMap(({ field, message }) => (known.has(canonicalText({ ...field })) ? [] : [message]));
}

/** A difference in the written fields that the plan did not show means that live changed since. */
function recheckFields(context: PlanContext, draft: Draft, change: Change, now: LiveResource): Recheck {
  const own = change.fields.filter(isOwnField).map((planned) => [planned, stateOfOwn(planned, now)] as const);
  const moved = own.find(([, state]) => state === 'moved');
  if (moved !== undefined) return stale(`${pathText(moved[0])} moved since the plan was made`);
  const { fields, problems } = releasesOnly(draft) ? nothing : compareNow(context, draft, now);
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) return stale(problem.message);
  const left = fieldsOfWrite(context, change, fields);
  const planned = new Map(change.fields.map((field) => [pathText(field), field] as const));
  const unplanned = left.find((field) => !isAsPlanned(planned.get(pathText(field)), field));
  if (unplanned !== undefined) return stale(`${pathText(unplanned)} moved since the plan was made`);
  const isDone = left.length === 0 && own.every(([, state]) => state === 'after');
  return isDone ? { is: 'done' } : { is: 'send' };
}

/**
 * Whether live is as a call of the change was to make it, whatever the answer: a deleted resource is gone, and the
 * written fields are as planned. It does not prove that this call did it.
 * @param written top-level names of the fields that the call writes
 */
export function isCarriedOut(
  context: PlanContext,
  draft: Draft,
  { change, written }: { readonly change: Change; readonly written: ReadonlySet<string> },
  found: LiveResource | undefined,
): boolean {
  const now = found && context.withClaim(found);
  const { ownership, absent } = context.kind(change.address.kind);
  const isDelete = change.action === 'delete' && ownership.by !== 'part';
  if (now === undefined || isDelete) return isDelete && now === undefined;
  if (written.size === 0 && change.action !== 'create') return false;
  if (movedOwner(draft, change, now) !== undefined) return false;
  const { fields, problems } = releasesOnly(draft) ? nothing : compareNow(context, draft, now);
  if (problems.some(({ severity }) => severity === 'error')) return false;
  const isWritten = ({ path: [name = ''] }: FieldChange) => written.has(name);
  const own = change.fields.filter((field) => isOwnField(field) && isWritten(field));
  return (
    own.every((field) => stateOfOwn(field, now) === 'after') &&
    !fields.some((field) => absent === 'default' || isWritten(field))
  );
}

/** A release that changes only the claim and the ledger. */
function releasesOnly({ change, desired }: Draft): boolean {
  return change.action === 'release' && Object.keys(desired).length === 0;
}

const nothing: Pick<ResourceComparison, 'fields' | 'problems'> = { fields: [], problems: [] };

/** The differences in fields that the write touches: planned fields, or all where every write replaces the whole resource. */
function fieldsOfWrite(
  context: PlanContext,
  change: Change,
  fields: readonly FieldChange[],
): readonly FieldChange[] {
  if (context.kind(change.address.kind).absent === 'default') return fields;
  const written = new Set(change.fields.map(({ path }) => path[0]));
  return fields.filter(({ path }) => written.has(path[0]));
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

function compareNow(context: PlanContext, draft: Draft, now: LiveResource) {
  const resource = context.desired.get(formatAddress(draft.change.address));
  return compareResource(context, {
    address: draft.change.address,
    resource,
    desired: draft.desired,
    live: now,
  });
}

/** Claim and name are fields of the planner itself: no kind's table has them. */
function isOwnField({ path }: FieldChange): boolean {
  return path.length === 1 && (path[0] === 'claim' || path[0] === 'name');
}

type FieldState = 'before' | 'after' | 'moved';

function stateOfOwn({ path, before, after }: FieldChange, now: LiveResource): FieldState {
  const value = path[0] === 'name' ? now.spec['name'] : claimText(now.witness.claim);
  if (sameJson(value, after)) return 'after';
  return sameJson(value, before) ? 'before' : 'moved';
}

function movedFact(change: Change, now: LiveResource): string | undefined {
  const moved = Object.entries(change.preconditions).find(
    ([name, value]) => !sameJson(now.facts[name] ?? null, value),
  );
  return moved === undefined ? undefined : `${moved[0]} moved since the plan was made`;
}

/**
 * A claim that this change does not write must still be the one that the plan saw, or, for a part, the one that the same
 * plan writes to the whole.
 */
function movedOwner(draft: Draft, change: Change, now: LiveResource): string | undefined {
  if (change.fields.some((field) => isOwnField(field) && field.path[0] === 'claim')) return undefined;
  const current = claimText(now.witness.claim);
  const isSeen = current === claimText(draft.live?.witness.claim);
  const isGiven = draft.claim !== undefined && current === claimText(draft.claim);
  return isSeen || isGiven ? undefined : 'its claim moved since the plan was made';
}

/** An inherited claim differs from the same claim on the resource itself. */
function claimText(claim: Claim | undefined): string | undefined {
  return claim && `${formatClaim(claim)}${claim.inherited ? ' (inherited)' : ''}`;
}
