/**
 * Decides whether one recorded resource is live as it was last applied, by the rules that compare live resources with
 * manifests: the ledger takes the place of the manifests. What could not be read is never reported as gone.
 */
import { canonicalSpec } from '../compare/comparisons.ts';
import { type Address, formatAddress, parseAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type { DriftedResource } from '../model/drift.ts';
import { type FieldChange, jsonPointer } from '../model/field.ts';
import { type JsonObject, sameJson } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import {
  type DesiredResource,
  formatOwnershipTag,
  type LiveResource,
  type Metadata,
  ownOwnershipTag,
} from '../model/resource.ts';
import { matchesRedacted } from '../redaction/stored-values.ts';
import { compareResource, isLive } from './compare-resource.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from './plan-context.ts';

/** A context with the ledger in place of the manifests, without the records of kinds and targets that the stack no longer has. */
export function recordedContext(input: PlanContextInput): PlanContext {
  const targets = new Set(input.targets.map(({ target }) => target.name));
  const declared = new Map(input.desired.map((resource) => [formatAddress(resource.address), resource.spec]));
  const desired = [...input.ledger.records].flatMap(([text, record]) => {
    const address = parseAddress(text);
    const kind = input.kinds.get(address.kind);
    if (kind === undefined || !targets.has(address.target)) return [];
    return [asDeclared(address, record, instructions(kind, declared.get(text)))];
  });
  return makePlanContext({ ...input, desired, isSelection: false });
}

const ledgerPlace = { file: 'the ledger', line: 1, column: 1, length: 0, text: '' };

/** The instructions of a document to trueup itself, such as which tags to leave alone: the ledger does not have them. */
function instructions({ fields }: Kind, spec: JsonObject = {}): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => fields[name]?.local === true));
}

function asDeclared(
  address: DesiredResource['address'],
  record: LedgerRecord,
  local: JsonObject,
): DesiredResource {
  const { fields, protect, onRemove } = record;
  return {
    address,
    spec: { ...local, ...fields },
    metadata: {
      name: address.name,
      ...(protect === undefined ? {} : { protect }),
      ...(onRemove === undefined ? {} : { onRemove }),
    },
    place: ledgerPlace,
    placeOf: () => ledgerPlace,
    fromDefaults: [],
  };
}

/** The ownership tag of this stack, with the flags of a record or of a document. */
export function ownershipTagText(
  stack: string,
  { protect = false, onRemove }: Pick<Metadata, 'protect' | 'onRemove'>,
): string {
  return formatOwnershipTag({ stack, protect, release: onRemove === 'release' });
}

export type RecordedVerdict =
  | { readonly is: 'same' }
  | { readonly is: 'drifted'; readonly drifted: DriftedResource }
  /** it could not be determined */
  | { readonly is: 'unknown'; readonly why: string }
  /** a child whose parent is gone or replaced by another one, which is reported for the parent */
  | { readonly is: 'reported-with-parent' };

/** @param context with the ledger in place of the manifests */
export function compareRecorded(context: PlanContext, recorded: DesiredResource): RecordedVerdict {
  const { address } = recorded;
  const whyUnreadable = context.unreadReason(address);
  if (whyUnreadable !== undefined) return { is: 'unknown', why: whyUnreadable };
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'child' && !isParentLive(context, ownership.of(address)))
    return { is: 'reported-with-parent' };
  const live = context.live.get(formatAddress(address));
  const id = recordedId(context, address);
  if (live !== undefined && (id === undefined || live.id === undefined || live.id === id))
    return compareWithLive(context, recorded, live);
  const why =
    context.incompleteReason(address) ?? (live === undefined ? whyUnread(context, recorded) : undefined);
  if (why !== undefined) return { is: 'unknown', why };
  return { is: 'drifted', drifted: driftOfMissing(context, address, live) };
}

/** The id in the record, also of a record that is about another resource than the live one: `context.record` leaves such a record out. */
function recordedId({ ledger }: PlanContext, address: Address): string | undefined {
  return ledger.records.get(formatAddress(address))?.id;
}

/** A parent without a record, such as another stack's workspace, only has to be live. */
function isParentLive(context: PlanContext, parent: Address): boolean {
  const live = context.live.get(formatAddress(parent));
  const id = recordedId(context, parent);
  return live !== undefined && (id === undefined || live.id === id);
}

/** Why a resource without a live state was not read; undefined if it is gone. Its kind decides: it may be an unread part of its parent. */
function whyUnread(context: PlanContext, resource: DesiredResource): string | undefined {
  const { address } = resource;
  const desired = canonicalSpec(context.kind(address.kind).fields, resource.spec);
  const { problems } = compareResource(context, { address, resource, desired, live: undefined });
  return whyIncomplete(problems);
}

function whyIncomplete(problems: readonly Diagnostic[]): string | undefined {
  return problems.find((problem) => problem.class === 'incomplete')?.message;
}

function driftOfMissing(
  context: PlanContext,
  address: Address,
  other: LiveResource | undefined,
): DriftedResource {
  const id = recordedId(context, address);
  const known = { address, ...(id === undefined ? {} : { id }), fields: [] };
  if (other === undefined) return { ...known, is: 'gone', notes: [] };
  const elsewhere = id === undefined ? undefined : context.liveWithId(address, id);
  return {
    ...known,
    is: 'recreated',
    ...(other.id === undefined ? {} : { newId: other.id }),
    notes:
      elsewhere === undefined ? [] : [`the applied resource is now called ${quoted(elsewhere.address.name)}`],
  };
}

function compareWithLive(
  context: PlanContext,
  resource: DesiredResource,
  live: LiveResource,
): RecordedVerdict {
  const { address } = resource;
  if (context.unsupported(address) !== undefined) return { is: 'same' };
  const desired = canonicalSpec(context.kind(address.kind).fields, resource.spec);
  const { fields: differences, problems } = compareResource(context, { address, resource, desired, live });
  const unread = whyIncomplete(problems);
  if (unread !== undefined) return { is: 'unknown', why: unread };
  const fields = [
    ...nameDrift(address, live),
    ...ownershipTagDrift(context, resource, live),
    ...differences
      .filter((change) => change.unknown === undefined && !wasBegun(context, address, { change, live }))
      .filter(({ before, after }) => !matchesRedacted(after, before))
      .map(sinceRecorded),
    ...inheritedDrift(context, address, live),
  ];
  const notes = differences.flatMap(({ path, unknown }) =>
    unknown === undefined ? [] : [`${path.join('.')}: ${unknown}`],
  );
  // A problem that prevents the comparison is drift: the resource did not have it when it was applied.
  const clashes = fields.length + notes.length === 0 && hasErrors(problems) ? problems : [];
  const all = [...notes, ...clashes.map(({ message }) => message)];
  if (fields.length + all.length === 0) return { is: 'same' };
  const id = live.id === undefined ? {} : { id: live.id };
  return { is: 'drifted', drifted: { address, is: 'changed', ...id, fields, notes: all } };
}

/** Whether the live value of a field is the one that an interrupted apply of this stack had begun to write. */
function wasBegun(
  context: PlanContext,
  address: Address,
  { change, live }: { readonly change: FieldChange; readonly live: LiveResource },
): boolean {
  const path = jsonPointer(change.path);
  return context
    .begunFields(address)
    .some((begun) => jsonPointer(begun.path) === path && isLive(context, address, { begun, live }));
}

/** The change from the ledger to live; a plan has the opposite direction. */
function sinceRecorded({ path, before, after, shape }: FieldChange): FieldChange {
  return {
    path,
    ...(after === undefined ? {} : { before: after }),
    ...(before === undefined ? {} : { after: before }),
    shape,
  };
}

function nameDrift({ name }: Address, { spec }: LiveResource): FieldChange[] {
  const found = spec['name'];
  return found === undefined || found === name
    ? []
    : [{ path: ['name'], before: name, after: found, shape: 'scalar' }];
}

/** The inherited values that changed since an apply recorded them. No plan changes them back. */
function inheritedDrift(context: PlanContext, address: Address, live: LiveResource): FieldChange[] {
  const { inherited = {} } = context.record(address) ?? {};
  return Object.entries(inherited).flatMap(([name, before]) => {
    const after = live.inherited?.[name] ?? null;
    return sameJson(before, after)
      ? []
      : [{ path: ['inherited', name], before, after, shape: 'scalar' as const }];
  });
}

/** The ownership tag is an applied value, too. A tag with the former name of the stack is still ours. */
function ownershipTagDrift(
  context: PlanContext,
  { address, metadata }: DesiredResource,
  { evidence }: LiveResource,
): FieldChange[] {
  const isOwnedByTag = context.kind(address.kind).ownership.by === 'claim' && !context.isLedgerOwned(address);
  if (!isOwnedByTag) return [];
  const ownershipTag = ownOwnershipTag(evidence);
  const stack =
    ownershipTag !== undefined && (context.isOurs(ownershipTag.stack) || ownershipTag.moving)
      ? ownershipTag.stack
      : context.stack.name;
  const [before, after] = [
    ownershipTagText(stack, metadata),
    ownershipTag && formatOwnershipTag(ownershipTag),
  ];
  return before === after
    ? []
    : [{ path: ['claim'], before, ...(after === undefined ? {} : { after }), shape: 'scalar' }];
}
