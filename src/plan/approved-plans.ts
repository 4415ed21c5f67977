/**
 * The content of approved plans, which is stored with their approvals, and whether a fresh plan is the unfinished rest of several
 * of them. The content may come from an untrusted place: it counts only if it hashes to the approved digest. Pure.
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { DigestedChange } from '../model/change.ts';
import { canonicalText, isJsonObject, type Json, sameJson } from '../model/json.ts';
import type { ChangedName, Plan, PlanTarget } from '../model/plan.ts';
import { type ApprovalVerdict, checkWork, type FreshPlan } from './approval-coverage.ts';
import {
  type ApprovedWork,
  digestItemsOf,
  digestOf,
  digestVersion,
  type PlanMeaning,
  readDigestItems,
  targetMeaning,
} from './digest.ts';

/** What the digest of a plan covers, as JSON. Values with secrets are redacted if the plan is. */
interface PlanContent {
  readonly version: number;
  readonly targets: readonly PlanTarget[];
  /** present for a selection */
  readonly selection?: readonly AddressText[];
  /** of a part that `--select` chose */
  readonly selectors?: readonly string[];
  /** digest items, sorted */
  readonly items: readonly string[];
}

/** An approved plan whose content is proved by its digest. */
export interface ProvedPlan extends ApprovedWork {
  readonly digest: string;
  /** of the stack when the plan was made */
  readonly targets: readonly PlanTarget[];
  readonly selection?: readonly AddressText[];
  readonly part?: PlanMeaning['part'] & object;
}

export function planContent({ targets, selection, part, ...work }: Plan): PlanContent {
  return {
    version: digestVersion,
    targets: targets.map(({ name, service, url, place, dialect }) => ({
      name,
      service,
      url,
      place,
      dialect,
    })),
    ...(selection === undefined ? {} : { selection }),
    ...(part === undefined ? {} : { selectors: part.selectors }),
    items: [...digestItemsOf(work)].sort(),
  };
}

/**
 * @param value read from a place that anybody may be able to write to
 * @returns undefined if it is not the content of the plan with this digest
 */
export function proveContent(
  value: Json | undefined,
  { stack, digest }: Pick<Plan, 'stack' | 'digest'>,
): ProvedPlan | undefined {
  if (!isJsonObject(value) || value['version'] !== digestVersion) return undefined;
  const { targets, selection, selectors, items } = value;
  if (!isTexts(items) || !isTargets(targets) || (selection !== undefined && !isTexts(selection)))
    return undefined;
  if (selectors !== undefined && !isTexts(selectors)) return undefined;
  try {
    const work = readDigestItems(items);
    // An item with members that no plan has could add values that its hash does not cover.
    if (!sameJson([...digestItemsOf(work)].sort(), [...new Set(items)].sort())) return undefined;
    const proved = {
      digest,
      targets,
      ...(selection === undefined ? {} : { selection: selection as readonly AddressText[] }),
      ...(selectors === undefined ? {} : { part: { selectors } }),
      ...work,
    };
    return digestOf({ stack, ...proved }) === digest ? proved : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((one: Json) => typeof one === 'string');
}

/** Whether all members of the targets are texts. They are only compared, so a target with an unknown service matches nothing. */
function isTargets(value: Json | undefined): value is Json & readonly PlanTarget[] {
  return (
    Array.isArray(value) &&
    value.every((one: Json) =>
      ['name', 'service', 'url', 'place', 'dialect'].every((name) => isTextIn(one, name)),
    )
  );
}

function isTextIn(value: Json, name: string): boolean {
  return isJsonObject(value) && typeof value[name] === 'string';
}

/**
 * Whether a fresh plan is the last approved plan, or the unfinished rest of all approved plans together. Each fresh change must be in an
 * approved plan with the same values before and after; if several change one field, the last one counts. The other approved changes
 * must be done already.
 * @param approved in the order in which they were merged
 */
export function checkApprovedPlans(fresh: FreshPlan, approved: readonly ProvedPlan[]): ApprovalVerdict {
  const { plan } = fresh;
  const last = approved.at(-1);
  if (last === undefined) return checkWork(fresh, { changes: [], changedNames: [] });
  const meaning = ({ digest: _, ...content }: ProvedPlan) => digestOf({ stack: plan.stack, ...content });
  if (approved.some((one) => meaning(one) !== one.digest)) return { is: 'elsewhere' };
  if (last.digest === plan.digest) return { is: 'equal' };
  const here = new Map(plan.targets.map((target) => [target.name, targetMeaning(target)]));
  if (!approved.every((one) => hasSameScope(one, plan, here))) return { is: 'elsewhere' };
  return checkWork(fresh, {
    changes: mergeChanges(approved.map(({ changes }) => changes)),
    changedNames: mergeNames(approved.flatMap(({ changedNames }) => changedNames)),
  });
}

/** Whether the selection, and the identity of each target that an approved plan changes, are the same today. Other targets may differ. */
function hasSameScope(
  { targets, selection, part, changes, changedNames }: ProvedPlan,
  plan: Plan,
  here: ReadonlyMap<string, string>,
): boolean {
  const there = new Map(targets.map((target) => [target.name, targetMeaning(target)]));
  const isSame = (name: string) => here.has(name) && here.get(name) === there.get(name);
  return (
    sameJson(selection && [...selection].sort(), plan.selection && [...plan.selection].sort()) &&
    sameJson(part && [...part.selectors].sort(), plan.part && [...plan.part.selectors].sort()) &&
    [...changes, ...changedNames].every(({ address }) => isSame(address.target))
  );
}

/** The approved names; of a name that several plans approved, only the last approval. */
function mergeNames(names: readonly ChangedName[]): ChangedName[] {
  const keyOf = ({ address, field, resource }: ChangedName) =>
    canonicalText([formatAddress(address), field ?? null, resource ?? null]);
  return [...new Map(names.map((name) => [keyOf(name), name])).values()];
}

/** All that the plans together approve, one change for each resource. */
function mergeChanges(plans: readonly (readonly DigestedChange[])[]): DigestedChange[] {
  const merged = new Map<AddressText, DigestedChange>();
  for (const change of plans.flat()) {
    const address = formatAddress(change.address);
    const earlier = merged.get(address);
    merged.set(address, earlier === undefined ? change : mergeChange(earlier, change));
  }
  return [...merged.values()];
}

/** Only a later update keeps something of an earlier change: every other action was approved for the resource as a whole. */
function mergeChange(earlier: DigestedChange, later: DigestedChange): DigestedChange {
  const isRemoved = earlier.action === 'delete' || earlier.action === 'release';
  if (later.action !== 'update' || isRemoved) return later;
  const replaced = new Set(later.fields.map(({ path }) => canonicalText(path)));
  const kept = earlier.fields.filter(({ path }) => !replaced.has(canonicalText(path)));
  const risks = [...(earlier.risks ?? []), ...(later.risks ?? [])];
  const references = { ...earlier.references, ...later.references };
  return {
    ...later,
    fields: [...kept, ...later.fields],
    ...(risks.length === 0 ? {} : { risks }),
    ...(Object.keys(references).length === 0 ? {} : { references }),
  };
}
