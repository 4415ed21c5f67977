/**
 * Finds the guards that a plan trips, from its drafts, their risks, the checkout and the guard settings of the stack.
 * Guards never change the plan itself. Pure.
 */
import { contentAfter } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import { type CommitOrder, shortCommit } from '../model/checkout.ts';
import type { FieldChange } from '../model/field.ts';
import {
  type Concern,
  type Guard,
  guardDefaults,
  guardIds,
  type Risk,
  sortConcerns,
} from '../model/guard.ts';
import type { Path } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import { quoted, quoteSome } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';
import type { Dialect, Guards } from '../model/stack.ts';
import { type CountedGuard, countGuards, type CountInput, countOwnership, isTaken } from './count-guards.ts';
import type { Draft } from './draft-declared.ts';
import { findRenames, type LikelyRename } from './find-renames.ts';
import { guardMessages, identityGuards, type UncountedGuard } from './identity-guards.ts';
import { loosenedGuards } from './loosened.ts';
import { changedReferences } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { takenOverAddresses } from './take-over-stack.ts';

/**
 * All guards that fire: blocking ones first, then by id, kind and target.
 * @param drafts of the plan
 * @param about.all the drafts of the whole stack, which say what it owns
 */
export function findGuards(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  about: Omit<CountInput, 'drafts'>,
): Guard[] {
  const { guards } = context.stack;
  const pending = [...drafts.values()].filter(({ change }) => change.action !== 'none');
  const found = [
    ...loosenedGuards(context.loosened),
    ...checkoutGuards(context, pending),
    ...countGuards(countOwnership(context, { drafts, ...about }), guards),
    ...identityFindings(context, pending),
    ...forcedFindings(pending),
    ...renameFindings(context, drafts),
    ...gather(changedReferences(context).map((one) => ({ ...one, id: 'reference-changed' as const }))),
    ...riskFindings(pending),
  ];
  return found
    .map(({ always, ...finding }: Finding) => ({
      ...finding,
      effect: always ? ('blocks' as const) : effectOf(finding, guards),
    }))
    .toSorted(inOrder);
}

function effectOf({ id, effect }: CountedGuard, { raise = [], allow = [] }: Guards): Guard['effect'] {
  if (allow.includes(id)) return 'warns';
  return raise.includes(id) ? 'blocks' : (effect ?? guardDefaults[id]);
}

function inOrder(one: Guard, other: Guard): number {
  // Guards about one kind come first, then those about a target, then those about the plan.
  const text = ({ kind, target }: Guard) =>
    `${Number(kind === undefined) + Number(target === undefined)} ${kind ?? ''}/${target ?? ''}`;
  return (
    Number(one.effect === 'warns') - Number(other.effect === 'warns') ||
    guardIds.indexOf(one.id) - guardIds.indexOf(other.id) ||
    (text(one) < text(other) ? -1 : Number(text(one) > text(other)))
  );
}

/** `always`: it blocks whatever the stack allows. */
type Finding = CountedGuard & { readonly always?: true };

/** One resource that trips a guard, before hits of the same kind and target are grouped. */
interface GuardHit extends Concern {
  readonly id: UncountedGuard;
  readonly always?: true;
  /** in place of the message of the guard */
  readonly says?: string;
}

function gather(hits: readonly GuardHit[]): Finding[] {
  const groups = Map.groupBy(
    hits,
    ({ id, always = false, says = '', address: { kind, target } }) =>
      `${id}/${always}/${says}/${kind}/${target}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { id, address, always, says = guardMessages[id] } = first;
    const concerns = group.map(({ address: of, messages: about }) => ({ address: of, messages: about }));
    const counted = concerns.length;
    const message = `${counted} ${address.kind} in ${quoted(address.target)} ${says}`;
    const { kind, target } = address;
    const about = { id, kind, target, counted, message, concerns: sortConcerns(concerns) };
    return [always ? { ...about, always } : about];
  });
}

function identityFindings(context: PlanContext, drafts: readonly Draft[]): Finding[] {
  const hits = drafts.flatMap((draft) =>
    identityGuards(context, draft).map((hit) => ({ ...hit, address: draft.change.address })),
  );
  const reported = new Set(
    hits.filter(({ id }) => id === 'takeover').map(({ address }) => formatAddress(address)),
  );
  const unreported = takenOverAddresses(context).filter((address) => !reported.has(formatAddress(address)));
  return gather([
    ...hits,
    ...unreported.map((address) => ({
      ...{ id: 'takeover' as const, address, messages: [] },
      ...(context.moves.from.has(formatAddress(address)) ? { always: true as const } : {}),
    })),
  ]);
}

/** A forced deletion that overrides nothing trips no guard: it equals a safe one. */
function forcedFindings(drafts: readonly Draft[]): CountedGuard[] {
  const hits = drafts.flatMap(({ change: { address }, overridden = [] }) => {
    const messages = overridden.map((one) => one.message);
    return messages.length === 0 ? [] : [{ id: 'forced-delete' as const, address, messages }];
  });
  return gather(hits);
}

function renameFindings(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): CountedGuard[] {
  const hits = findRenames(context, drafts).map((rename) => ({
    id: 'rename' as const,
    address: rename.made.change.address,
    messages: [renameWords(context, rename)],
  }));
  return gather(hits);
}

/** Only resources with an ownership tag can be renamed in place. */
function renameWords(
  context: PlanContext,
  { gone: { address: former }, becomes, made }: LikelyRename,
): string {
  const looks = `looks like ${quoted(former.name)}, which this plan ${verbs[becomes]}`;
  return context.kind(made.change.address.kind).ownership.by === 'claim'
    ? `${looks}: to rename it in place, put ${quoted(`renamedFrom: ${former.name}`)} into its metadata`
    : `${looks}: this kind has no rename, so one is created and the other deleted`;
}

const verbs = { deleted: 'deletes', released: 'releases', kept: 'keeps' } as const;

function riskFindings(drafts: readonly Draft[]): CountedGuard[] {
  return gather(drafts.flatMap(({ change: { address, risks = [] } }) => hitsOf(address, risks)));
}

/** Narrower access trips no guard; one change may trip several, each with its own messages. */
function hitsOf(address: Address, risks: readonly Risk[]): GuardHit[] {
  const byGuard = Map.groupBy(
    risks.filter(({ effect }) => effect !== 'narrows'),
    ({ effect, guard }) => (effect === 'destroys' ? 'scheduled-destroy' : (guard ?? 'widening')),
  );
  return [...byGuard].map(([id, some]) => ({ id, address, messages: some.map(({ message }) => message) }));
}

/** The draft with the risks that its kind finds by comparing the complete spec before and after. */
export function withRisks(context: PlanContext, draft: Draft): Draft {
  const { action } = draft.change;
  const found = action === 'none' || action === 'release' ? [] : (draft.risks ?? []);
  const risks = [...risksOf(context, draft), ...found];
  return risks.length === 0 ? draft : { ...draft, change: { ...draft.change, risks } };
}

/** The complete content of the resource once the draft is carried out. */
export function contentOf(context: PlanContext, { change: { address, fields }, live }: Draft): Spec {
  return contentAfter(context.kind(address.kind).fields, live?.spec, fields);
}

/** What widens access if the second content is declared in place of the first. */
export function wideningBetween(
  { risk }: Pick<Kind, 'risk'>,
  [before, after]: readonly [Spec, Spec],
  dialect: Dialect,
): Risk[] {
  return (risk?.(before, after, dialect) ?? []).filter(({ effect }) => effect === 'widens');
}

/** Empty for a draft that does not change the resource itself. */
function risksOf(context: PlanContext, draft: Draft): readonly Risk[] {
  const { change, live } = draft;
  const { address, action, fields } = change;
  const { risk, fields: table, ownership } = context.kind(address.kind);
  if (risk === undefined || action === 'release' || action === 'none') return [];
  const isRemoved = action === 'delete' && ownership.by !== 'child';
  const before =
    live === undefined || action === 'create'
      ? undefined
      : withoutUnknown(contentAfter(table, live.spec, fields.map(reversed)), fields);
  const after = isRemoved ? undefined : contentOf(context, draft);
  return risk(before, after, context.target(address.target).dialect);
}

/**
 * The reversed change. It restores the values before as the plan shows them, because the live spec may have them under other
 * field names.
 */
function reversed({ path, before, shape }: FieldChange): FieldChange {
  return { path, shape, ...(before === undefined ? {} : { after: before }) };
}

function withoutUnknown(content: Spec, changes: readonly FieldChange[]): Spec {
  const unknown = new Set(changes.flatMap((change) => (change.unknown === undefined ? [] : change.path[0])));
  return Object.fromEntries(Object.entries(content).filter(([name]) => !unknown.has(name)));
}

// The guards about the source of the manifests: another commit than the last apply, and files that are missing from the work
// tree. They apply to the plan as a whole; a plan without changes reverts nothing. Pure.

/** @param drafts those with something to do */
function checkoutGuards(context: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  if (drafts.length === 0) return [];
  const ofCommits = context.commitOrders.flatMap((order) => {
    if (order.is === 'unknown') return [unknownCommit(order, context, drafts)];
    if (order.is === 'uncommitted') return uncommitted(order, context, drafts);
    return otherCommit(order, drafts.length);
  });
  return [...mergeById(ofCommits), ...missingFile(context, drafts)];
}

/** One guard for each id: several earlier commits may trip the same. It blocks if one of them does. */
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
  { applied, why, nowhere, set }: Extract<CommitOrder, { is: 'unknown' }>,
  context: PlanContext,
  drafts: readonly Draft[],
): CountedGuard {
  const message = `it is unknown whether commit ${shortCommit(applied)}, which was applied last, is later than these manifests: ${why}`;
  const concerns =
    nowhere === true ? drafts.flatMap((draft) => revertedBy(draft, set ?? recorded(draft, context))) : [];
  if (concerns.length === 0) return { id: 'commit-unknown', counted: drafts.length, message, concerns };
  return {
    id: 'commit-unknown',
    effect: 'blocks',
    counted: concerns.length,
    message: `${message}. This plan changes what was applied from it; push that commit and merge it, or check that the changes are wanted`,
    concerns: sortConcerns(concerns),
  };
}

/** Blocks if the plan changes what was applied. While somebody is editing, changed fields only warn: every edit changes them again. */
function uncommitted(
  { applied, isEdited, set }: Extract<CommitOrder, { is: 'uncommitted' }>,
  context: PlanContext,
  drafts: readonly Draft[],
): CountedGuard[] {
  const reverted = drafts.map((draft) => ({
    draft,
    concerns: revertedBy(draft, set ?? recorded(draft, context)),
  }));
  const concerns = reverted.flatMap((found) => found.concerns);
  if (concerns.length === 0) return [];
  const guard = {
    id: 'commit-unknown',
    counted: concerns.length,
    message: `with or after commit ${shortCommit(applied)}, changes were applied for which the ledger has no commit, and this plan changes what was applied from them; commit those changes and plan again, or check that this is wanted`,
    concerns: sortConcerns(concerns),
  } as const;
  const removes = reverted.some((found) => found.concerns.length > 0 && isTaken(found.draft));
  return [isEdited && !removes ? guard : { ...guard, effect: 'blocks' }];
}

type FieldsOf = ReadonlyMap<string, readonly Path[]>;

/** Without a history, whatever the ledger has recorded may come from the last apply. */
function recorded({ change: { address } }: Draft, context: PlanContext): FieldsOf {
  const record = context.record(address);
  if (record === undefined) return new Map();
  return new Map([[formatAddress(address), Object.keys(record.fields).map((field) => [field])]]);
}

/** What a change reverts of the fields that were set: single fields, or all of them with the resource. */
function revertedBy({ change: { address, action, fields } }: Draft, set: FieldsOf): Concern[] {
  const paths = set.get(formatAddress(address));
  if (paths === undefined) return [];
  if (action !== 'update') return [{ address, messages: [] }];
  const changed = fields.filter(({ path }) => paths.some((other) => overlap(path, other)));
  return changed.length === 0
    ? []
    : [{ address, messages: [...new Set(changed.map(({ path }) => path.join('.')))] }];
}

/** Whether one path is the same as the other, or inside of it. */
function overlap(one: Path, other: Path): boolean {
  return one.slice(0, other.length).every((step, index) => step === other[index]);
}

/**
 * A document that is missing from the work tree looks like a deleted one. It was certainly deleted only if the index, or a commit,
 * says so. A removal by a removal request does not come from a missing file.
 */
function missingFile({ missingFiles }: PlanContext, drafts: readonly Draft[]): CountedGuard[] {
  const removals = drafts.filter((draft) => isTaken(draft) && draft.remove === undefined);
  if (missingFiles === undefined || removals.length === 0) return [];
  const { deleted, unknown } = missingFiles;
  if (deleted.length === 0 && unknown === undefined) return [];
  const message =
    deleted.length > 0
      ? `${quoteSome(deleted)} ${deleted.length === 1 ? 'is' : 'are'} missing from the work tree, and deleted neither in the index nor by a commit: check that the resources declared there should be removed`
      : `it is unknown whether tracked manifests are missing from the work tree: ${unknown ?? ''}`;
  const concerns = removals.map(({ change: { address } }) => ({ address, messages: [] }));
  return [{ id: 'missing-file', counted: removals.length, message, concerns: sortConcerns(concerns) }];
}
