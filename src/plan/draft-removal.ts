/**
 * Drafts the change for a resource that is no longer declared: its deletion, its release, or the withdrawal of a child. Also finds what a
 * plan will delete, and which other resources lose access because of that.
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

export type RemovalAction = Extract<Removal, { is: 'delete' | 'release' | 'withdraw' }>;

type RemovalDraft =
  | { readonly is: 'draft'; readonly draft: Draft }
  /** nothing of it is ours any more: only its record is dropped */
  | { readonly is: 'forget' }
  | { readonly is: 'notice'; readonly notice: Notice };

export function draftRemoval(context: PlanContext, address: Address, action: RemovalAction): RemovalDraft {
  if (action.is === 'withdraw') return draftWithdrawal(context, address, action.reason);
  if (action.is === 'release') return { is: 'draft', draft: draftRelease(context, address, action.reason) };
  const { reason, remove, place } = action;
  const overridden = remove === 'force' ? findOverridden(context, address) : [];
  const fields = [...removalModeField(context, address, remove), ...overridden.map(({ field }) => field)];
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
  const ownershipTag = live && shownOwnershipTag(live.evidence);
  const untagged =
    ownershipTag === undefined ? [] : [ownershipTagField({ before: formatOwnershipTag(ownershipTag) })];
  const changes = [...untagged, ...fields.map((field) => ({ ...field, origin: 'no longer declared' }))];
  const notes = findRemainingAccess(context, address);
  return { ...draftOf(context, address, { action: 'release', reason, fields: changes, notes }), desired };
}

/** Clauses about access that a release leaves; not for children that are still declared by themselves. */
function findRemainingAccess(context: PlanContext, address: Address): string[] {
  return context.kinds().flatMap(({ name, ownership, remainingAccess: remains }) => {
    const child = { ...address, kind: name };
    const text = formatAddress(child);
    if (ownership.by !== 'child' || remains === undefined || context.desired.has(text)) return [];
    const record = formatAddress(ownership.of(child)) === formatAddress(address) && context.record(child);
    return record ? remains(record, context.live.get(text)) : [];
  });
}

/** The mode of a deletion as a field of the change, so that a safe, a plain and a forced delete have different digests. */
function removalModeField(
  context: PlanContext,
  address: Address,
  remove: RemovalChange['remove'],
): FieldChange[] {
  const live = context.live.get(formatAddress(address));
  const isPlain = live !== undefined && context.kind(address.kind).deletesUnguarded?.(live) === true;
  const mode = remove === 'force' ? 'force' : isPlain ? 'plain' : undefined;
  return mode === undefined ? [] : [{ path: ['remove'], after: mode, shape: 'scalar' }];
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

/** A resource without an id is identified by its content, a child by its parent. */
function fingerprinted(
  context: PlanContext,
  { address, id, spec }: LiveResource,
): Pick<Change, 'fingerprint'> {
  const { fields, ownership } = context.kind(address.kind);
  if (id !== undefined || ownership.by === 'child') return {};
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
    const message = `no longer declared, but what this stack had set cannot be removed: ${problem.message}`;
    const notice = { address, message, isPending: true, ...(problem.fix && { fix: problem.fix }) } as const;
    return { is: 'notice', notice };
  }
  if (fields.length === 0) return { is: 'forget' };
  const draft = draftOf(context, address, { action: 'delete', reason, fields, notes });
  const ownershipTag = ownershipTagOfParent(context, address);
  return {
    is: 'draft',
    draft: { ...draft, desired, prepared, ...(ownershipTag === undefined ? {} : { ownershipTag }) },
  };
}

/** The ownership tag that the parent will have. It may have this tag already when the child is read again before its change is sent. */
function ownershipTagOfParent(context: PlanContext, address: Address): OwnershipTag | undefined {
  const { ownership } = context.kind(address.kind);
  const parent =
    ownership.by === 'child' ? context.desired.get(formatAddress(ownership.of(address))) : undefined;
  const verdict = parent === undefined ? undefined : ownershipOfDeclared(context, parent);
  return verdict?.is === 'ours' ? verdict.ownershipTag : undefined;
}

/** By address of a deleted parent: sentences about other resources that stay, but lose something. The kinds of its children write them. */
export function findLosses(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<AddressText, readonly string[]> {
  const deleted = deletedParents(context, drafts);
  const losses = new Map<AddressText, readonly string[]>();
  if (deleted.size === 0) return losses;
  const outlives = (address: Address, id: string) => !deleted.has(keyOf(address, id));
  for (const live of context.live.values()) {
    const { ownership, losses: lossesOf } = context.kind(live.address.kind);
    if (ownership.by !== 'child' || lossesOf === undefined || live.id === undefined) continue;
    // Compare by id: the parent may have been renamed since the child was recorded.
    const parent = deleted.get(keyOf(ownership.of(live.address), live.id));
    const sentences = parent === undefined ? [] : lossesOf(live, outlives);
    if (parent !== undefined && sentences.length > 0) losses.set(parent, sentences);
  }
  return losses;
}

/** The addresses of deleted parents, by kind, target and id. */
function deletedParents(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): ReadonlyMap<string, AddressText> {
  const deletions = [...drafts.values()].flatMap(({ change: { action, address, id } }) => {
    const isParent = context.kind(address.kind).ownership.by !== 'child';
    return action === 'delete' && isParent && id !== undefined
      ? [[keyOf(address, id), formatAddress(address)] as const]
      : [];
  });
  return new Map(deletions);
}

function keyOf({ kind, target }: Address, id: string): string {
  return `${kind}/${target}#${id}`;
}

/**
 * The parents that a plan will delete. It is called before all children are read: of undeclared children, only those of these parents are
 * read, to report which resources lose something.
 * @param input with the targets in question and all parents in them; children may be missing, because no decision about a parent
 * depends on them
 */
export function plannedDeletions(input: PlanContextInput): ReadonlySet<AddressText> {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const desired = input.desired.filter(({ address }) => targets.has(address.target));
  if (!mayDelete({ ...input, desired })) return new Set();
  const context = makePlanContext({ ...input, desired });
  const deletions = [...removalOfUndeclared(context)].filter(
    ([text, { is }]) => is === 'delete' && context.kind(parseAddress(text).kind).ownership.by !== 'child',
  );
  return new Set(deletions.map(([text]) => text));
}

/** Whether any parent is undeclared or has a removal request. Most plans have none, and need no context for this decision. */
function mayDelete({ desired, targets, kinds }: PlanContextInput): boolean {
  if (desired.some(({ metadata }) => metadata.remove !== undefined)) return true;
  const declared = new Set(desired.map(({ address }) => formatAddress(address)));
  return targets.some(({ sets }) =>
    [...sets].some(
      ([kind, { resources }]) =>
        kinds.get(kind)?.ownership.by !== 'child' &&
        resources.some(({ address }) => !declared.has(formatAddress(address))),
    ),
  );
}
