/**
 * Drafts the change of a declared resource, compared field by field, without its calls. The draft keeps the input of the
 * comparison, so that it can be repeated just before the write.
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Action, Change } from '../../model/plan/change.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import type { Overridden } from '../../model/kind/kind.ts';
import type { LedgerRecord } from '../../model/stack/ledger.ts';
import type { Claim, DesiredResource, LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec, contentAfter } from '../../compare/canonical-spec.ts';
import { type ResourceComparison, compareResource } from './compare-resource.ts';
import { type ClaimChange, judgeDeclared, judgeUnrecorded, type Ours } from '../ownership/judge-declared.ts';
import { seenValues } from './seen-values.ts';
import type { PlanContext } from '../context/plan-context.ts';

export interface Draft {
  readonly change: Change;
  /** canonical, as declared; for a withdrawn part the spec that remains; empty for a removal */
  readonly desired: Spec;
  /** the same after the kind's `prepare`; calls are made from it */
  readonly prepared: Spec;
  readonly live: LiveResource | undefined;
  /** the claim that the resource, or the whole that it is a part of, will have */
  readonly claim?: Claim;
  readonly remove?: 'safe' | 'force';
  /** what a forced deletion overrides; absent for any other change */
  readonly overridden?: readonly Overridden[];
  /** absent for a resource that is not declared */
  readonly record?: LedgerRecord;
}

interface Drafted {
  /** absent when there is a problem with it or its whole, or when it could not be read */
  readonly draft?: Draft;
  readonly problems: readonly Diagnostic[];
}

export function draftDeclared(context: PlanContext, resource: DesiredResource): Drafted {
  if (context.unseen(resource.address) !== undefined) return { problems: [] };
  const verdict = judgeDeclared(context, resource);
  if (verdict.is === 'problem') return { problems: [verdict.problem] };
  if (verdict.is === 'blocked') return { problems: [] };
  const { address, place } = resource;
  const unsupported = context.unsupported(address);
  if (unsupported !== undefined) return { problems: [{ severity: 'error', place, ...unsupported }] };
  const live = context.live.get(formatAddress(address));
  const desired = canonicalSpec(context.kind(address.kind).fields, resource.spec);
  const compared = compareResource(context, { address, resource, desired, live });
  const settled = verdict.is === 'ours' ? verdict : judgeUnrecorded(context, resource, compared.fields);
  const { problems } = compared;
  if (hasErrors(problems)) return { problems };
  const draft = assemble(context, { resource, desired, live, verdict: settled, compared });
  return { draft, problems };
}

interface Parts {
  readonly resource: DesiredResource;
  readonly desired: Spec;
  readonly live: LiveResource | undefined;
  readonly verdict: Ours;
  readonly compared: ResourceComparison;
}

function assemble(context: PlanContext, parts: Parts): Draft {
  const { resource, desired, live, verdict, compared } = parts;
  const fields = [
    ...renameChange(resource, live),
    ...(verdict.claimChange === undefined ? [] : [claimField(verdict.claimChange)]),
    ...compared.fields,
  ];
  const action: Action = verdict.action === 'update' && fields.length === 0 ? 'none' : verdict.action;
  return {
    change: {
      address: resource.address,
      action,
      reason: verdict.reason,
      fields,
      notes: [
        ...compared.notes,
        ...predictedNotes(context, parts, action),
        ...unseenTwin(context, parts, action),
      ],
      place: resource.place,
      ...(live?.id === undefined ? {} : { id: live.id }),
      calls: [],
      preconditions: {},
    },
    desired,
    prepared: compared.prepared,
    live,
    ...(verdict.claim === undefined ? {} : { claim: verdict.claim }),
    record: recordDraft(context, parts),
  };
}

function renameChange(resource: DesiredResource, live: LiveResource | undefined): FieldChange[] {
  const before = live?.spec['name'];
  const after = resource.address.name;
  return before === undefined || before === after ? [] : [{ path: ['name'], before, after, shape: 'scalar' }];
}

export function claimField({ before, after }: ClaimChange): FieldChange {
  return {
    path: ['claim'],
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape: 'scalar',
  };
}

function predictedNotes(
  context: PlanContext,
  { resource: { address } }: Parts,
  action: Action,
): readonly string[] {
  return action === 'create' ? context.predictedNotes(address) : [];
}

/** A creation may fail because the resource already exists and could not be read. */
function unseenTwin(context: PlanContext, { resource: { address }, live }: Parts, action: Action): string[] {
  const blind = action === 'none' || live !== undefined ? undefined : context.ownBlindSpot(address);
  return blind === undefined ? [] : [`it may exist already, for not everything was seen: ${blind}`];
}

function recordDraft(
  context: PlanContext,
  { resource, desired, live, verdict, compared }: Parts,
): LedgerRecord {
  const kind = context.kind(resource.address.kind);
  const { fields, ownership } = kind;
  const { onRemove, protect } = resource.metadata;
  const managed = Object.entries(desired).filter(([name]) => fields[name]?.local !== true);
  return {
    ...(live?.id === undefined ? {} : { id: live.id }),
    origin: verdict.origin,
    ...(onRemove === undefined ? {} : { onRemove }),
    ...(protect === undefined ? {} : { protect }),
    fields: Object.fromEntries(managed),
    ...(ownership.by === 'ledger' ? { content: contentAfter(fields, live?.spec, compared.fields) } : {}),
    ...(ownership.by === 'claim' && live !== undefined
      ? { seen: seenValues(kind, live, { declared: desired, changes: compared.fields }) }
      : {}),
  };
}
