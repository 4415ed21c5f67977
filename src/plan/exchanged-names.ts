/**
 * Names that refer to other resources than before, because names were changed in the service: the messages of the guard about them, and
 * their members in the digest.
 */
import { idKey } from '../compare/match-ids.ts';
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { canonicalText } from '../model/json.ts';
import type { ChangedName } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import type { Draft } from './draft-declared.ts';
import { type ChangedReference, changedReferences } from './names.ts';
import type { PlanContext } from './plan-context.ts';

/** A resource whose plan depends on a name that another resource has now. */
export interface ExchangedName {
  readonly address: Address;
  /** the address that the ledger has for the resource with the name; undefined if it has no record of it any more */
  readonly recordedAs: AddressText | undefined;
  /** the plan only removes the resource itself, and the ledger has no other one under its name */
  readonly isRemoved: boolean;
  /** about both resources, with their ids */
  readonly messages: readonly string[];
  readonly name: ChangedName;
}

/** What trips the guard `reference-changed`. */
export interface FoundNames {
  /** names in fields of manifests that have other ids than before */
  readonly references: readonly ChangedReference[];
  /** resources that have the names of other resources */
  readonly exchanged: readonly ExchangedName[];
}

/** The names that changed; in a plan of a part, only those of its resources. */
export function findChangedNames(context: PlanContext, drafts: ReadonlyMap<AddressText, Draft>): FoundNames {
  return {
    references: changedReferences(context).filter(
      ({ address }) => context.part === undefined || drafts.has(formatAddress(address)),
    ),
    exchanged: exchangedNames(context, drafts),
  };
}

/** The changed names for the digest: sorted, each once. */
export function changedNamesOf({ references, exchanged }: FoundNames): readonly ChangedName[] {
  const all = [...references.flatMap(({ names }) => names), ...exchanged.map(({ name }) => name)];
  const byText = new Map(
    all.map((one) => [canonicalText([formatAddress(one.address), { ...one, address: '' }]), one] as const),
  );
  return [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name);
}

/** The id that a changed name of an earlier plan resolves to now; undefined if nothing has it any more. */
export function idNow({ desired, live }: PlanContext, name: ChangedName): string | undefined {
  const { address, field, resource } = name;
  if (field !== undefined) return desired.get(formatAddress(address))?.names?.[field]?.id;
  return resource && live.get(resource)?.id;
}

/**
 * Resources of this stack that got the name of another one. They count even if nothing is sent, because an apply would record the other
 * id. A resource outside of the plan, such as a workspace in a selected list of consumers, counts for the resource that refers to it.
 */
function exchangedNames(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
): readonly ExchangedName[] {
  const found = [...drafts.values()].flatMap(({ change: { address, action }, live, recording }) => {
    const { ownership, references } = context.kind(address.kind);
    const owner = ownership.by === 'child' ? ownership.of(address) : address;
    const used = action === 'none' || recording === undefined ? [] : (references?.(recording.resource) ?? []);
    // A child has the name of its parent. A resource in the plan has its own entry.
    const others = [...(owner === address ? [] : [owner]), ...used.map(({ to }) => to)].filter(
      (to) => !drafts.has(formatAddress(to)),
    );
    const named = new Map(
      [...(owner === address ? [address] : []), ...others].map((one) => [formatAddress(one), one]),
    );
    return [...named.values()].flatMap((resource) => {
      const id = resource === address ? live?.id : context.live.get(formatAddress(resource))?.id;
      const known = id === undefined ? undefined : exchangedWith(context, resource, id);
      return id === undefined || known === undefined ? [] : [{ address, action, resource, id, ...known }];
    });
  });
  if (found.length === 0) return [];
  const nameNow = new Map(
    [...context.live.values()].map(({ address, id = '', spec }) => [
      idKey(address, id),
      String(spec['name'] ?? address.name),
    ]),
  );
  return found.map((one) => {
    const isOwn = one.resource === one.address;
    const removed = isOwn ? removals[one.action] : undefined;
    const now = one.former === undefined ? undefined : nameNow.get(idKey(one.resource, one.former));
    const { address, id, recordedAs, former } = one;
    const resource = formatAddress(one.resource);
    const recorded = former === undefined ? [] : [former];
    return {
      address,
      recordedAs,
      isRemoved: isRemovedOnly(former, removed),
      messages: [exchangedText({ ...one, isOwn, removed }, now)],
      name: { address, resource, id, recorded, ...(recordedAs === undefined ? {} : { recordedAs }) },
    };
  });
}

interface Exchanged {
  readonly resource: Address;
  readonly id: string;
  readonly recordedAs: AddressText | undefined;
  /** the id that the ledger has under the name */
  readonly former: string | undefined;
  /** the name is that of the planned resource itself, not of one that it refers to */
  readonly isOwn: boolean;
  /** what the plan does with the resource itself, if it removes it */
  readonly removed: 'deletes' | 'releases' | undefined;
}

const removals: Partial<Record<Change['action'], 'deletes' | 'releases'>> = {
  delete: 'deletes',
  release: 'releases',
};

/** Whether the plan only removes a resource under another name, which was never that of another one. */
function isRemovedOnly(former: Exchanged['former'], removed: Exchanged['removed']): boolean {
  return removed !== undefined && former === undefined;
}

/** @param now the name that the former holder of the name has now */
function exchangedText(
  { resource, id, recordedAs, former, isOwn, removed }: Exchanged,
  now: string | undefined,
): string {
  const subject = isOwn ? '' : `${quoted(formatAddress(resource))} is another resource now: `;
  const under = isOwn ? 'under this name' : 'under that name';
  const whereabouts = now === undefined ? 'was not found' : `is called ${quoted(now)} now`;
  const other = former === undefined ? '' : `, and has ${quoted(former)} ${under}, which ${whereabouts}`;
  const known =
    recordedAs === undefined ? `no record of ${quoted(id)}` : `${quoted(id)} as ${quoted(recordedAs)}`;
  const removal = removed === undefined ? '' : `; this plan ${removed} ${quoted(id)}`;
  const fix = isRemovedOnly(former, removed)
    ? `to keep it, declare it as ${quoted(resource.name)}`
    : 'give them their names back in the service, or apply what is declared to the resources as they are called now';
  return `${subject}the ledger has ${known}${other}${removal}: ${fix}`;
}

/** The recorded address of a live resource and the recorded id of its name, if these show that its name was exchanged. */
function exchangedWith(
  context: PlanContext,
  address: Address,
  id: string,
): Pick<Exchanged, 'recordedAs' | 'former'> | undefined {
  const recordedAs = context.recordedAt(address);
  if (recordedAs !== undefined && namesOf(context, address).includes(recordedAs)) return undefined;
  const former = idUnderName(context, address);
  if (recordedAs === undefined)
    return former !== undefined && isHalfRecorded(context, address, { id, former })
      ? { recordedAs, former }
      : undefined;
  const { desired, removalRequests, movesAway } = context;
  // A resource outside of a selection may still be declared.
  const mayBeDeclared =
    context.isSelection ||
    [desired, removalRequests, movesAway].some((documents) => documents.has(recordedAs));
  return mayBeDeclared || (former !== undefined && former !== id) ? { recordedAs, former } : undefined;
}

/**
 * Whether a resource of this stack lost its record when only a part of an exchange was applied: the ledger still has the former
 * holder of the name, which is live elsewhere. A resource that an unfinished apply created does not count: it has no record yet.
 */
function isHalfRecorded(
  context: PlanContext,
  address: Address,
  { id, former }: { readonly id: string; readonly former: string },
): boolean {
  const live = context.live.get(formatAddress(address));
  return (
    former !== id &&
    context.liveWithId(address, former) !== undefined &&
    live !== undefined &&
    context.hasOurTag(live.evidence) &&
    !context.hasBegunToCreate(address)
  );
}

/**
 * The address of a resource, and the former one that its document renames it from, unless that is done: another resource may have the
 * former name by then. In a selection it is also done if the ledger has different ids under both names.
 */
function namesOf({ desired, ledger, liveWithId, isSelection }: PlanContext, address: Address): AddressText[] {
  const text = formatAddress(address);
  const { renamedFrom } = desired.get(text)?.metadata ?? {};
  if (renamedFrom === undefined) return [text];
  const former = formatAddress({ ...address, name: renamedFrom });
  const [own, other] = [text, former].map((one) => ledger.records.get(one)?.id);
  const isGone = own === undefined || liveWithId(address, own) === undefined;
  const isAnother = isSelection && own !== undefined && other !== undefined && own !== other;
  return isGone && !isAnother ? [text, former] : [text];
}

/** The id that the ledger has under the name of a resource, or under its former name. */
export function idUnderName(context: PlanContext, address: Address): string | undefined {
  return namesOf(context, address)
    .map((text) => context.ledger.records.get(text)?.id)
    .find((id) => id !== undefined);
}
