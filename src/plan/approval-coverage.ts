/**
 * Decides whether an approval of an earlier plan also covers a fresh one: when both mean the same, or when the fresh plan is
 * the unfinished rest of the approved one. Pure.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import { approvedId, approvedIdentity, type DigestedChange } from '../model/change.ts';
import type { FieldChange } from '../model/field.ts';
import { canonicalText, type Json, sameJson } from '../model/json.ts';
import { addressInsteadOfId } from '../model/named-reference.ts';
import type {
  ChangeDifference,
  ChangedName,
  FieldDifference,
  NameDifference,
  Plan,
  PlanDifference,
} from '../model/plan.ts';
import { sideHash } from '../redaction/stored-values.ts';
import type { PlanResult } from './build-plan.ts';
import { compareChanges, compareNames, withNames } from './compare-plans.ts';
import { type ApprovedWork, digestOf, isShownRisks } from './digest.ts';
import { isRelated, type RemainingWork } from './remaining-work.ts';

/** Values that hold secrets may be redacted. */
interface Approved extends ApprovedWork {
  readonly digest: string;
}

export type ApprovalVerdict =
  | { readonly is: 'equal' }
  /** the rest of what was approved; `done` are the approved changes that are done already */
  | { readonly is: 'subset'; readonly done: readonly Address[] }
  /** not what was approved; `difference` has only what is not covered, and `one` in it is the approved plan */
  | { readonly is: 'differs'; readonly difference: PlanDifference }
  /** approved for another stack or selection, or for a target with another identity */
  | { readonly is: 'elsewhere' };

export type FreshPlan = Pick<PlanResult, 'plan' | 'remainingWork' | 'asOfNow' | 'idNow' | 'live'>;

export function checkApprovedChanges(fresh: FreshPlan, approved: Approved): ApprovalVerdict {
  const { plan } = fresh;
  const { changes, changedNames } = approved;
  // The digest also covers stack, targets and selection: with other ones, the approved changes have another digest.
  if (digestOf({ ...plan, changes, changedNames }) !== approved.digest) return { is: 'elsewhere' };
  if (plan.digest === approved.digest) return { is: 'equal' };
  return checkWork(fresh, approved);
}

/**
 * Every approved change must be done, or planned as it was approved, and nothing else may be planned. A name may resolve to another
 * resource than in the ledger only where that was approved.
 */
export function checkWork(fresh: FreshPlan, given: ApprovedWork): ApprovalVerdict {
  const { plan, remainingWork, asOfNow } = fresh;
  // Where the approved plan has the address of a resource that it creates, use the id that the resource has by now.
  const approved = asOfNow(given.changes);
  const byAddress = (changes: readonly DigestedChange[]) =>
    new Map(changes.map((change) => [formatAddress(change.address), change]));
  const [was, is] = [byAddress(approved), byAddress(plan.changes)];
  const isCreated = (address: AddressText) => {
    const change = was.get(address);
    return change?.action === 'create' && remainingWork(change).isOurs;
  };
  const uncoveredChanges = compareChanges(plan.stack, approved, plan.changes).flatMap((difference) => {
    const text = formatAddress(difference.address);
    const change = was.get(text);
    if (change === undefined) return [difference];
    return (
      uncovered(difference, {
        stack: plan.stack,
        approved: change,
        fresh: is.get(text),
        left: remainingWork(change),
        isCreated,
      }) ?? []
    );
  });
  const uncoveredNames = compareNames(given.changedNames, plan.changedNames).filter(
    (difference) => !isNameCovered(difference, { ...fresh, isCreated }),
  );
  const changes = withNames(uncoveredChanges, uncoveredNames, [{ changes: approved }, plan]);
  if (changes.length > 0) return { is: 'differs', difference: { targets: [], changes } };
  const done = approved.filter((change) => isDone(change, is.get(formatAddress(change.address))));
  return { is: 'subset', done: done.map(({ address }) => address) };
}

/** Whether live is as the change would make it, even if the ledger has no record of a created resource yet. */
function isDone({ action }: DigestedChange, fresh: DigestedChange | undefined): boolean {
  return (
    fresh === undefined || (action === 'create' && fresh.action === 'adopt' && fresh.fields.length === 0)
  );
}

/**
 * Whether a changed name was approved. The rest of an approved exchange of names has the same id, and the same or fewer recorded ids; it
 * has no `recordedAs` if a part of the exchange was applied. A name that the fresh plan no longer reports as changed must still refer to
 * the approved resource: then the ledger has recorded it by now, and the name was not changed back.
 */
function isNameCovered(
  { one: approved, other: fresh }: NameDifference,
  { idNow, live, isCreated }: Pick<FreshPlan, 'idNow' | 'live'> & Pick<Match, 'isCreated'>,
): boolean {
  if (approved === undefined) return false;
  const created = addressInsteadOfId(approved.id);
  const isCreatedByNow = created !== undefined && isCreated(formatAddress(created));
  const id = isCreatedByNow ? (live(created)?.id ?? approved.id) : approved.id;
  if (fresh === undefined) {
    const now = idNow(approved);
    return now === undefined || now === id;
  }
  return (
    fresh.id === id &&
    (fresh.recordedAs === undefined || fresh.recordedAs === approved.recordedAs) &&
    fresh.recorded.every((one) => approved.recorded.includes(one))
  );
}

/** The names in a plan made after an apply that refer to other resources than in the applied plan: they were changed meanwhile. */
export function namesChangedSince(
  applied: Pick<Plan, 'changedNames'>,
  { plan, live }: Pick<PlanResult, 'plan' | 'live'>,
): readonly ChangedName[] {
  return compareNames(applied.changedNames, plan.changedNames).flatMap(({ one, other }) => {
    const created = one && addressInsteadOfId(one.id);
    const id = created === undefined ? one?.id : live(created)?.id;
    return other === undefined || other.id === id ? [] : [other];
  });
}

interface Match {
  readonly stack: string;
  readonly approved: DigestedChange;
  readonly fresh: DigestedChange | undefined;
  readonly left: RemainingWork;
  /** Whether the approved plan creates the resource, and this stack has created it by now. */
  isCreated(address: AddressText): boolean;
}

/** The difference without the parts that the approval covers; undefined when it covers all of it. */
function uncovered(difference: ChangeDifference, match: Match): ChangeDifference | undefined {
  const fields = difference.fields.filter((field) => !isCovered(field, match));
  return isActionCovered(match) && fields.length === 0 ? undefined : { ...difference, fields };
}

function isActionCovered(match: Match): boolean {
  const { approved, fresh, left } = match;
  if (fresh === undefined) return !left.mustAct;
  if (!areReferencesCovered(match)) return false;
  if (approved.action !== fresh.action) return isRemainderOf(approved, fresh, left);
  // The approval is for one resource, not for a later one with the same name.
  return sameJson(identityJson(approved), identityJson(fresh));
}

function identityJson(change: DigestedChange): Json {
  return { ...approvedIdentity(change) };
}

/** Whether each resource that the change refers to is the approved one, or was created by this stack as the approved plan intended. */
function areReferencesCovered({ approved, fresh, isCreated }: Match): boolean {
  return Object.entries(fresh?.references ?? {}).every(([name, id]) => {
    const address = name as AddressText;
    const known = approved.references?.[address];
    return known === id || (known === address && isCreated(address));
  });
}

/**
 * Whether the fresh change is the rest of an interrupted creation or adoption: an update of a resource that is ours already, or, if only
 * the ledger's record is missing, an adoption that sends nothing.
 */
function isRemainderOf(change: DigestedChange, fresh: DigestedChange, { isOurs }: RemainingWork): boolean {
  const { action: approved } = change;
  const adopted = approvedId(change);
  if (approved === 'adopt' && adopted !== undefined && adopted !== fresh.id) return false;
  if (fresh.action === 'adopt') return approved === 'create' && fresh.fields.length === 0;
  return fresh.action === 'update' && (approved === 'create' || approved === 'adopt') && isOurs;
}

function isCovered({ path, one, other }: FieldDifference, match: Match): boolean {
  if (isShownRisks({ path })) {
    const approved = elements(one?.after);
    return [...elements(other?.after)].every((message) => approved.has(message));
  }
  if (other !== undefined) return isApproved(one, other, match);
  return one !== undefined && isLiveOrPlanned(one, match);
}

/** Whether a field change of the fresh plan is the rest of an approved one. */
function isApproved(approved: FieldChange | undefined, fresh: FieldChange, match: Match): boolean {
  if (approved !== undefined && hasSameValueAfter(approved, fresh, match)) {
    // If the value before was unknown, only the value after was approved.
    if (approved.unknown !== undefined || isPartOfSet(approved, fresh)) return true;
  }
  const isInterrupted = match.approved.action === 'create' && match.fresh?.action === 'update';
  return (
    isInterrupted &&
    match.left.isOurs &&
    match.left.fields.some((field) => setsSameField(field, fresh, match))
  );
}

/** Whether some of the approved additions and removals of a set are done already, and nothing else changed. */
function isPartOfSet({ before, after }: FieldChange, fresh: FieldChange): boolean {
  if (fresh.shape !== 'set' || ![before, after, fresh.before].every(Array.isArray)) return false;
  const [was, wanted, is] = [elements(before), elements(after), elements(fresh.before)];
  return (
    [...is].every((item) => was.has(item) || wanted.has(item)) &&
    [...was].every((item) => is.has(item) || !wanted.has(item))
  );
}

function elements(value: Json | undefined): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.map(canonicalText) : []);
}

/** Whether the approved value is live, or the fresh plan sets it. */
function isLiveOrPlanned({ path }: FieldChange, match: Match): boolean {
  return match.left.fields
    .filter((field) => isRelated(path, field.path))
    .every((field) => match.fresh?.fields.some((planned) => setsSameField(field, planned, match)));
}

function setsSameField(one: FieldChange, other: FieldChange, match: Match): boolean {
  return canonicalText(one.path) === canonicalText(other.path) && hasSameValueAfter(one, other, match);
}

/** Whether two changes of one field set the same value; a redacted value is compared by its hash. */
function hasSameValueAfter(one: FieldChange, other: FieldChange, { stack, approved }: Match): boolean {
  const place = { stack, address: approved.address };
  return sideHash(place, one, 'after') === sideHash(place, other, 'after');
}
