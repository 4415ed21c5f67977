/**
 * Finds the guards that a plan trips, from its drafts, their risks, the checkout and the guard settings of the stack.
 * Guards never change the plan itself. Pure.
 */
import { contentAfter } from '../compare/comparisons.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { FieldChange } from '../model/field.ts';
import {
  type Concern,
  type Guard,
  guardDefaults,
  guardIds,
  type Risk,
  sortConcerns,
} from '../model/guard.ts';
import type { Kind } from '../model/kind.ts';
import { quoted } from '../model/quoted.ts';
import type { Spec } from '../model/resource.ts';
import type { Dialect, Guards } from '../model/stack.ts';
import { checkoutGuards } from './checkout-guards.ts';
import { type CountedGuard, countGuards, type CountInput, countOwnership } from './count-guards.ts';
import type { Draft } from './draft-declared.ts';
import { findRenames, type LikelyRename } from './find-renames.ts';
import type { FoundNames } from './exchanged-names.ts';
import {
  exchangedMessage,
  guardMessages,
  identityGuards,
  removedElsewhereMessage,
  type UncountedGuard,
} from './identity-guards.ts';
import { loosenedGuards } from './loosened.ts';
import type { PlanContext } from './plan-context.ts';
import { takenOverAddresses } from './take-over-stack.ts';

/**
 * All guards that fire: blocking ones first, then by id, kind and target.
 * @param drafts of the plan
 * @param about.all the drafts of the whole stack, which show what it owns
 * @param about.names names that refer to other resources than before
 */
export function findGuards(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  { names, ...about }: Omit<CountInput, 'drafts'> & { readonly names: FoundNames },
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
    ...referenceFindings(names),
    ...exchangedFindings(names),
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

/** `always`: it blocks even if the stack allows the guard. */
type Finding = CountedGuard & { readonly always?: true };

/** One resource that trips a guard, before hits of the same kind and target are grouped. */
interface GuardHit extends Concern {
  readonly id: UncountedGuard;
  readonly always?: true;
  /** in place of the message of the guard */
  readonly says?: string;
}

function groupHits(hits: readonly GuardHit[]): Finding[] {
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
  return groupHits([
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
  return groupHits(hits);
}

function referenceFindings({ references }: FoundNames): readonly CountedGuard[] {
  return groupHits(references.map((one) => ({ ...one, id: 'reference-changed' as const })));
}

/** Exchanged names always block: no setting of a stack can allow in general that a name refers to another resource. */
function exchangedFindings({ exchanged }: FoundNames): Finding[] {
  const about = { id: 'reference-changed', always: true } as const;
  const byAddress = Map.groupBy(exchanged, ({ address }) => formatAddress(address));
  const hits = [...byAddress.values()].flatMap(([first, ...more]) =>
    first === undefined
      ? []
      : [
          {
            ...{ ...about, address: first.address },
            says: first.isRemoved ? removedElsewhereMessage : exchangedMessage,
            messages: [first, ...more].flatMap(({ messages }) => messages),
          },
        ],
  );
  return groupHits(hits);
}

function renameFindings(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): CountedGuard[] {
  const hits = findRenames(context, drafts).map((rename) => ({
    id: 'rename' as const,
    address: rename.made.change.address,
    messages: [renameWords(context, rename)],
  }));
  return groupHits(hits);
}

/** Only resources with an ownership tag can be renamed in place. */
function renameWords(
  context: PlanContext,
  { gone: { address: former }, becomes, made }: LikelyRename,
): string {
  const looks = `looks like ${quoted(former.name)}, which this plan ${verbs[becomes]}`;
  const line = quoted(`renamedFrom: ${former.name}`);
  const fromList = made.change.place?.list === undefined ? '' : ', from a column of its list';
  return context.kind(made.change.address.kind).ownership.by === 'claim'
    ? `${looks}: to rename it in place, put ${line} into its metadata${fromList}`
    : `${looks}: this kind has no rename, so one is created and the other deleted`;
}

const verbs = { deleted: 'deletes', released: 'releases', kept: 'keeps' } as const;

function riskFindings(drafts: readonly Draft[]): CountedGuard[] {
  return groupHits(drafts.flatMap(({ change: { address, risks = [] } }) => hitsOf(address, risks)));
}

/** Narrower access trips no guard; one change may trip several, each with its own messages. */
function hitsOf(address: Address, risks: readonly Risk[]): GuardHit[] {
  const byGuard = Map.groupBy(
    risks.filter(({ effect }) => effect === 'widens' || effect === 'destroys'),
    ({ effect, guard }) => (effect === 'destroys' ? 'scheduled-destroy' : (guard ?? 'widening')),
  );
  return [...byGuard].map(([id, some]) => ({ id, address, messages: some.map(({ message }) => message) }));
}

/** The draft with all its risks: those that its kind finds in the complete spec before and after, and those of its comparison. */
export function withRisks(context: PlanContext, draft: Draft): Draft {
  const { action } = draft.change;
  const compared = action === 'none' || action === 'release' ? [] : (draft.risks ?? []);
  const risks = [...risksOf(context, draft), ...compared];
  return risks.length === 0 ? draft : { ...draft, change: { ...draft.change, risks } };
}

/** The complete content of the resource once the draft is carried out. */
export function contentOf(context: PlanContext, { change: { address, fields }, live }: Draft): Spec {
  return contentAfter(context.kind(address.kind).fields, live?.spec, fields);
}

/** The risks that widen access if the second content is declared in place of the first. */
export function wideningBetween(
  { risk }: Pick<Kind, 'risk'>,
  [before, after]: readonly [Spec, Spec],
  dialect: Dialect,
): Risk[] {
  return (risk?.(before, after, dialect) ?? []).filter(({ effect }) => effect === 'widens');
}

/** The risks that the kind finds; none for a draft that does not change the resource itself. */
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
