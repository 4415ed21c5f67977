/**
 * The guards about the source of the manifests: a commit that is older than the applied one or not based on it, and files that are
 * missing from the work tree. They apply to the plan as a whole; a plan without changes reverts nothing. Pure.
 */
import { formatAddress } from '../model/address.ts';
import { type AppliedFields, type CommitOrder, shortCommit } from '../model/checkout.ts';
import { type Concern, sortConcerns } from '../model/guard.ts';
import type { Path } from '../model/json.ts';
import { quoteSome } from '../model/quoted.ts';
import { type CountedGuard, isDeletedOrReleased } from './count-guards.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';

/** @param drafts those with something to do */
export function checkoutGuards(context: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  if (drafts.length === 0) return [];
  const ofCommits = context.commitOrders.flatMap((order) => {
    if (order.is === 'unknown') return [unknownCommit(order, context, drafts)];
    if (order.is === 'uncommitted') return uncommitted(order, context, drafts);
    return otherCommit(order, drafts.length);
  });
  return [...mergeById(ofCommits), ...missingFile(context, drafts)];
}

/** Joins the guards with the same id, which several earlier commits may trip. The result blocks if one of them does. */
function mergeById(guards: readonly CountedGuard[]): CountedGuard[] {
  return [...Map.groupBy(guards, ({ id }) => id).values()].flatMap((same) => {
    const strictest = same.find(({ effect }) => effect === 'blocks') ?? same[0];
    if (strictest === undefined || same.length === 1) return same;
    const messages = new Set([strictest, ...same].map(({ message }) => message));
    const concerns = same.flatMap((guard) => guard.concerns);
    return [
      { ...strictest, message: [...messages].join('; '), concerns: sortConcerns(mergedConcerns(concerns)) },
    ];
  });
}

function mergedConcerns(concerns: readonly Concern[]): Concern[] {
  return [...Map.groupBy(concerns, ({ address }) => formatAddress(address)).values()].flatMap((same) =>
    same.slice(0, 1).map(({ address }) => ({
      address,
      messages: [...new Set(same.flatMap(({ messages }) => messages))],
    })),
  );
}

function otherCommit(order: CommitOrder, counted: number): CountedGuard[] {
  if ((order.is !== 'behind' && order.is !== 'diverged') || !order.differs) return [];
  const [applied, ours] = [shortCommit(order.applied), shortCommit(order.ours)];
  if (order.is === 'behind') {
    const message = `commit ${applied}, which is later than ${ours}, was already applied: this plan would revert it`;
    return [{ id: 'older-commit', counted, message, concerns: [] }];
  }
  const message = `commit ${applied}, which was applied last, is not an ancestor of ${ours}, and the files of the stack differ: this plan would revert what only ${applied} has; merge it, and plan again`;
  return [{ id: 'diverged-commit', counted, message, concerns: [] }];
}

/** Blocks if the applied commit is lost, so that it cannot be merged, and the plan changes what was applied from it. */
function unknownCommit(
  { applied, why, isLost, appliedFields }: Extract<CommitOrder, { is: 'unknown' }>,
  context: PlanContext,
  drafts: readonly Draft[],
): CountedGuard {
  const message = `it is unknown whether commit ${shortCommit(applied)}, which was applied last, is later than these manifests: ${why}`;
  const concerns =
    isLost === true
      ? drafts.flatMap((draft) => revertedBy(draft, appliedFields ?? recordedFields(draft, context)))
      : [];
  if (concerns.length === 0) return { id: 'commit-unknown', counted: drafts.length, message, concerns };
  return {
    id: 'commit-unknown',
    effect: 'blocks',
    counted: concerns.length,
    message: `${message}. This plan changes what was applied from it; push that commit and merge it, or check that the changes are wanted`,
    concerns: sortConcerns(concerns),
  };
}

/** Blocks if the plan changes what was applied without a commit. While files are being edited, changed fields only warn. */
function uncommitted(
  { applied, isEdited, appliedFields }: Extract<CommitOrder, { is: 'uncommitted' }>,
  context: PlanContext,
  drafts: readonly Draft[],
): CountedGuard[] {
  const reverted = drafts.map((draft) => ({
    draft,
    concerns: revertedBy(draft, appliedFields ?? recordedFields(draft, context)),
  }));
  const concerns = reverted.flatMap((found) => found.concerns);
  if (concerns.length === 0) return [];
  const guard = {
    id: 'commit-unknown',
    counted: concerns.length,
    message: `with or after commit ${shortCommit(applied)}, changes were applied for which the ledger has no commit, and this plan changes what was applied from them; commit those changes and plan again, or check that this is wanted`,
    concerns: sortConcerns(concerns),
  } as const;
  const removes = reverted.some((found) => found.concerns.length > 0 && isDeletedOrReleased(found.draft));
  return [isEdited && !removes ? guard : { ...guard, effect: 'blocks' }];
}

/** The fields in the record of the resource: without a history, each of them may come from the last apply. */
function recordedFields({ change: { address } }: Draft, context: PlanContext): AppliedFields {
  const record = context.record(address);
  if (record === undefined) return new Map();
  return new Map([[formatAddress(address), Object.keys(record.fields).map((field) => [field])]]);
}

/** The applied fields that a change reverts: single fields, or all of them with the resource. */
function revertedBy({ change: { address, action, fields } }: Draft, applied: AppliedFields): Concern[] {
  const paths = applied.get(formatAddress(address));
  if (paths === undefined) return [];
  if (action !== 'update') return [{ address, messages: [] }];
  const changed = fields.filter(({ path }) => paths.some((other) => overlap(path, other)));
  return changed.length === 0
    ? []
    : [{ address, messages: [...new Set(changed.map(({ path }) => path.join('.')))] }];
}

/** Whether the paths are the same, or one of them is inside of the other. */
function overlap(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((step, index) => step === other[index]);
}

/**
 * A document whose file is missing from the work tree looks like a deleted one. It was certainly deleted only if the index or a
 * commit shows it. A removal by a removal request does not come from a missing file.
 */
function missingFile({ missingFiles }: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  const removals = drafts.filter((draft) => isDeletedOrReleased(draft) && draft.remove === undefined);
  if (missingFiles === undefined || removals.length === 0) return [];
  const { vanished, unknown } = missingFiles;
  if (vanished.length === 0 && unknown === undefined) return [];
  const message =
    vanished.length > 0
      ? `${quoteSome(vanished)} ${vanished.length === 1 ? 'is' : 'are'} missing from the work tree, and deleted neither in the index nor by a commit: check that the resources declared there should be removed`
      : `it is unknown whether tracked manifests are missing from the work tree: ${unknown ?? ''}`;
  const concerns = removals.map(({ change: { address } }) => ({ address, messages: [] }));
  return [{ id: 'missing-file', counted: removals.length, message, concerns: sortConcerns(concerns) }];
}
