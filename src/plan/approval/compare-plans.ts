/** Compares what two plans mean, address by address and field by field. Pure. */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { approvedIdentity, type DigestedChange } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { PlanTarget } from '../../model/plan/plan.ts';
import type {
  ChangeDifference,
  FieldDifference,
  PlanDifference,
  TargetDifference,
} from '../../model/plan/plan-difference.ts';
import { actionItem, fieldMeaning, type PlanMeaning, targetMeaning } from './digest.ts';

/** Empty exactly when the two have the same digest. */
export function comparePlans(one: PlanMeaning, other: PlanMeaning): PlanDifference {
  return {
    ...(one.stack === other.stack ? {} : { stack: { one: one.stack, other: other.stack } }),
    targets: compareTargets(one.targets, other.targets),
    ...compareSelections(one.selection, other.selection),
    changes: compareChanges(one.stack, one.changes, other.changes),
  };
}

export function isSamePlan({ stack, targets, selection, changes }: PlanDifference): boolean {
  return stack === undefined && targets.length === 0 && selection === undefined && changes.length === 0;
}

/** The selection is part of the meaning: a resource outside of one selection may be removed by a plan with another. */
function compareSelections(one: Selection, other: Selection): Pick<PlanDifference, 'selection'> {
  const text = (selection: Selection) =>
    canonicalText(selection === undefined ? null : [...selection].sort());
  return text(one) === text(other) ? {} : { selection: sides(one, other) };
}

type Selection = PlanMeaning['selection'];

/** Pairs targets by name; two are equal when they have the same identity and dialect. */
function compareTargets(one: readonly PlanTarget[], other: readonly PlanTarget[]): TargetDifference[] {
  return pairs(one, other, ({ name }) => name)
    .filter(([a, b]) => a === undefined || b === undefined || targetMeaning(a) !== targetMeaning(b))
    .map(([a, b, name]) => ({ name, ...sides(a, b) }));
}

/** In the order of `one`, then those that only `other` has. @param stack of `one`: hashes of values contain it */
export function compareChanges(
  stack: string,
  one: readonly DigestedChange[],
  other: readonly DigestedChange[],
): ChangeDifference[] {
  return pairs(one, other, addressText).flatMap(([a, b]) => compareChange(stack, a, b) ?? []);
}

function addressText({ address }: DigestedChange): AddressText {
  return formatAddress(address);
}

function compareChange(
  stack: string,
  one: DigestedChange | undefined,
  other: DigestedChange | undefined,
): ChangeDifference | undefined {
  const { address } = one ?? other ?? {};
  if (address === undefined) return undefined;
  const meaning = (field: FieldChange) => fieldMeaning({ stack, address }, field);
  const fields = pairs(one?.fields ?? [], other?.fields ?? [], ({ path }) => canonicalText(path))
    .filter(([a, b]) => a === undefined || b === undefined || meaning(a) !== meaning(b))
    .flatMap(([a, b]) => fieldDifference(a, b) ?? []);
  const isSameAction = (one && actionItem(one)) === (other && actionItem(other));
  if (isSameAction && fields.length === 0) return undefined;
  return { address, ...sides(one?.action, other?.action), ...compareIdentities(one, other), fields };
}

function compareIdentities(
  one: DigestedChange | undefined,
  other: DigestedChange | undefined,
): Pick<ChangeDifference, 'ids' | 'fingerprints' | 'references'> {
  const [a, b] = [one, other].map((side): { id?: string; fingerprint?: string } => ({
    ...(side && approvedIdentity(side)),
  }));
  return {
    ...(a?.id === b?.id ? {} : { ids: sides(a?.id, b?.id) }),
    ...(a?.fingerprint === b?.fingerprint ? {} : { fingerprints: sides(a?.fingerprint, b?.fingerprint) }),
    ...compareReferences(one, other),
  };
}

/** Only where both plans change the resource: otherwise its fields say what it names. */
function compareReferences(
  one: DigestedChange | undefined,
  other: DigestedChange | undefined,
): Pick<ChangeDifference, 'references'> {
  if (one === undefined || other === undefined) return {};
  const [a, b] = [one.references ?? {}, other.references ?? {}];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as AddressText[];
  const references = names
    .filter((name) => a[name] !== b[name])
    .map((name) => ({ address: name, ...sides(a[name], b[name]) }));
  return references.length === 0 ? {} : { references };
}

function fieldDifference(
  one: FieldChange | undefined,
  other: FieldChange | undefined,
): FieldDifference | undefined {
  const path = (one ?? other)?.path;
  return path === undefined ? undefined : { path, ...sides(one, other) };
}

function sides<T>(one: T | undefined, other: T | undefined): { readonly one?: T; readonly other?: T } {
  return { ...(one === undefined ? {} : { one }), ...(other === undefined ? {} : { other }) };
}

/** The values with the same key on both sides, with the key. */
function pairs<T>(
  one: readonly T[],
  other: readonly T[],
  keyOf: (value: T) => string,
): (readonly [T | undefined, T | undefined, string])[] {
  const [a, b] = [one, other].map((side) => new Map(side.map((value) => [keyOf(value), value])));
  const keys = new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])]);
  return [...keys].map((key) => [a?.get(key), b?.get(key), key]);
}
