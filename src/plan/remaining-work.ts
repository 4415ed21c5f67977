/**
 * What is left to do of an approved change. It depends on live state alone: the manifests may have changed since, and it
 * does not matter who set an approved value.
 */
import { formatAddress } from '../model/address.ts';
import { approvedId, type DigestedChange } from '../model/change.ts';
import { valueHash } from '../redaction/stored-values.ts';
import { formatOwnershipTag, type LiveResource, ownOwnershipTag, type Spec } from '../model/resource.ts';
import type { Field, FieldChange } from '../model/field.ts';
import { isJsonObject, type Json, memberOf, ownMember, type Path, sameJson } from '../model/json.ts';
import type { CompareContext, PreparedSpecs } from '../model/kind-specs.ts';
import { canonicalSpec, canonicalValue } from '../compare/comparisons.ts';
import { peerOf } from './compare-resource.ts';
import { diff } from '../compare/diff.ts';
import type { LedgerRecord } from '../model/ledger.ts';
import type { PlanContext } from './plan-context.ts';
import { recordedFlags } from './recorded-flags.ts';

export interface RemainingWork {
  /** the action is not done: the resource to create does not exist, or the one to delete does */
  readonly mustAct: boolean;
  /** the field changes that are not done */
  readonly fields: readonly FieldChange[];
  /** this stack has provably created or adopted the resource already: the rest is an update */
  readonly isOurs: boolean;
}

export function remainingWork(context: PlanContext, change: DigestedChange): RemainingWork {
  const { address, action } = change;
  const live = context.live.get(formatAddress(address));
  if (live === undefined || isAnother(change, live)) return remainingOfMissing(context, change);
  const { ownership } = context.kind(address.kind);
  const known = withKnownValues(context, change, live);
  const [hidden, shown] = partition(known, ({ redacted }) => redacted?.after !== undefined);
  const approved = { ...change, fields: shown };
  // A redacted value that neither live nor the manifest has is not done yet.
  const fields = [
    ...remainingOwnFields(approved, live, context.record(address)),
    ...remainingFields(context, approved, live),
    ...hidden,
  ];
  switch (action) {
    case 'delete':
      // A child is never deleted: its fields are restored one by one.
      return ownership.by === 'child'
        ? { mustAct: false, fields, isOurs: false }
        : { mustAct: true, fields: change.fields, isOurs: false };
    case 'release': {
      const isKept = ownership.by === 'ledger' && context.record(address) !== undefined;
      return { mustAct: isKept, fields, isOurs: false };
    }
    default:
      return { mustAct: false, fields, isOurs: isOurs(context, change, live) };
  }
}

/** The approved fields; redacted ones get their value after, if live or the manifest has exactly that value. */
function withKnownValues(context: PlanContext, change: DigestedChange, live: LiveResource): FieldChange[] {
  const { address, fields } = change;
  const place = { stack: context.stack.name, address };
  const table = context.kind(address.kind).fields;
  const declared = context.desired.get(formatAddress(address))?.spec ?? {};
  const specs = [declared, live.spec].map((spec) => canonicalSpec(table, spec));
  return fields.map((field) => {
    const hash = field.redacted?.after;
    const values = specs.flatMap((spec) => valueAt(spec, field.path) ?? []);
    const after = values.find((value) => hash !== undefined && valueHash(place, field.path, value) === hash);
    if (after === undefined) return field;
    const { redacted: _, ...rest } = field;
    return { ...rest, after };
  });
}

function valueAt(spec: Spec, path: Path): [Json] | undefined {
  const value = path.reduce<Json | undefined>((found, segment) => memberOf(found, segment), { ...spec });
  return value === undefined ? undefined : [value];
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

/** Whether the live resource is not the one that should be adopted or removed. */
function isAnother(change: DigestedChange, live: LiveResource): boolean {
  const id = approvedId(change);
  return id !== undefined && live.id !== id;
}

/** A removal is done if the resource is certainly gone; any other change still has to be done completely. */
function remainingOfMissing(context: PlanContext, change: DigestedChange): RemainingWork {
  const { address, action, fields } = change;
  const isRemoved = action === 'delete' || action === 'release';
  return isRemoved && !existsRenamed(context, change) && context.incompleteReason(address) === undefined
    ? { mustAct: false, fields: [], isOurs: false }
    : { mustAct: true, fields, isOurs: false };
}

/** Whether the resource that should be removed still exists under another name. */
function existsRenamed(context: PlanContext, change: DigestedChange): boolean {
  const id = approvedId(change);
  return id !== undefined && context.liveWithId(change.address, id) !== undefined;
}

/**
 * Whether an interrupted apply left evidence of the creation or adoption. A creation leaves our ownership tag, and with it our creator
 * mark, a record of the creation, or a history entry that begins it. An adoption leaves our tag. In a target without tags, an adoption
 * leaves a record; a creation leaves a history entry that begins it, and a creator mark if the kind has one.
 */
function isOurs(context: PlanContext, { address, action }: DigestedChange, live: LiveResource): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'ledger') {
    const isRecorded = context.record(address) !== undefined;
    if (action === 'adopt') return isRecorded;
    return action === 'create' && !isRecorded && context.hasBegunToCreate(address);
  }
  const parent = ownership.by === 'child' ? ownership.of(address) : address;
  const evidence = context.live.get(formatAddress(parent))?.evidence ?? live.evidence;
  // An adoption records what it did before it wrote the tag.
  if (evidence.ownershipTag === undefined) {
    if (action === 'adopt') return context.record(parent) !== undefined;
    const isBegun = context.isLedgerOwned(parent) && context.hasBegunToCreate(parent);
    return action === 'create' && isBegun && context.isOurs(evidence.creatorStack);
  }
  if (!context.hasOurTag(evidence)) return false;
  return (
    action !== 'create' ||
    context.isOurs(evidence.creatorStack) ||
    context.record(parent)?.origin === 'created' ||
    context.hasBegunToCreate(parent)
  );
}

/** How to read the fields of the planner itself: ownership tag (`claim`) and name from a live resource, the flags from the record. */
const ownFields: Readonly<
  Record<string, (live: LiveResource, record: LedgerRecord | undefined) => Json | undefined>
> = {
  claim: ({ evidence }) => {
    const ownershipTag = ownOwnershipTag(evidence);
    return ownershipTag && formatOwnershipTag(ownershipTag);
  },
  name: ({ spec }) => spec['name'],
  protect: (_, record) => recordedFlags['protect']?.(record),
  onRemove: (_, record) => recordedFlags['onRemove']?.(record),
};

function remainingOwnFields(
  { fields }: DigestedChange,
  live: LiveResource,
  record: LedgerRecord | undefined,
): FieldChange[] {
  return fields.flatMap((field) => {
    const [name = '', ...below] = field.path;
    const read = below.length === 0 && Object.hasOwn(ownFields, name) ? ownFields[name] : undefined;
    if (read === undefined) return [];
    const before = read(live, record);
    if (sameJson(before, field.after)) return [];
    const { before: _, unknown: __, ...rest } = field;
    return [{ ...rest, ...(before === undefined ? {} : { before }) }];
  });
}

/** Compares the approved values with live as if they were declared. */
function remainingFields(
  context: PlanContext,
  change: DigestedChange,
  live: LiveResource,
): readonly FieldChange[] {
  const kind = context.kind(change.address.kind);
  const approved = Map.groupBy(
    change.fields.filter(({ path: [name = ''] }) => Object.hasOwn(kind.fields, name)),
    ({ path: [name = ''] }) => name,
  );
  const prepared = prepareApproved(context, change, live);
  const found = prepared.live ?? live.spec;
  const wanted = [...approved].flatMap(([name, fields]) => {
    const field = kind.fields[name];
    const isWhole = fields.some(({ path }) => path.length === 1);
    const value = isWhole ? prepared.desired[name] : field && overlaid(field, found[name], belowOf(fields));
    return value === undefined ? [] : [[name, value] as const];
  });
  const recorded = Object.entries(context.record(change.address)?.fields ?? {});
  const { fields } = diff({
    fields: kind.fields,
    desired: Object.fromEntries(wanted),
    live: found,
    // Only the approved fields: others that are no longer declared would show up as resets.
    recorded: Object.fromEntries(recorded.filter(([name]) => approved.has(name))),
    absent: 'unmanaged',
    isHidden: (key) => context.secretsIn(key).length > 0,
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
  });
  return fields.filter((field) => change.fields.some(({ path }) => isRelated(path, field.path)));
}

function prepareApproved(
  context: PlanContext,
  { address, fields }: DigestedChange,
  live: LiveResource,
): PreparedSpecs {
  const kind = context.kind(address.kind);
  const resource = context.desired.get(formatAddress(address));
  const record = context.record(address);
  const approved = fields.flatMap(({ path: [name = '', ...below], after }) =>
    below.length === 0 && after !== undefined && Object.hasOwn(kind.fields, name)
      ? [[name, after] as const]
      : [],
  );
  const desired: Spec = {
    ...(resource === undefined ? {} : canonicalSpec(kind.fields, resource.spec)),
    ...Object.fromEntries(approved),
  };
  const compareContext: CompareContext = {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    live,
    now: context.now,
    ...(record === undefined ? {} : { record }),
    peer: (other, id) => peerOf(context, other, id),
  };
  return kind.prepare?.(compareContext) ?? { desired };
}

type Below = Pick<FieldChange, 'path' | 'after'>;

/** The same changes, with paths below the first segment. */
function belowOf(changes: readonly Below[]): Below[] {
  return changes.map(({ path, after }) => ({
    path: path.slice(1),
    ...(after === undefined ? {} : { after }),
  }));
}

/** The value of a field after these changes below it: all keys of a map, but only the changed members of an object. */
function overlaid(field: Field, live: Json | undefined, changes: readonly Below[]): Json | undefined {
  const own = changes.find(({ path }) => path.length === 0);
  if (own !== undefined) return own.after;
  const found = live === undefined ? undefined : canonicalValue(field, live);
  const value = new Map(Object.entries(field.members === undefined && isJsonObject(found) ? found : {}));
  for (const [key, some] of Map.groupBy(changes, ({ path: [first = ''] }) => first)) {
    const below = isJsonObject(found) ? ownMember(found, key) : undefined;
    const member = overlaid(field.members?.[key] ?? field, below, belowOf(some));
    if (member === undefined) value.delete(key);
    else value.set(key, member);
  }
  return Object.fromEntries(value);
}

/** Whether one path is equal to, above or below the other. */
export function isRelated(one: Path, other: Path): boolean {
  return one.every((segment, index) => index >= other.length || segment === other[index]);
}
