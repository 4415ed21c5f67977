/**
 * Restricts a plan to a part of the stack: to the selected resources, and what they need. Everything is drafted first, as for the
 * whole stack, so that a change of a part is the same as in the plan of the whole.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Ledger } from '../model/ledger.ts';
import type { ChosenPart, NeededResource, PlanPart } from '../model/part.ts';
import type { Plan } from '../model/plan.ts';
import { quoted, quoteSome } from '../model/quoted.ts';
import type { DesiredResource } from '../model/resource.ts';
import { digestVersion, readDigestItems } from './digest.ts';
import type { Draft } from './draft-declared.ts';
import { namedResources } from './names.ts';
import { recordsAbout } from './match-live.ts';
import type { PlanContext, PlanContextInput } from './plan-context.ts';
import type { Removal } from './removal.ts';

/** What the planner found about each resource. */
interface Drafts {
  readonly drafts: ReadonlyMap<AddressText, Draft>;
  /** of declared resources, by the resource that has them */
  readonly problemsOf: ReadonlyMap<AddressText, readonly Diagnostic[]>;
}

interface Restricted {
  readonly drafts: ReadonlyMap<AddressText, Draft>;
  readonly problems: readonly Diagnostic[];
  readonly along: readonly NeededResource[];
}

export function restrictToPart(context: PlanContext, all: Drafts): Restricted {
  const { part } = context;
  if (part === undefined)
    return { drafts: all.drafts, problems: [...all.problemsOf.values()].flat(), along: [] };
  const { neededBy, problems } = findNeeds(context, part, all);
  const drafts = new Map<AddressText, Draft>();
  for (const [text, draft] of all.drafts) {
    const needing = neededBy.get(text);
    if (part.selected.has(text)) drafts.set(text, draft);
    else if (needing !== undefined) drafts.set(text, withNote(draft, needing));
  }
  const ofPart = [...all.problemsOf].filter(([text]) => part.selected.has(text) || neededBy.has(text));
  const along = [...neededBy].map(([address, needing]) => ({ address, neededBy: needing.toSorted() }));
  return {
    drafts,
    problems: [...ofPart.flatMap(([, found]) => found), ...problems],
    along: along.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** Adds the note that the resource was not selected, and why it comes along. */
function withNote(draft: Draft, neededBy: readonly AddressText[]): Draft {
  const { change } = draft;
  const needing = `${quoteSome(neededBy.toSorted())} ${neededBy.length === 1 ? 'needs' : 'need'} it`;
  return {
    ...draft,
    change: { ...change, notes: [`not selected: it comes along, because ${needing}`, ...change.notes] },
  };
}

interface Needs {
  /** the resources that are not selected and come along */
  readonly neededBy: ReadonlyMap<AddressText, AddressText[]>;
  readonly problems: readonly Diagnostic[];
}

/** Follows the needs of selected resources that change, and of those that come along. */
function findNeeds(context: PlanContext, part: ChosenPart, all: Drafts): Needs {
  const neededBy = new Map<AddressText, AddressText[]>();
  const problems: Diagnostic[] = [];
  const open = [...part.selected];
  const add = (resource: DesiredResource, needed: AddressText) => {
    const text = formatAddress(resource.address);
    const known = neededBy.get(needed);
    if (known !== undefined) known.push(text);
    else if (part.excluded.has(needed)) problems.push(neededIsExcluded(resource, needed));
    else {
      neededBy.set(needed, [text]);
      open.push(needed);
    }
  };
  for (const text of open) {
    const resource = context.desired.get(text);
    if (resource === undefined) continue;
    for (const needed of needsOf(context, resource, all))
      if (!part.selected.has(needed)) add(resource, needed);
  }
  return { neededBy, problems };
}

/** Whether something has to be done for a resource, or cannot be done because of a problem. One that is as declared needs nothing. */
function isPending(context: PlanContext, { drafts }: Drafts, text: AddressText): boolean {
  const draft = drafts.get(text);
  return draft === undefined
    ? context.unreadReason(parseAddress(text)) === undefined
    : draft.change.action !== 'none';
}

/**
 * The resources that a resource needs: its parent, if the plan changes the parent; declared resources that it refers to and that do not
 * exist yet; and a container that it moves into, because it inherits values from it. What came along in an earlier apply is needed until
 * it is done, even if the resource that needed it is done by now.
 */
function needsOf(context: PlanContext, resource: DesiredResource, all: Drafts): AddressText[] {
  const { begun = new Set() } = context.part ?? {};
  const { ownership, references } = context.kind(resource.address.kind);
  const parent = ownership.by === 'child' ? formatAddress(ownership.of(resource.address)) : undefined;
  const named = (references?.(resource) ?? []).map(({ to }) => formatAddress(to));
  const isOpen = isPending(context, all, formatAddress(resource.address));
  const { fields = [] } = all.drafts.get(formatAddress(resource.address))?.change ?? {};
  const containers = namedResources(context, resource).map(({ to, id }) => ({
    text: formatAddress(to),
    isNew: fields.some(({ path }) => path[0] === id[0]),
  }));
  // Without the change of the values that it inherits, the plan of the part would differ from what its apply finds.
  const inheritedFrom = context.inheritable(resource.address)?.plannedBy;
  const isJoined = (text: AddressText) =>
    text === inheritedFrom || containers.some((container) => container.text === text && container.isNew);
  const isNeeded = (text: AddressText) =>
    begun.has(text) || (isOpen && (text === parent || isJoined(text) || !context.live.has(text)));
  const needed = [parent, inheritedFrom, ...named, ...containers.map(({ text }) => text)];
  return [...new Set(needed)].filter(
    (text): text is AddressText =>
      text !== undefined && context.desired.has(text) && isNeeded(text) && isPending(context, all, text),
  );
}

function neededIsExcluded({ address, place }: DesiredResource, needed: AddressText): Diagnostic {
  return {
    code: 'selection-needs-excluded',
    severity: 'error',
    class: 'invalid',
    message: `${quoted(formatAddress(address))} is selected and needs ${quoted(needed)}, which changes, too, and which the selection excludes`,
    place,
    fix: `exclude ${quoted(formatAddress(address))} as well, or do not exclude ${quoted(needed)}`,
  };
}

/**
 * Whether a plan of the part decides about an undeclared resource. It does so only for a resource with a removal request, and for the
 * record that a selected resource still has under a former name, because that record is dropped.
 */
export function decidesAbout(context: PlanContext): (text: AddressText, removal: Removal) => boolean {
  const { part } = context;
  if (part === undefined) return () => true;
  const live = [...part.selected].flatMap((text) => context.live.get(text) ?? []);
  const former = new Set(recordsAbout(live, context.unmatched, context.ledger));
  return (text, { is }) => part.selected.has(text) || (is === 'forget' && former.has(text));
}

/** Whether a plan of the whole stack would remove, release or forget the resource. */
export function isRemoval({ is }: Removal): boolean {
  return is !== 'notice' && is !== 'problem';
}

/** Whether a plan of the part is about a resource. */
export function isInPart(
  { part }: PlanContext,
  along: readonly NeededResource[],
): (address: Address) => boolean {
  if (part === undefined) return () => true;
  const needed = new Set(along.map(({ address }) => address));
  return (address) => {
    const text = formatAddress(address);
    return part.selected.has(text) || needed.has(text);
  };
}

/** The part for a plan after an apply: what came along stays in it, although it exists by now. */
export function withBegun(part: ChosenPart, { part: made }: Plan): ChosenPart {
  const along = made?.along.map(({ address }) => address) ?? [];
  return { ...part, begun: new Set([...(part.begun ?? []), ...along]) };
}

/** The part for an apply that continues with an approved plan: the resources of that plan stay in the part. */
export function withBegunOf(part: ChosenPart, { approved }: Ledger, digest: string | undefined): ChosenPart {
  if (approved === undefined || approved.digest !== digest || approved.version !== digestVersion) return part;
  const addresses = readDigestItems(approved.atoms).changes.map(({ address }) => formatAddress(address));
  return { ...part, begun: new Set([...(part.begun ?? []), ...addresses]) };
}

/** The declared resources, removal requests included, if they are only a selection of the stack. */
export function selectionOf({
  isSelection,
  part,
  desired,
}: Pick<PlanContextInput, 'isSelection' | 'part' | 'desired'>): Pick<Plan, 'selection'> {
  if (!isSelection && part === undefined) return {};
  const all = desired.map(({ address }) => formatAddress(address));
  return { selection: (part === undefined ? all : all.filter((text) => part.selected.has(text))).sort() };
}

/** @param found what came along, and what was left out */
export function partOf(
  { part, desired }: Pick<PlanContextInput, 'part' | 'desired'>,
  found: Pick<PlanPart, 'along' | 'leftOut'> = { along: [], leftOut: 0 },
): Pick<Plan, 'part'> {
  if (part === undefined) return {};
  const { along, leftOut } = found;
  return { part: { selectors: part.selectors, of: desired.length, along, leftOut } };
}
