/**
 * May a plan that was made afresh be carried out because another one was approved? It may when the two mean the same,
 * or when it is that part of the approved one which is not true yet (rule 28). Whatever else it holds, and whatever it
 * lacks without being true, stops it. Pure.
 */
import { type Address, formatAddress } from '../../model/resource/address.ts';
import { type MeantChange, meantParticular } from '../../model/plan/change.ts';
import type { FieldChange } from '../../model/kind/field.ts';
import { canonicalText, type Json, sameJson } from '../../model/json/json.ts';
import type { ChangeDifference, FieldDifference, PlanDifference } from '../../model/plan/plan-difference.ts';
import type { Planning } from '../build-plan.ts';
import { compareChanges } from './compare-plans.ts';
import { digestOf } from './digest.ts';
import { isRelated, type RemainingWork } from './remaining-work.ts';
import { isRedacted, isRedactionOf, withGapsApart } from '../redacted-plan.ts';

export interface Approved {
  readonly digest: string;
  /** perhaps with values left out that hold secrets */
  readonly changes: readonly MeantChange[];
  /** that it was made for this stack, these targets and this selection is known already */
  readonly isHere?: boolean;
}

export type ApprovalVerdict =
  | { readonly is: 'equal' }
  /** a part of what was approved; `done` are the changes that are true already */
  | { readonly is: 'subset'; readonly done: readonly Address[] }
  /** not what was approved; only what stands in the way, `one` being the approved plan */
  | { readonly is: 'differs'; readonly difference: PlanDifference }
  /** approved for another stack or selection, or for a target that was another place then */
  | { readonly is: 'elsewhere' };

export type FreshPlan = Pick<Planning, 'plan' | 'remainingWork'>;

export function judgeApproval({ plan, remainingWork }: FreshPlan, approved: Approved): ApprovalVerdict {
  const isTold = digestOf({ ...plan, changes: approved.changes }) === approved.digest;
  // A digest cannot vouch for a file that leaves something out: what it shows besides has to be so, too.
  const isShown = isTold || isRedactionOf(approved.changes, plan.changes);
  if (plan.digest === approved.digest && isShown) return { is: 'equal' };
  if (isTold) return judgeChanges({ plan, remainingWork }, approved.changes);
  return approved.isHere && isRedacted(approved.changes)
    ? judgeChanges({ plan, remainingWork }, withGapsApart(approved.changes))
    : { is: 'elsewhere' };
}

/** What is not known to be true, or planned as it was approved, stands in the way. */
function judgeChanges({ plan, remainingWork }: FreshPlan, approved: readonly MeantChange[]): ApprovalVerdict {
  const byAddress = (changes: readonly MeantChange[]) =>
    new Map(changes.map((change) => [formatAddress(change.address), change]));
  const [was, is] = [byAddress(approved), byAddress(plan.changes)];
  const changes = compareChanges(approved, plan.changes).flatMap((difference) => {
    const text = formatAddress(difference.address);
    const change = was.get(text);
    if (change === undefined) return [difference];
    return inTheWay(difference, { approved: change, fresh: is.get(text), left: remainingWork(change) }) ?? [];
  });
  if (changes.length > 0) return { is: 'differs', difference: { targets: [], changes } };
  const done = approved.filter((change) => isDone(change, is.get(formatAddress(change.address))));
  return { is: 'subset', done: done.map(({ address }) => address) };
}

/** Whether live is as the change would make it; that the ledger has yet to hear of a creation makes no difference. */
function isDone({ action }: MeantChange, fresh: MeantChange | undefined): boolean {
  return (
    fresh === undefined || (action === 'create' && fresh.action === 'adopt' && fresh.fields.length === 0)
  );
}

interface Match {
  readonly approved: MeantChange;
  readonly fresh: MeantChange | undefined;
  readonly left: RemainingWork;
}

/** Of a difference what no approval covers; undefined when nothing of it is left. */
function inTheWay(difference: ChangeDifference, match: Match): ChangeDifference | undefined {
  const fields = difference.fields.filter((field) => !isCovered(field, match));
  return isActionCovered(match) && fields.length === 0 ? undefined : { ...difference, fields };
}

function isActionCovered({ approved, fresh, left }: Match): boolean {
  if (fresh === undefined) return !left.action;
  if (approved.action !== fresh.action) return isRestOf(approved, fresh, left);
  // To take away one resource was approved, and not whatever bears its name today.
  return sameJson(particularOf(approved), particularOf(fresh));
}

function particularOf(change: MeantChange): Json {
  return { ...meantParticular(change) };
}

/**
 * What is left of a creation or an adoption that was cut short is an update of something that is ours by now; or an
 * adoption that sends nothing, where nothing but the ledger's word is missing.
 */
function isRestOf({ action: approved }: MeantChange, fresh: MeantChange, { isOurs }: RemainingWork): boolean {
  if (fresh.action === 'adopt') return approved === 'create' && fresh.fields.length === 0;
  return fresh.action === 'update' && (approved === 'create' || approved === 'adopt') && isOurs;
}

function isCovered({ one, other }: FieldDifference, match: Match): boolean {
  if (other !== undefined) return isApproved(one, other, match);
  return one !== undefined && isTrueOrPlanned(one, match);
}

/** Whether a field change of the fresh plan is what is left of an approved one. */
function isApproved(approved: FieldChange | undefined, fresh: FieldChange, match: Match): boolean {
  if (approved !== undefined && sameJson(approved.after, fresh.after)) {
    // A value that nobody could see may have been anything; what it shall become is what was approved.
    if (approved.unknown !== undefined || isPartOfSet(approved, fresh)) return true;
  }
  const isCutShort = match.approved.action === 'create' && match.fresh?.action === 'update';
  return isCutShort && match.left.isOurs && match.left.fields.some((field) => meetsAfter(field, fresh));
}

/** A set changes element by element: some are there, or gone, already, and no others are touched. */
function isPartOfSet({ before, after }: FieldChange, fresh: FieldChange): boolean {
  if (fresh.shape !== 'set' || ![before, after, fresh.before].every(Array.isArray)) return false;
  const [was, shall, is] = [elements(before), elements(after), elements(fresh.before)];
  return (
    [...is].every((item) => was.has(item) || shall.has(item)) &&
    [...was].every((item) => is.has(item) || !shall.has(item))
  );
}

function elements(value: Json | undefined): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.map(canonicalText) : []);
}

/** Whether what was approved is true, or will be by what the fresh plan changes. */
function isTrueOrPlanned({ path }: FieldChange, { fresh, left }: Match): boolean {
  return left.fields
    .filter((field) => isRelated(path, field.path))
    .every((field) => fresh?.fields.some((planned) => meetsAfter(field, planned)));
}

function meetsAfter(one: FieldChange, other: FieldChange): boolean {
  return canonicalText(one.path) === canonicalText(other.path) && sameJson(one.after, other.after);
}
