/**
 * Compares two plans: their meaning, address by address and field by field, and what a plan file shows in addition, which its
 * digest does not cover. Pure.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import { approvedIdentity, type Change, type DigestedChange } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import { type Guard, isAboutCheckout, isBlocking, policyOf } from '../model/guard.ts';
import { canonicalText, type Json, sameJson } from '../model/json.ts';
import type {
  ChangeDifference,
  ChangedName,
  FieldDifference,
  NameDifference,
  Plan,
  PlanDifference,
  PlanTarget,
  TargetDifference,
} from '../model/plan.ts';
import { isTransientNote } from '../model/transient-notes.ts';
import { quoted } from '../model/quoted.ts';
import { type Redact, withRedactedValues } from '../redaction/stored-values.ts';
import {
  actionItem,
  approvedFields,
  type ApprovedWork,
  fieldMeaning,
  nameItem,
  type PlanMeaning,
  targetMeaning,
} from './digest.ts';

/** Empty exactly when the two have the same digest. */
export function comparePlans(one: PlanMeaning, other: PlanMeaning): PlanDifference {
  return {
    ...(one.stack === other.stack ? {} : { stack: { one: one.stack, other: other.stack } }),
    targets: compareTargets(one.targets, other.targets),
    ...compareSelections(one, other),
    changes: compareWork(one.stack, one, other),
  };
}

export function isSamePlan({ targets, changes, ...difference }: PlanDifference): boolean {
  const { stack, selection, selectors } = difference;
  const isSameStack = stack === undefined && selection === undefined && selectors === undefined;
  return isSameStack && targets.length === 0 && changes.length === 0;
}

/** The selection is part of the meaning: a resource outside of one selection may be removed by a plan with another. */
function compareSelections(
  one: PlanMeaning,
  other: PlanMeaning,
): Pick<PlanDifference, 'selection' | 'selectors'> {
  const text = (texts: readonly string[] | undefined) => canonicalText(texts ? [...texts].sort() : null);
  const [ours, theirs] = [one.part?.selectors, other.part?.selectors];
  return {
    ...(text(one.selection) === text(other.selection)
      ? {}
      : { selection: sides(one.selection, other.selection) }),
    ...(text(ours) === text(theirs) ? {} : { selectors: sides(ours, theirs) }),
  };
}

/** Pairs targets by name; two are equal when they have the same identity and dialect. */
function compareTargets(one: readonly PlanTarget[], other: readonly PlanTarget[]): TargetDifference[] {
  return pairs(one, other, ({ name }) => name)
    .filter(([a, b]) => a === undefined || b === undefined || targetMeaning(a) !== targetMeaning(b))
    .map(([a, b, name]) => ({ name, ...sides(a, b) }));
}

/** The changes that differ: in the order of `one`, then those that only `other` has. @param stack of `one`: hashes of values contain it */
export function compareChanges(
  stack: string,
  one: readonly DigestedChange[],
  other: readonly DigestedChange[],
): ChangeDifference[] {
  return pairs(one, other, addressText).flatMap(([a, b]) => compareChange(stack, a, b) ?? []);
}

/** The changes that differ, and the names that refer to different resources in the two plans, by the resource that they are about. */
function compareWork(stack: string, one: ApprovedWork, other: ApprovedWork): ChangeDifference[] {
  return withNames(
    compareChanges(stack, one.changes, other.changes),
    compareNames(one.changedNames, other.changedNames),
    [one, other],
  );
}

/** The names that do not refer to the same resource in both plans. */
export function compareNames(
  one: readonly ChangedName[],
  other: readonly ChangedName[],
): (NameDifference & Pick<ChangedName, 'address'>)[] {
  const keyOf = ({ address, field, resource }: ChangedName) =>
    canonicalText([formatAddress(address), field ?? null, resource ?? null]);
  return pairs(one, other, keyOf).flatMap(([a, b]) => {
    const known = a ?? b;
    if (known === undefined || (a !== undefined && b !== undefined && nameItem(a) === nameItem(b))) return [];
    const { address, field, resource = field ?? '' } = known;
    return [{ address, name: resource, ...sides(a, b) }];
  });
}

/** Adds differences of names to those of changes, also for resources whose changes do not differ, or that have no change. */
export function withNames(
  changes: readonly ChangeDifference[],
  names: ReturnType<typeof compareNames>,
  plans: readonly [Pick<ApprovedWork, 'changes'>, Pick<ApprovedWork, 'changes'>],
): ChangeDifference[] {
  if (names.length === 0) return [...changes];
  const byAddress = Map.groupBy(names, ({ address }) => formatAddress(address));
  const differing = new Set(changes.map(({ address }) => formatAddress(address)));
  const actions = plans.map((plan) => new Map(plan.changes.map((one) => [addressText(one), one.action])));
  const actionOf = (text: AddressText, side: 0 | 1) => actions[side]?.get(text) ?? 'none';
  const only = [...byAddress].flatMap(([text, [first]]): ChangeDifference[] =>
    first === undefined || differing.has(text)
      ? []
      : [{ address: first.address, one: actionOf(text, 0), other: actionOf(text, 1), fields: [] }],
  );
  return [...changes, ...only].map((change) => {
    const found = byAddress.get(formatAddress(change.address));
    return found === undefined
      ? change
      : { ...change, names: found.map(({ address: _, ...difference }) => difference) };
  });
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
  const [was, is] = [one, other].map((side) => (side === undefined ? [] : approvedFields(side)));
  const fields = pairs(was ?? [], is ?? [], ({ path }) => canonicalText(path))
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

/** The references that differ, if both plans change the resource: otherwise its fields show what it refers to. */
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

// Compares what a plan file shows, but its digest does not cover, with the plan that apply has made: the reason, place, id, risks, notes
// and origins of values of each change, the guards, and the number of unchanged resources. The file's checksum has no key, so everybody
// who can write the file can change these. Not compared, because they may differ although nothing important has changed:
// - notes about the token, the environment and locks of others (`isTransientNote`), and who modified something
// - guards about the checkout, and, if the commits differ, line numbers and the number of unchanged resources
// - guards of policies that the file does not show at all: no acknowledgement of the file is for them, so they block
// - times, what was read, notices of other resources and warnings, which depend on what the run's token can read and on its secrets
// - requests, whose bodies may repeat live values that the plan does not change
// - everything about partly finished changes

/**
 * Finds the first text that differs. Compares only changes that are the same in both plans: the rest of a partly finished change has
 * other reasons.
 * @param redact redacts the fresh plan as plan files are
 * @returns a clause about the first difference
 */
export function findOtherText(given: Plan, fresh: Plan, redact: Redact): string | undefined {
  const differing = new Set(
    compareWork(fresh.stack, given, fresh).map(({ address }) => formatAddress(address)),
  );
  const shown = new Map(given.changes.map((change) => [formatAddress(change.address), change]));
  const isSame = ({ address }: Pick<Change, 'address'>) => !differing.has(formatAddress(address));
  const isSameCommit = isClean(given) && isClean(fresh) && given.made?.commit === fresh.made?.commit;
  const comparing = { stack: fresh.stack, isSameCommit, redact };
  for (const change of fresh.changes.filter(isSame)) {
    const other = shown.get(formatAddress(change.address));
    const what = other && differentMember(other, change, comparing);
    if (what !== undefined) return `${what} of ${quoted(formatAddress(change.address))}`;
  }
  const isSameWork = differing.size === 0;
  const ofPlan = ({ guards }: Plan) =>
    guards.filter((guard) => !isAboutCheckout(guard) && policyOf(guard.id) === undefined);
  const missingGuard = (guards: readonly Guard[], from: readonly Guard[]) =>
    guards.find((guard) => !from.some((other) => isShown(other, guard, { isSameWork, redact })));
  const comparable = ofPlan(fresh).filter(({ concerns }) => isSameWork || concerns.every(isSame));
  const [other] = [
    missingGuard(comparable, given.guards),
    isSameWork ? missingGuard(ofPlan(given), fresh.guards) : undefined,
    fresh.guards.find((guard) => isWiderPolicy(guard, given.guards, redact)),
  ].filter((one) => one !== undefined);
  if (other !== undefined) return `the guard ${quoted(other.id)}`;
  if (isSameWork && !sameJson(neededIn(given), neededIn(fresh))) return 'what comes along with the selection';
  if (isSameCommit && given.part?.of !== fresh.part?.of) return 'the number of declared resources';
  // A later commit may declare more resources that are unchanged.
  const isOther = !isSameWork || given.made?.commit !== fresh.made?.commit;
  return isOther || given.unchanged === fresh.unchanged ? undefined : 'the number of unchanged resources';
}

/** The number of resources that are left out is not compared, because others may change it at any time. */
function neededIn({ part }: Plan): Json {
  return (part?.along ?? []).map(({ address, neededBy }) => [address, ...neededBy]);
}

/**
 * Whether a policy blocks for more than the file shows. Each run reads and checks policies again, and an acknowledgement is only for
 * the messages that the file shows for each resource, from the same rule. A policy that only warns needs none.
 */
function isWiderPolicy(guard: Guard, given: readonly Guard[], redact: Redact): boolean {
  const { id, effect, ruleHash } = guard;
  const shown = given.filter((one) => one.id === id);
  if (policyOf(id) === undefined || shown.length === 0 || !isBlocking(guard)) return false;
  const known = new Set(
    shown
      .filter((one) => one.effect === effect && one.ruleHash === ruleHash)
      .flatMap((one) => concernTexts(redact(one))),
  );
  return concernTexts(redact(guard)).some((text) => !known.has(text));
}

function isClean({ made }: Plan): boolean {
  return made?.commit !== undefined && made.dirty !== true;
}

interface Comparing {
  readonly stack: string;
  readonly isSameCommit: boolean;
  readonly redact: Redact;
}

function differentMember(given: Change, fresh: Change, comparing: Comparing): string | undefined {
  // Each of the two runs may know secrets that the other one does not.
  const isEqual = (one: Json, other: Json) => sameJson(comparing.redact([one]), comparing.redact([other]));
  if (!isEqual(given.reason, fresh.reason)) return 'the reason';
  if (given.id !== fresh.id) return 'the id';
  if (given.createdBy !== fresh.createdBy) return 'the creator';
  if (!isSamePlace(given.place, fresh.place, comparing.isSameCommit)) return 'the place';
  const risks = ({ risks: all = [] }: Change): Json => all.map((risk) => ({ ...risk }));
  if (!isEqual(risks(given), risks(fresh))) return 'the risks';
  const notes = ({ notes: all }: Change): Json => all.filter((note) => !isTransientNote(note)).sort();
  if (!isEqual(notes(given), notes(fresh))) return 'the notes';
  return differentField(given, fresh, comparing);
}

/** Both changes have the same fields and values, but the digest does not cover where a value comes from and whether it is shown. */
function differentField(given: Change, fresh: Change, { stack, redact }: Comparing): string | undefined {
  const place = { stack, address: fresh.address };
  const about = ({ origin, unknown, shape }: FieldChange): Json => [origin ?? null, unknown ?? null, shape];
  const named = ({ names = [] }: FieldChange): Json => names.map((one) => ({ ...one }));
  for (const [one, other] of pairs(given.fields, fresh.fields, ({ path }) => canonicalText(path))) {
    if (one === undefined || other === undefined) continue;
    const path = other.path.join('.');
    if (!sameJson(redact([about(one)]), redact([about(other)]))) return `the origin of ${quoted(path)}`;
    if (!sameJson(redact([named(one)]), redact([named(other)]))) return `the names in ${quoted(path)}`;
    const hidden = withRedactedValues(place, other, redact).redacted ?? {};
    const isHidden = (['before', 'after'] as const).every(
      (side) => one.redacted?.[side] === undefined || hidden[side] !== undefined,
    );
    if (!isHidden) return `the value of ${quoted(path)}, which the file redacts although it is not a secret`;
  }
  return undefined;
}

/** In another commit the lines may differ, and in another working directory the beginning of the path. */
function isSamePlace(given: Change['place'], fresh: Change['place'], isSameCommit: boolean): boolean {
  if (given === undefined || fresh === undefined) return given === fresh;
  const [one, other] = [given, fresh].map(({ file }) => `/${file.replace(/^(\.\.?\/)+/, '')}`);
  const isFile = one !== undefined && other !== undefined && (one.endsWith(other) || other.endsWith(one));
  return isFile && (!isSameCommit || (given.line === fresh.line && given.column === fresh.column));
}

/**
 * Whether the candidate, a guard of one plan, shows all that a guard of the other plan says. If a part of the plan is already done, the
 * fresh plan counts only the rest, so numbers may differ.
 */
function isShown(
  candidate: Guard,
  guard: Guard,
  { isSameWork, redact }: Pick<Comparing, 'redact'> & { readonly isSameWork: boolean },
): boolean {
  const [one, other] = [redact(candidate), redact(guard)];
  const isCounted = other.of !== undefined || one.counted !== other.counted;
  const members = [
    ...(['id', 'effect', 'kind', 'target'] as const),
    ...(isSameWork ? (['counted', 'of', 'limit'] as const) : []),
    ...(isSameWork || !isCounted ? (['message'] as const) : []),
  ];
  const known = new Set(concernTexts(one));
  const areConcernsShown = concernTexts(other).every((text) => known.has(text));
  return areConcernsShown && members.every((name) => one[name] === other[name]);
}

function concernTexts({ concerns }: Guard): string[] {
  return concerns.map(({ address, messages }) => canonicalText([formatAddress(address), [...messages]]));
}
