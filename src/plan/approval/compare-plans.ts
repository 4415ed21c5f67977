/** Compares what two plans mean, address by address and field by field. Pure. */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type DigestedChange, removedIdentity } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { PlanTarget } from '../../model/plan/plan.ts';
import type {
  ChangeDifference,
  FieldDifference,
  PlanDifference,
  TargetDifference,
} from '../../model/plan/plan-difference.ts';
import { actionAtom, fieldAtom, type PlanMeaning, targetMeaning } from './digest.ts';

/** Empty exactly when the two have the same digest. */
export function comparePlans(one: PlanMeaning, other: PlanMeaning): PlanDifference {
  return {
    ...(one.stack === other.stack ? {} : { stack: { one: one.stack, other: other.stack } }),
    targets: compareTargets(one.targets, other.targets),
    ...compareSelections(one.selection, other.selection),
    changes: compareChanges(one.changes, other.changes),
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

/** In the order of `one`, then those that only `other` has. */
export function compareChanges(
  one: readonly DigestedChange[],
  other: readonly DigestedChange[],
): ChangeDifference[] {
  return pairs(one, other, addressText).flatMap(([a, b]) => compareChange(a, b) ?? []);
}

function addressText({ address }: DigestedChange): AddressText {
  return formatAddress(address);
}

function compareChange(
  one: DigestedChange | undefined,
  other: DigestedChange | undefined,
): ChangeDifference | undefined {
  const { address } = one ?? other ?? {};
  if (address === undefined) return undefined;
  const fields = pairs(one?.fields ?? [], other?.fields ?? [], ({ path }) => canonicalText(path))
    .filter(([a, b]) => a === undefined || b === undefined || fieldAtom(address, a) !== fieldAtom(address, b))
    .flatMap(([a, b]) => fieldDifference(a, b) ?? []);
  const isSameAction = (one && actionAtom(one)) === (other && actionAtom(other));
  if (isSameAction && fields.length === 0) return undefined;
  return { address, ...sides(one?.action, other?.action), ...compareRemovedIdentities(one, other), fields };
}

function compareRemovedIdentities(
  one: DigestedChange | undefined,
  other: DigestedChange | undefined,
): Pick<ChangeDifference, 'ids' | 'fingerprints'> {
  const [a, b] = [one, other].map((side): { id?: string; fingerprint?: string } => ({
    ...(side && removedIdentity(side)),
  }));
  return {
    ...(a?.id === b?.id ? {} : { ids: sides(a?.id, b?.id) }),
    ...(a?.fingerprint === b?.fingerprint ? {} : { fingerprints: sides(a?.fingerprint, b?.fingerprint) }),
  };
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
