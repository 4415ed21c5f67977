/** Drafts the change for a resource that is no longer declared: its deletion, its release, or the withdrawal of a part. */

import { type Address, formatAddress } from '../../model/resource/address.ts';
import type { Change, Notice } from '../../model/plan/change.ts';
import { formatOwnershipTag, shownOwnershipTag } from '../../model/resource/claim.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Overridden } from '../../model/kind/kind.ts';
import type { OwnershipTag, LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec, contentAfter } from '../../compare/canonical-spec.ts';
import { compareResource } from './compare-resource.ts';
import { diff } from '../../compare/diff.ts';
import { fingerprintOf } from '../approval/digest.ts';
import { ownershipTagField, type Draft } from './draft-declared.ts';
import { ownershipOfDeclared } from '../ownership/judge-declared.ts';
import type { Removal } from '../ownership/removal.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { overriddenIn } from '../ownership/last-written.ts';

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
