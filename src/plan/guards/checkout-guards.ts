/**
 * The guards about where the manifests come from: another commit than the last apply, and files that are missing from the work tree
 * (rules 41, 43). They are about the plan as a whole; a plan without changes reverts nothing. Pure.
 */
import { formatAddress } from '../../model/resource/address.ts';
import { quoteSome } from '../../model/counted.ts';
import type { Path } from '../../model/json/json.ts';
import { type Concern, sortConcerns } from '../../model/plan/guard.ts';
import { type CommitOrder, shortCommit } from '../../model/stack/commit-order.ts';
import type { PlanContext } from '../context/plan-context.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { CountedGuard } from './count-guards.ts';
import { isTaken } from './ownership-counts.ts';

/** @param drafts those with something to do */
export function checkoutGuards(context: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  const { commitOrder } = context;
  if (drafts.length === 0) return [];
  return [
    ...(commitOrder?.is === 'unknown' ? [unknownCommit(commitOrder, context, drafts)] : []),
    ...(commitOrder === undefined ? [] : otherCommit(commitOrder, drafts.length)),
    ...missingFile(context, drafts),
  ];
}

function otherCommit(order: CommitOrder, counted: number): CountedGuard[] {
  if (order.is === 'unknown' || order.is === 'onward' || !order.differs) return [];
  const [applied, ours] = [shortCommit(order.applied), shortCommit(order.ours)];
  if (order.is === 'behind') {
    const message = `somebody applied commit ${applied} already, which is later than ${ours}: this plan would take it back`;
    return [{ id: 'older-commit', counted, message, concerns: [] }];
  }
  const message = `commit ${applied}, which was applied last, is not contained in ${ours}, and the files of the stack differ: this plan would take back what only the former has; merge it, and plan again`;
  return [{ id: 'diverged-commit', counted, message, concerns: [] }];
}

/** Blocks where the applied commit is lost, so that no merge brings it here, and the plan changes what was applied from it. */
function unknownCommit(
  { applied, why, nowhere, set }: Extract<CommitOrder, { is: 'unknown' }>,
  context: PlanContext,
  drafts: readonly Draft[],
): CountedGuard {
  const message = `it is unknown whether commit ${shortCommit(applied)}, which was applied last, is later than these manifests: ${why}`;
  const concerns =
    nowhere === true ? drafts.flatMap((draft) => takenBack(draft, set ?? recorded(draft, context))) : [];
  if (concerns.length === 0) return { id: 'commit-unknown', counted: drafts.length, message, concerns };
  return {
    id: 'commit-unknown',
    effect: 'blocks',
    counted: concerns.length,
    message: `${message}. This plan changes what was applied from it; push that commit and merge it, or check that the changes are wanted`,
    concerns: sortConcerns(concerns),
  };
}

type FieldsOf = ReadonlyMap<string, readonly Path[]>;

/** Without a history, whatever the ledger has recorded may come from the last apply. */
function recorded({ change: { address } }: Draft, context: PlanContext): FieldsOf {
  const record = context.record(address);
  if (record === undefined) return new Map();
  return new Map([[formatAddress(address), Object.keys(record.fields).map((field) => [field])]]);
}

/** What a change takes back of what was set: a field, or with the resource all of its fields. */
function takenBack({ change: { address, action, fields } }: Draft, set: FieldsOf): Concern[] {
  const paths = set.get(formatAddress(address));
  if (paths === undefined) return [];
  if (action !== 'update') return [{ address, messages: [] }];
  const changed = fields.filter(({ path }) => paths.some((other) => overlap(path, other)));
  return changed.length === 0
    ? []
    : [{ address, messages: [...new Set(changed.map(({ path }) => path.join('.')))] }];
}

/** Whether one path leads to the other, or to a part of it. */
function overlap(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((step, index) => step === other[index]);
}

/**
 * A document that is not in the work tree looks like a deleted one. It was deleted for sure only if the index, or a commit, says so.
 * A removal that a tombstone asks for does not come from a missing file.
 */
function missingFile({ missingFiles }: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  const removals = drafts.filter((draft) => isTaken(draft) && draft.remove === undefined);
  if (missingFiles === undefined || removals.length === 0) return [];
  const { deleted, unknown } = missingFiles;
  if (deleted.length === 0 && unknown === undefined) return [];
  const message =
    deleted.length > 0
      ? `${quoteSome(deleted)} ${deleted.length === 1 ? 'is' : 'are'} missing from the work tree, and deleted neither in the index nor by a commit: check that what was declared there is to be removed`
      : `it is unknown whether tracked manifests are missing from the work tree: ${unknown ?? ''}`;
  const concerns = removals.map(({ change: { address } }) => ({ address, messages: [] }));
  return [{ id: 'missing-file', counted: removals.length, message, concerns: sortConcerns(concerns) }];
}
