/**
 * Drafts the change for a resource that is no longer declared: its deletion, its release, or the withdrawal of a child. Finds
 * what a plan will delete, and who loses access by it (rule 10).
 */
import { canonicalSpec, contentAfter } from '../compare/comparisons.ts';
import { diff } from '../compare/diff.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Change, Notice } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import type { Overridden } from '../model/kind.ts';
import {
  formatOwnershipTag,
  type LiveResource,
  type OwnershipTag,
  shownOwnershipTag,
  type Spec,
} from '../model/resource.ts';
import { compareResource } from './compare-resource.ts';
import { fingerprintOf } from './digest.ts';
import { type Draft, ownershipTagField } from './draft-declared.ts';
import { overriddenIn } from './last-written.ts';
import { removalOfUndeclared } from './no-longer-declared.ts';
import { ownershipOfDeclared } from './ownership.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from './plan-context.ts';
import type { Removal } from './removal.ts';

export type RemovalAction = Extract<Removal, { is: 'delete' | 'release' | 'revoke' }>;

type RemovalDraft =
  | { readonly is: 'draft'; readonly draft: Draft }
  /** nothing of it is ours any more: only its record is dropped */
  | { readonly is: 'forget' }
  | { readonly is: 'mention'; readonly mention: Notice };

export function draftRemoval(context: PlanContext, address: Address, action: RemovalAction): RemovalDraft {
  if (action.is === 'revoke') return draftWithdrawal(context, address, action.reason);
  if (action.is === 'release') return { is: 'draft', draft: draftRelease(context, address, action.reason) };
  const { reason, remove, place } = action;
  const overridden = remove === 'force' ? findOverridden(context, address) : [];
  const fields = [...mannerOf(context, address, remove), ...overridden.map(({ field }) => field)];
  const notes = overridden.map(({ message }) => message);
  const draft = draftOf(context, address, { action: 'delete', reason, fields, notes, remove });
  const change = { ...draft.change, ...(place && { place }) };
  return { is: 'draft', draft: { ...draft, change, ...(remove === 'force' ? { overridden } : {}) } };
}

function findOverridden(context: PlanContext, address: Address): readonly Overridden[] {
  const live = context.live.get(formatAddress(address));
  return live === undefined ? [] : overriddenIn(context, live);
}

/** Everything that a release changes is among its fields, so that it is shown and approved. */
function draftRelease(context: PlanContext, address: Address, reason: string): Draft {
  const kind = context.kind(address.kind);
  const live = context.live.get(formatAddress(address));
  const desired = live === undefined ? {} : (kind.released?.(live, context.record(address)) ?? {});
  const { fields } = diff({
    fields: kind.fields,
    desired,
    live: live?.spec,
    recorded: undefined,
    absent: 'unmanaged',
    isHidden: (key) => context.secretsIn(key).length > 0,
  });
  const claim = live && shownOwnershipTag(live.witness);
  const unclaimed = claim === undefined ? [] : [ownershipTagField({ before: formatOwnershipTag(claim) })];
  const changes = [...unclaimed, ...fields.map((field) => ({ ...field, origin: 'no longer declared' }))];
  const notes = findRemainingAccess(context, address);
  return { ...draftOf(context, address, { action: 'release', reason, fields: changes, notes }), desired };
}

/** Clauses about access that a release leaves; not for parts that are still declared by themselves. */
function findRemainingAccess(context: PlanContext, address: Address): string[] {
  return context.kinds().flatMap(({ name, ownership, remainingAccess: remains }) => {
    const part = { ...address, kind: name };
    const text = formatAddress(part);
    if (ownership.by !== 'part' || remains === undefined || context.desired.has(text)) return [];
    const record = formatAddress(ownership.of(part)) === formatAddress(address) && context.record(part);
    return record ? remains(record, context.live.get(text)) : [];
  });
}

/** A field of the change, so that a safe, a plain and a forced delete have different digests, and approving one approves no other. */
function mannerOf(context: PlanContext, address: Address, remove: RemovalChange['remove']): FieldChange[] {
  const live = context.live.get(formatAddress(address));
  const isPlain = live !== undefined && context.kind(address.kind).deletesUnguarded?.(live) === true;
  const manner = remove === 'force' ? 'force' : isPlain ? 'plain' : undefined;
  return manner === undefined ? [] : [{ path: ['remove'], after: manner, shape: 'scalar' }];
}

type RemovalChange = Pick<Change, 'action' | 'reason' | 'fields'> & {
  readonly notes?: readonly string[];
  readonly remove?: 'safe' | 'force' | undefined;
};

function draftOf(
  context: PlanContext,
  address: Address,
  { remove, notes = [], ...about }: RemovalChange,
): Draft {
  const live = context.live.get(formatAddress(address));
  const id = live?.id === undefined ? {} : { id: live.id };
  const fingerprint = live === undefined ? {} : fingerprinted(context, live);
  const change = { address, ...about, ...id, ...fingerprint, notes, calls: [], preconditions: {} };
  return { change, desired: {}, prepared: {}, live, ...(remove === undefined ? {} : { remove }) };
}

/** A resource without an id is identified by its content, a part by its whole. */
function fingerprinted(
  context: PlanContext,
  { address, id, spec }: LiveResource,
): Pick<Change, 'fingerprint'> {
  const { fields, ownership } = context.kind(address.kind);
  if (id !== undefined || ownership.by === 'part') return {};
  return { fingerprint: fingerprintOf(contentAfter(fields, spec, [])) };
}

function draftWithdrawal(context: PlanContext, address: Address, reason: string): RemovalDraft {
  const kind = context.kind(address.kind);
  const record = context.record(address);
  const live = context.live.get(formatAddress(address));
  if (live === undefined || record === undefined || kind.withdrawAccess === undefined)
    return { is: 'forget' };
  const desired: Spec = canonicalSpec(kind.fields, kind.withdrawAccess(record, live));
  const { fields, notes, problems, prepared } = compareResource(context, { address, desired, live });
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) {
    const message = `no longer declared, but what this stack had set cannot be taken back: ${problem.message}`;
    return { is: 'mention', mention: { address, message, ...(problem.fix && { fix: problem.fix }) } };
  }
  if (fields.length === 0) return { is: 'forget' };
  const draft = draftOf(context, address, { action: 'delete', reason, fields, notes });
  const claim = ownershipTagOfParent(context, address);
  return { is: 'draft', draft: { ...draft, desired, prepared, ...(claim === undefined ? {} : { claim }) } };
}

/** The claim that the whole will have: reading the part again before this change is sent may show it already. */
function ownershipTagOfParent(context: PlanContext, address: Address): OwnershipTag | undefined {
  const { ownership } = context.kind(address.kind);
  const whole =
    ownership.by === 'part' ? context.desired.get(formatAddress(ownership.of(address))) : undefined;
  const verdict = whole === undefined ? undefined : ownershipOfDeclared(context, whole);
  return verdict?.is === 'ours' ? verdict.claim : undefined;
}

// Finds who loses something by the deletions of a plan, as kinds with `losses` describe it. Pure.

/** By address of a deleted whole: sentences about other resources that lose something and still exist afterwards. */
export function findLosses(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, readonly string[]> {
  const deleted = deletedParents(context, drafts);
  const losses = new Map<AddressText, readonly string[]>();
  if (deleted.size === 0) return losses;
  const outlives = (address: Address, id: string) => !deleted.has(keyOf(address, id));
  for (const live of context.live.values()) {
    const { ownership, losses: tell } = context.kind(live.address.kind);
    if (ownership.by !== 'part' || tell === undefined || live.id === undefined) continue;
    // Compare by id: the whole may have been renamed since the part was recorded.
    const whole = deleted.get(keyOf(ownership.of(live.address), live.id));
    const sentences = whole === undefined ? [] : tell(live, outlives);
    if (whole !== undefined && sentences.length > 0) losses.set(whole, sentences);
  }
  return losses;
}

/** The addresses of deleted wholes, by kind, target and id. */
function deletedParents(
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

// Finds what a plan is going to delete before all parts are read: undeclared parts are read only for wholes that will be
// deleted, to tell who loses something (rule 10).

/**
 * @param input with the targets in question and all wholes in them; parts may be missing, because no verdict about a whole
 * depends on them
 */
export function plannedDeletions(input: PlanContextInput): ReadonlySet<AddressText> {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const desired = input.desired.filter(({ address }) => targets.has(address.target));
  const context = makePlanContext({ ...input, desired });
  const deletions = [...removalOfUndeclared(context)].filter(
    ([text, { is }]) => is === 'delete' && context.kind(parseAddress(text).kind).ownership.by !== 'part',
  );
  return new Set(deletions.map(([text]) => text));
}
