/**
 * Drafts the change of a declared resource: compares it field by field, and leaves its calls to `plan-calls.ts`. Also finds references to
 * resources that will not exist or could not be read.
 */
import { canonicalDefault, canonicalSpec, canonicalValue } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Action, Change } from '../model/change.ts';
import { joined, none } from '../model/lists.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { Field, FieldChange } from '../model/field.ts';
import type { Risk } from '../model/guard.ts';
import { sameJson } from '../model/json.ts';
import type { Overridden } from '../model/kind.ts';
import type { LedgerRecord, Origin } from '../model/ledger.ts';
import { unseenNote } from '../model/transient-notes.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource, LiveResource, OwnershipTag, Spec } from '../model/resource.ts';
import { compareResource, type ResourceComparison } from './compare-resource.ts';
import { creatorMessage, otherCreator } from './other-creator.ts';
import {
  type Ours,
  ownershipOfDeclared,
  ownershipOfUnrecorded,
  type OwnershipTagChange,
} from './ownership.ts';
import { missingReference } from './missing-reference.ts';
import { namedResources } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { flagChanges, ownerChanges, sourceChanges } from './recorded-flags.ts';
import { movingFrom } from './moved-ownership.ts';

export interface Draft {
  readonly change: Change;
  /** canonical, as declared; for a withdrawn child the spec that remains; empty for a removal */
  readonly desired: Spec;
  /** the same after the kind's `prepare`; calls are made from it */
  readonly prepared: Spec;
  readonly live: LiveResource | undefined;
  /** the ownership tag that the resource, or its parent, will have */
  readonly ownershipTag?: OwnershipTag;
  readonly remove?: 'safe' | 'force';
  /** what a forced deletion overrides; absent for any other change */
  readonly overridden?: readonly Overridden[];
  /** the risks that the comparison itself found */
  readonly risks?: readonly Risk[];
  /** absent for a resource that is not declared */
  readonly recording?: Recording;
}

/** What the record needs besides the draft. Data, because functions of thousands of drafts would keep all their inputs in memory. */
interface Recording {
  readonly resource: DesiredResource;
  readonly origin: Origin;
  /** the values that it inherits afterwards, if a plan has shown them */
  readonly inherited: Spec;
  /** the changes of its fields */
  readonly fields: readonly FieldChange[];
  /** whether anything is sent for it */
  readonly isSent: boolean;
}

interface Drafted {
  /** absent when there is a problem with it or its parent, or when it could not be read */
  readonly draft?: Draft;
  readonly problems: readonly Diagnostic[];
}

export function draftDeclared(context: PlanContext, resource: DesiredResource): Drafted {
  if (context.unreadReason(resource.address) !== undefined) return { problems: [] };
  const verdict = ownershipOfDeclared(context, resource);
  if (verdict.is === 'problem') return { problems: [verdict.problem] };
  if (verdict.is === 'blocked') return { problems: [] };
  const { address } = resource;
  const unsupported = context.unsupported(address);
  if (unsupported !== undefined)
    return { problems: [{ severity: 'error', place: resource.place, ...unsupported }] };
  const unknownNames = context.unknownNames.get(formatAddress(address));
  if (unknownNames !== undefined) return { problems: unknownNames };
  const live = context.live.get(formatAddress(address));
  const desired = canonicalSpec(context.kind(address.kind).fields, resource.spec);
  const compared = compareResource(context, { address, resource, desired, live });
  const ours = verdict.is === 'ours' ? verdict : ownershipOfUnrecorded(context, resource, compared.fields);
  const expired = context.isApproved ? [] : (compared.expired ?? []);
  const problems = [
    ...compared.problems,
    ...lackingFields(context, resource),
    ...refusedValues(context, resource, compared.fields),
    ...[expired].flat(),
  ];
  if (hasErrors(problems)) return { problems };
  const draft = assemble(context, { resource, desired, live, verdict: ours, compared });
  return { draft, problems };
}

/**
 * A warning in every plan for each declared field that the service returns for no resource. A declared default needs no warning,
 * because a service without the field behaves as if it had the default.
 */
function lackingFields(context: PlanContext, { address, spec, placeOf }: DesiredResource): Diagnostic[] {
  const lacking = context.lacking(address);
  if (lacking.length === 0) return [];
  const { fields } = context.kind(address.kind);
  const isDefault = (name: string, field: Field) =>
    field.default !== undefined &&
    sameJson(canonicalValue(field, spec[name] ?? null), canonicalDefault(field));
  return lacking.flatMap((name): Diagnostic[] => {
    const field = fields[name];
    if (spec[name] === undefined || field === undefined || isDefault(name, field)) return [];
    return [
      {
        code: 'field-not-available',
        severity: 'warning',
        class: 'invalid',
        message: `${quoted(name)} of ${quoted(formatAddress(address))} has no visible effect: the service does not have this field, or does not return it`,
        place: placeOf([name]),
        fix: 'remove the field, or let the token read it if the service has it',
      },
    ];
  });
}

/** An error for each declared value that the service refuses, if the plan sends it. */
function refusedValues(
  context: PlanContext,
  { address, placeOf }: DesiredResource,
  fields: readonly FieldChange[],
): Diagnostic[] {
  const refusedValues = context.refusedValues(address);
  if (refusedValues.length === 0) return [];
  const sent = new Set(fields.map(({ path: [name] }) => name));
  return refusedValues
    .filter((refused) => refused.fields.some((name) => sent.has(name)))
    .map(({ fields: names, ...refused }) => ({
      severity: 'error',
      class: 'invalid',
      ...refused,
      place: placeOf(names.slice(0, 1)),
    }));
}

interface DraftInput {
  readonly resource: DesiredResource;
  readonly desired: Spec;
  readonly live: LiveResource | undefined;
  readonly verdict: Ours;
  readonly compared: ResourceComparison;
}

function assemble(context: PlanContext, input: DraftInput): Draft {
  const { resource, desired, live, verdict, compared } = input;
  const sent = joined(
    renameChange(resource, live),
    verdict.tagChange === undefined ? none : [ownershipTagField(verdict.tagChange)],
    compared.fields,
  );
  const known = context.record(resource.address);
  const record = verdict.action === 'create' ? undefined : (known ?? {});
  const onlyRecorded = [
    ...ownerChanges(context, resource.address, movingFrom(context, resource.address, live)),
    ...(context.kind(resource.address.kind).ownership.by === 'child'
      ? []
      : sourceChanges(context, resource.address)),
    ...flagChanges(context, resource.address, { record, declared: resource.metadata }),
  ];
  const inherited = sent.length > 0 || live === undefined ? compared.inherited.fields : none;
  const fields = joined(sent, inherited, onlyRecorded);
  const action: Action = verdict.action === 'update' && fields.length === 0 ? 'none' : verdict.action;
  const createdBy = action === 'adopt' ? otherCreator(context, resource.address) : undefined;
  return {
    change: {
      address: resource.address,
      action,
      reason: reasonOf(verdict, sent, onlyRecorded),
      fields,
      notes: joined(
        createdBy === undefined ? none : [creatorMessage(createdBy)],
        compared.notes,
        predictedNotes(context, input, action),
        mayExistNote(context, input, action),
      ),
      // Only changes are shown with their place, and computing it takes as long as the comparison.
      ...(action === 'none' ? {} : { place: resource.place }),
      ...(live?.id === undefined ? {} : { id: live.id }),
      ...(createdBy === undefined ? {} : { createdBy }),
      calls: none,
      preconditions: noPreconditions,
    },
    desired,
    prepared: compared.prepared,
    live,
    ...(verdict.ownershipTag === undefined ? {} : { ownershipTag: verdict.ownershipTag }),
    ...(compared.risks.length === 0 ? {} : { risks: compared.risks }),
    recording: {
      resource,
      origin: verdict.origin,
      inherited: recordedInheritance(compared.inherited, known),
      fields: compared.fields,
      isSent: sent.length > 0,
    },
  };
}

const noPreconditions: Change['preconditions'] = {};

/** The inherited values to record: only those that this plan shows or the record has. Other defaults of a parent are not recorded. */
function recordedInheritance(
  { values, fields }: ResourceComparison['inherited'],
  known: LedgerRecord | undefined,
): Spec {
  if (fields.length === 0 && known?.inherited === undefined) return noValues;
  const shown = new Set([...fields.map(({ path }) => path[1] ?? ''), ...Object.keys(known?.inherited ?? {})]);
  return Object.fromEntries(Object.entries(values).filter(([name]) => shown.has(name)));
}

const noValues: Spec = {};

function reasonOf(verdict: Ours, sent: readonly FieldChange[], onlyRecorded: readonly FieldChange[]): string {
  const isOnlyRecorded = verdict.action === 'update' && sent.length === 0 && onlyRecorded.length > 0;
  return isOnlyRecorded
    ? 'declared, and the ledger differs: nothing is sent, it is recorded'
    : verdict.reason;
}

function renameChange(resource: DesiredResource, live: LiveResource | undefined): FieldChange[] {
  const before = live?.spec['name'];
  const after = resource.address.name;
  return before === undefined || before === after ? [] : [{ path: ['name'], before, after, shape: 'scalar' }];
}

export function ownershipTagField({ before, after }: OwnershipTagChange): FieldChange {
  return {
    path: ['claim'],
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    shape: 'scalar',
  };
}

function predictedNotes(
  context: PlanContext,
  { resource: { address } }: DraftInput,
  action: Action,
): readonly string[] {
  return action === 'create' ? context.predictedNotes(address) : [];
}

/** A note that the creation may fail, because the resource may exist although it was not found. */
function mayExistNote(
  context: PlanContext,
  { resource: { address }, live }: DraftInput,
  action: Action,
): string[] {
  const whyIncomplete =
    action === 'none' || live !== undefined ? undefined : context.ownIncompleteReason(address);
  return whyIncomplete === undefined ? [] : [unseenNote(whyIncomplete)];
}

// Dangling references: the resource is neither declared nor live, or the same plan deletes it, or its id is needed and could not be read.

export function findDanglingReferences(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const [text, resource] of context.desired) {
    const draft = drafts.get(text);
    if (draft === undefined) continue;
    const references = context.kind(resource.address.kind).references?.(resource) ?? [];
    for (const { to, path } of [...references, ...namedResources(context, resource)]) {
      const problem = danglingProblem(context, drafts.get(formatAddress(to)), { from: draft.change, to });
      if (problem === undefined) continue;
      const place = resource.placeOf(path);
      problems.push({ code: 'unknown-reference', severity: 'error', place, ...problem });
    }
  }
  return problems;
}

function danglingProblem(
  context: PlanContext,
  referred: Draft | undefined,
  { from, to }: { readonly from: Change; readonly to: Address },
): Pick<Diagnostic, 'class' | 'message' | 'fix'> | undefined {
  const refers = `${quoted(formatAddress(from.address))} refers to ${quoted(formatAddress(to))}`;
  if (referred?.change.action === 'delete') {
    return {
      class: 'invalid',
      message: `${refers}, which this plan deletes`,
      fix: 'remove the reference, or keep what it refers to',
    };
  }
  if (context.live.has(formatAddress(to))) return undefined;
  if (!context.desired.has(formatAddress(to))) return missingReference(context, to, refers);
  // A declared resource that is not live will be created, unless it could not be read.
  const whyUnread = from.action === 'none' ? undefined : context.unreadReason(to);
  if (whyUnread === undefined) return undefined;
  return {
    class: 'incomplete',
    message: `${refers}, whose id is unknown: ${whyUnread}`,
    fix: `make it possible to read ${quoted(formatAddress(to))}, then plan again`,
  };
}
