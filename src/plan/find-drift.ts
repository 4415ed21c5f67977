/**
 * Finds drift from what a plan has read: live against the ledger, names that refer to other objects, manifests against the ledger,
 * changed fields that no manifest sets, and the access that the resources give. After an incomplete read it never reports that there
 * is no drift.
 */
import { canonicalDefault, canonicalSpec } from '../compare/comparisons.ts';
import { changesBetween } from '../compare/diff.ts';
import type { GivenAccess } from '../model/access.ts';
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Notice } from '../model/change.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import type {
  Drift,
  DriftedName,
  DriftedResource,
  DriftField,
  PendingResource,
  Unmanaged,
  UnmanagedResource,
} from '../model/drift.ts';
import type { FieldChange } from '../model/field.ts';
import type { Json } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import {
  addressInsteadOfId,
  type NamedReference,
  nameKey,
  type NameList,
  uniqueName,
} from '../model/named-reference.ts';
import { quoted } from '../model/quoted.ts';
import type { DesiredResource, LiveResource, Spec } from '../model/resource.ts';
import { matchesRedacted } from '../redaction/stored-values.ts';
import { planTarget } from './build-plan.ts';
import { compareRecorded, recordedContext, type RecordedVerdict } from './compare-recorded.ts';
import { seenValues, undeclaredIn } from './compare-resource.ts';
import { coverageOf } from './coverage.ts';
import { findPending, isSelectedIn, recordOf } from './find-pending.ts';
import { type ChangedId, changedIds, changedMessage, withNamesOfIds } from './names.ts';
import { makePlanContext, type PlanContext, type PlanContextInput } from './plan-context.ts';
import { partOf, selectionOf } from './restrict-to-part.ts';

interface DriftInput extends PlanContextInput {
  readonly files: number;
  readonly documents: number;
  /** also find changes of fields that no manifest declares */
  readonly unmanaged?: boolean | undefined;
}

export function findDrift(input: DriftInput): Drift {
  const declared = makePlanContext(input);
  const { recorded, checked, drifted: found, verdicts } = compareRecords(declared, input);
  const { drifted, pending } = markBoth(
    declared,
    found,
    findPending(declared).map((one) => withNamesOfIds(declared, one)),
  );
  const undetermined = verdicts.flatMap(([resource, verdict]) => undeterminedIn(resource, verdict));
  const unrecorded = findUnrecorded(declared);
  const access = findAccess(declared);
  const problems = problemsOfReading(declared, input);
  const coverage = coverageOf(input, declared, []);
  return {
    stack: input.stack.name,
    targets: input.targets.map(({ target }) => planTarget(target)),
    ...selectionOf(input),
    // Nothing comes along, because nothing is changed.
    ...partOf(input),
    ...{ drifted, pending },
    changedNames: findDriftedNames(declared),
    ...(input.unmanaged ? { unmanaged: findUnmanaged(recorded, checked, found) } : {}),
    unrecorded: unrecorded.map(({ notice }) => notice),
    unchanged: verdicts.filter(([, { is }]) => is === 'same').length,
    undetermined,
    ...(access === undefined ? {} : { access }),
    complete:
      coverage.complete &&
      undetermined.length === 0 &&
      !unrecorded.some(({ isOurs }) => isOurs) &&
      !hasErrors(problems),
    problems,
    coverage,
  };
}

/** Only the resources that were changed in the targets since the last apply. */
export function findDrifted(input: PlanContextInput): readonly DriftedResource[] {
  return compareRecords(makePlanContext(input), input).drifted;
}

/** Compares each record with its live resource, in a context with the ledger in place of the manifests. */
function compareRecords(declared: PlanContext, input: PlanContextInput) {
  const recorded = recordedContext(input);
  const selected = selectedRecords(declared);
  const checked = [...recorded.desired.values()].filter(
    ({ address }) => selected === undefined || selected.has(formatAddress(address)),
  );
  const verdicts = checked.map((resource) => [resource, compareRecorded(recorded, resource)] as const);
  const renamed = renamedIn(declared);
  const drifted = verdicts.flatMap(([{ address }, verdict]) => {
    if (verdict.is !== 'drifted') return [];
    const declaredAs = renamed.get(formatAddress(address));
    const shown = withNamesOfIds(recorded, verdict.drifted);
    return [{ ...shown, ...(declaredAs === undefined ? {} : { declaredAs }) }];
  });
  return { recorded, checked, verdicts, drifted };
}

function problemsOfReading(declared: PlanContext, input: DriftInput): readonly Diagnostic[] {
  const isSelected = isSelectedIn(declared);
  return [
    ...(input.repositoryProblem ? [input.repositoryProblem] : []),
    ...input.targets.flatMap(({ unread = [], warnings = [] }) => [unread, warnings].flat()),
    ...[...declared.unknownNames].flatMap(([text, unknown]) => {
      const address = parseAddress(text);
      return declared.target(address.target).unread === undefined && isSelected({ address }) ? unknown : [];
    }),
  ];
}

/** The records that a selection is about; undefined for the whole stack. */
function selectedRecords(declared: PlanContext): ReadonlySet<AddressText> | undefined {
  if (!declared.isSelection && declared.part === undefined) return undefined;
  const all = [...declared.desired.values(), ...declared.removalRequests.values()];
  return new Set(
    all.filter(isSelectedIn(declared)).flatMap((resource) => recordOf(declared, resource)?.text ?? []),
  );
}

function undeterminedIn({ address }: DesiredResource, verdict: RecordedVerdict): Notice[] {
  return verdict.is === 'unknown' ? [{ address, message: verdict.why }] : [];
}

interface Unrecorded {
  readonly notice: Notice;
  /** it is live and was ours, so its record was lost */
  readonly isOurs: boolean;
}

/** Live resources that are declared, or have our ownership tag, and have no record. */
function findUnrecorded(context: PlanContext): Unrecorded[] {
  const { ledger, live, desired } = context;
  const isSelected = isSelectedIn(context);
  const isSelection = context.isSelection || context.part !== undefined;
  return [...live].flatMap(([text, { address, evidence }]) => {
    if (context.record(address) !== undefined) return [];
    const isOwnedByTag = context.hasOurTag(evidence) && context.kind(address.kind).ownership.by === 'claim';
    if (!desired.has(text) && (isSelection || !isOwnedByTag)) return [];
    if (!isSelected({ address })) return [];
    if (isChildOfUnrecorded(context, address)) return [];
    const why = ledger.known ? 'the ledger has no record of it' : 'there is no ledger';
    const message = `${why}: what was last applied is unknown, so its drift cannot be determined`;
    return [{ notice: { address, message }, isOurs: isOwnedByTag || !ledger.known }];
  });
}

/** Whether the address is that of a child whose parent is reported as unrecorded. */
function isChildOfUnrecorded(context: PlanContext, address: Address): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by !== 'child') return false;
  const parent = ownership.of(address);
  return context.live.has(formatAddress(parent)) && context.record(parent) === undefined;
}

/** Marks the fields that changed both in the target and in the files, whether to the same value or not. */
function markBoth(
  context: PlanContext,
  drifted: readonly DriftedResource[],
  pending: readonly PendingResource[],
): Pick<Drift, 'drifted' | 'pending'> {
  const recordedAt = ({ address }: PendingResource) => recordTextOf(context, address);
  const byFiles = new Map(pending.map((one) => [recordedAt(one), one.fields] as const));
  const byTarget = new Map(drifted.map((one) => [formatAddress(one.address), one.fields] as const));
  return {
    drifted: drifted.map((one) => ({
      ...one,
      fields: marked(one.fields, byFiles.get(formatAddress(one.address))),
    })),
    pending: pending.map((one) => ({ ...one, fields: marked(one.fields, byTarget.get(recordedAt(one))) })),
  };
}

/** The address in the ledger of a declared resource; its own if there is no record. */
function recordTextOf(context: PlanContext, address: Address): AddressText {
  const resource = context.desired.get(formatAddress(address));
  return (resource && recordOf(context, resource)?.text) ?? formatAddress(address);
}

/** By address in the ledger, the declared address of each resource that has another name there. */
function renamedIn(context: PlanContext): ReadonlyMap<AddressText, Address> {
  return new Map(
    [...context.desired.values()].flatMap(({ address }) => {
      const text = recordTextOf(context, address);
      return text === formatAddress(address) ? [] : [[text, address] as const];
    }),
  );
}

function marked(fields: readonly DriftField[], others: readonly DriftField[] = []): DriftField[] {
  return fields.map((field) => {
    const isBoth = others.some(({ path }) => overlaps(path, field.path));
    return isBoth ? { ...field, both: true as const } : field;
  });
}

/** Whether the paths are the same, or one of them is inside of the other. */
function overlaps(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((segment, at) => segment === other[at]);
}

// Finds undeclared fields of our resources that changed since the last apply, by comparing live with the values in the ledger. A plan
// does not change these fields.

/**
 * @param context with the ledger in place of the manifests
 * @param checked the records to check
 * @param drifted resources with fields that are reported as drift already, such as one that conflicts with a declared field
 */
function findUnmanaged(
  context: PlanContext,
  checked: readonly DesiredResource[],
  drifted: readonly DriftedResource[],
): Unmanaged {
  const known = new Map(drifted.map(({ address, fields }) => [formatAddress(address), fields] as const));
  const found = checked.flatMap(({ address }): (UnmanagedResource | 'unseen')[] => {
    const kind = context.kind(address.kind);
    const record = context.record(address);
    const live = context.live.get(formatAddress(address));
    if (record === undefined || live === undefined || !hasUndeclared(kind)) return [];
    if (record.id !== undefined && live.id !== undefined && record.id !== live.id) return [];
    const changed = changedFields(kind, record, live);
    if (changed === undefined) return ['unseen'];
    const shown = known.get(formatAddress(address)) ?? [];
    const fields = changed.filter(({ path }) => !shown.some((one) => one.path[0] === path[0]));
    return fields.length === 0
      ? []
      : [withNamesOfIds(context, { address, ...(live.id === undefined ? {} : { id: live.id }), fields })];
  });
  return {
    resources: found.filter((one) => one !== 'unseen'),
    unseen: found.filter((one) => one === 'unseen').length,
  };
}

/** Kinds whose absent fields are reset have no undeclared fields. */
function hasUndeclared({ absent, ownership }: Kind): boolean {
  return absent === 'unmanaged' && ownership.by !== 'child';
}

/** The undeclared fields that changed; undefined if the record has no undeclared values: it is old, or was made without a read. */
function changedFields(kind: Kind, record: LedgerRecord, live: LiveResource): FieldChange[] | undefined {
  const declared = canonicalSpec(kind.fields, record.fields);
  const before = seenIn(kind, record, declared);
  if (before === undefined) return undefined;
  const now =
    record.content === undefined || record.seen !== undefined
      ? seenValues(kind, live, { declared, changes: [] })
      : undeclaredIn(kind.fields, canonicalSpec(kind.fields, live.spec), declared);
  const defaults = defaultsBesides(kind, [before, now]);
  const changes = changesBetween(kind.fields, { ...defaults, ...before }, { ...defaults, ...now });
  return changes.filter(({ before: seen, after }) => !matchesRedacted(seen, after));
}

/** The undeclared values in the record, or those in its content. */
function seenIn({ fields }: Kind, { content, seen }: LedgerRecord, declared: Spec): Spec | undefined {
  return seen !== undefined || content === undefined
    ? seen
    : undeclaredIn(fields, canonicalSpec(fields, content), declared);
}

/** Defaults of the fields that at least one side has: a side without such a field has the default. */
function defaultsBesides({ fields }: Kind, sides: readonly Spec[]): Readonly<Record<string, Json>> {
  const named = Object.entries(fields).filter(
    ([name, field]) => field.default !== undefined && sides.some((side) => side[name] !== undefined),
  );
  return Object.fromEntries(named.map(([name, field]) => [name, canonicalDefault(field)]));
}

/** @param context of the manifests */
function findDriftedNames(context: PlanContext): DriftedName[] {
  const isSelected = isSelectedIn(context);
  return changedIds(context)
    .filter(({ resource }) => isSelected(resource))
    .map((changed) => driftedName(context, changed));
}

function driftedName(context: PlanContext, changed: ChangedId): DriftedName {
  const { resource, key, now, before } = changed;
  const { address } = resource;
  const { references = [] } = context.kind(address.kind).named ?? {};
  const reference = references.find(({ id }) => nameKey(id) === key);
  const list = reference && context.target(address.target).names?.get(reference.objectType);
  const former = before.flatMap((id) => {
    const name = list?.byId.get(id);
    return name === undefined ? [] : [{ id, name }];
  })[0];
  const whereabouts =
    former === undefined
      ? 'was not found: it was deleted, or the token may not read it'
      : `is called ${quoted(former.name)} now`;
  const which = former?.id ?? (before.length === 1 ? before[0] : undefined);
  return {
    ...{ address, field: key, given: now.name, id: now.id, recorded: before },
    message: `${changedMessage(changed)}${which === undefined ? '' : `; ${quoted(which)} ${whereabouts}`}`,
    fix: fixOf(changed, { reference, list, former }),
    place: resource.placeOf(reference?.name ?? key.split('.')),
  };
}

interface FixContext {
  readonly reference: NamedReference | undefined;
  readonly list: NameList | undefined;
  /** the object that had the name, with its current name */
  readonly former: { readonly id: string; readonly name: string } | undefined;
}

function fixOf({ key, now }: ChangedId, { reference, list, former }: FixContext): string {
  const objectType = reference?.objectType ?? 'object';
  if (addressInsteadOfId(now.id) !== undefined)
    return `an apply creates ${quoted(now.id)} and refers to it, once the guard "reference-changed" is acknowledged; or write another name, or an id`;
  const follow = `an apply refers to ${quoted(now.id)}, once the guard "reference-changed" is acknowledged`;
  if (former === undefined || reference === undefined)
    return `make sure that ${quoted(now.id)} is the right ${objectType}, or write another name, or an id; ${follow}`;
  const back = `give the ${objectType}s their names back in the service`;
  // If the stack declares the object itself, its document has the name, too.
  if (now.declaredAs !== undefined) return `${back}; ${follow}`;
  const line =
    uniqueName(list, former.id) === undefined
      ? `${key}: ${former.id}`
      : `${nameKey(reference.name)}: ${former.name}`;
  return `${back}, or write ${quoted(line)} to stay with ${quoted(former.id)}; ${follow}`;
}

/**
 * The access that the resources of the stack give now, regardless of their manifests.
 * @returns undefined if none of them gives access
 */
function findAccess(context: PlanContext): GivenAccess[] | undefined {
  const isSelected = isSelectedIn(context);
  const given = [...context.live].flatMap(([text, live]) => {
    const { address } = live;
    const isOurs = context.desired.has(text) || context.record(address) !== undefined;
    const access = isOurs && isSelected({ address }) ? context.kind(address.kind).access?.(live) : undefined;
    return access === undefined ? [] : [{ address, ...access }];
  });
  return given.length === 0 ? undefined : given;
}
