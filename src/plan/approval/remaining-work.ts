/**
 * What is left to do of an approved change, seen from live alone: the manifests may ask for something else by now, and a
 * value that was approved is true or is not true whoever made it so (rule 28).
 */
import { formatAddress } from '../../model/resource/address.ts';
import { type MeantChange, meantId } from '../../model/plan/change.ts';
import { formatClaim, ownClaim } from '../../model/resource/claim.ts';
import type { Field, FieldChange } from '../../model/kind/field.ts';
import { isJsonObject, type Json, ownMember, type Path, sameJson } from '../../model/json/json.ts';
import type { CompareContext, PreparedSpecs } from '../../model/kind/kind.ts';
import type { LiveResource, Spec } from '../../model/resource/resource.ts';
import { canonicalSpec, canonicalValue } from '../../compare/canonical-spec.ts';
import { peerOf } from '../draft/compare-resource.ts';
import { diff } from '../../compare/diff.ts';
import type { PlanContext } from '../context/plan-context.ts';

export interface RemainingWork {
  /** the action itself has not happened: what was to be created is not there, what was to be deleted is */
  readonly action: boolean;
  /** what would still have to change for all that was approved to be true */
  readonly fields: readonly FieldChange[];
  /** by all witnesses this stack created it, or took it over: what is left of it is an update */
  readonly isOurs: boolean;
}

export function remainingWork(context: PlanContext, change: MeantChange): RemainingWork {
  const { address, action } = change;
  const live = context.live.get(formatAddress(address));
  if (live === undefined || isAnother(change, live)) return leftOfMissing(context, change);
  const { ownership } = context.kind(address.kind);
  const fields = [...leftOfOwn(change, live), ...leftOfFields(context, change, live)];
  switch (action) {
    case 'delete':
      // Of a part nothing is deleted: it is brought back to what it was, field by field.
      return ownership.by === 'part'
        ? { action: false, fields, isOurs: false }
        : { action: true, fields: change.fields, isOurs: false };
    case 'release': {
      const isKept = ownership.by === 'ledger' && context.record(address) !== undefined;
      return { action: isKept, fields, isOurs: false };
    }
    default:
      return { action: false, fields, isOurs: isOurs(context, change, live) };
  }
}

/** Whether what bears the name now is not what was to be taken away. */
function isAnother(change: MeantChange, live: LiveResource): boolean {
  const id = meantId(change);
  return id !== undefined && live.id !== id;
}

/** What was to be removed is gone, if somebody could look; anything else is still to be done whole. */
function leftOfMissing(context: PlanContext, change: MeantChange): RemainingWork {
  const { address, action, fields } = change;
  const isRemoved = action === 'delete' || action === 'release';
  return isRemoved && !livesOn(context, change) && context.blindSpot(address) === undefined
    ? { action: false, fields: [], isOurs: false }
    : { action: true, fields, isOurs: false };
}

/** Under another name, the very resource that was to be taken away is still there. */
function livesOn(context: PlanContext, change: MeantChange): boolean {
  const id = meantId(change);
  const { kind, target } = change.address;
  return [...context.live.values()].some(
    (live) =>
      id !== undefined && live.id === id && live.address.kind === kind && live.address.target === target,
  );
}

/**
 * A creation that was cut short leaves something with our claim and our birth mark, or, where a manifest sets the field
 * that bears the mark, with our claim and a record of who created it. An adoption leaves our claim. Where nothing can bear
 * one, a record tells of an adoption, and of a creation that it was begun.
 */
function isOurs(context: PlanContext, { address, action }: MeantChange, live: LiveResource): boolean {
  const { ownership } = context.kind(address.kind);
  if (ownership.by === 'ledger') {
    const isRecorded = context.record(address) !== undefined;
    if (action === 'adopt') return isRecorded;
    return action === 'create' && !isRecorded && context.hasBegunToCreate(address);
  }
  const whole = ownership.by === 'part' ? ownership.of(address) : address;
  const witness = context.live.get(formatAddress(whole))?.witness ?? live.witness;
  // What an adoption did before its claim was written is recorded.
  if (witness.claim === undefined) return action === 'adopt' && context.record(whole) !== undefined;
  if (!context.bearsOurClaim(witness)) return false;
  return action !== 'create' || context.isOurs(witness.bornOf) || context.record(whole)?.origin === 'created';
}

/** The fields that are the planner's own, and in no kind's table: claim and name. */
const ownFields: Readonly<Record<string, (live: LiveResource) => Json | undefined>> = {
  claim: ({ witness }) => {
    const claim = ownClaim(witness);
    return claim && formatClaim(claim);
  },
  name: ({ spec }) => spec['name'],
};

function leftOfOwn({ fields }: MeantChange, live: LiveResource): FieldChange[] {
  return fields.flatMap((field) => {
    const [name = '', ...below] = field.path;
    const read = below.length === 0 && Object.hasOwn(ownFields, name) ? ownFields[name] : undefined;
    if (read === undefined) return [];
    const before = read(live);
    if (sameJson(before, field.after)) return [];
    const { before: _, unknown: __, ...rest } = field;
    return [{ ...rest, ...(before === undefined ? {} : { before }) }];
  });
}

/** The approved values as if they were declared, met with live as the kind wants them to be met. */
function leftOfFields(context: PlanContext, change: MeantChange, live: LiveResource): readonly FieldChange[] {
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
    // Of other fields the ledger may know that they are no longer declared, which is not what is asked here.
    recorded: Object.fromEntries(recorded.filter(([name]) => approved.has(name))),
    absent: 'unmanaged',
    ...(prepared.unknown === undefined ? {} : { unknown: prepared.unknown }),
  });
  return fields.filter((field) => change.fields.some(({ path }) => isRelated(path, field.path)));
}

function prepareApproved(
  context: PlanContext,
  { address, fields }: MeantChange,
  live: LiveResource,
): PreparedSpecs {
  const kind = context.kind(address.kind);
  const resource = context.desired.get(formatAddress(address));
  const record = context.record(address);
  const whole = fields.flatMap(({ path: [name = '', ...below], after }) =>
    below.length === 0 && after !== undefined && Object.hasOwn(kind.fields, name)
      ? [[name, after] as const]
      : [],
  );
  const desired: Spec = {
    ...(resource === undefined ? {} : canonicalSpec(kind.fields, resource.spec)),
    ...Object.fromEntries(whole),
  };
  const meeting: CompareContext = {
    address,
    dialect: context.target(address.target).dialect,
    desired,
    live,
    ...(record === undefined ? {} : { record }),
    peer: (other) => peerOf(context, other),
  };
  return kind.prepare?.(meeting) ?? { desired };
}

type Below = Pick<FieldChange, 'path' | 'after'>;

function belowOf(changes: readonly Below[]): Below[] {
  return changes.map(({ path, after }) => ({
    path: path.slice(1),
    ...(after === undefined ? {} : { after }),
  }));
}

/** The value of a field when these changes below it are made: all of a map, of an object the members in question. */
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

/** Whether one stands at or below the other. */
export function isRelated(one: Path, other: Path): boolean {
  return one.every((segment, index) => index >= other.length || segment === other[index]);
}
