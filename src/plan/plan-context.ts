/**
 * Everything that a plan is made from, by address: desired and live resources, and the ledger. Pure lookups.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import type { CommitOrder, MissingFiles } from '../model/checkout.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Inheritable } from '../model/kind-specs.ts';
import type { BegunResource, FieldChange } from '../model/field.ts';
import type { Kind, LiveSet, RefusedValue, Registry } from '../model/kind.ts';
import type { Ledger, LedgerRecord, MovedAway } from '../model/ledger.ts';
import type { NameLists } from '../model/named-reference.ts';
import type { ChosenPart } from '../model/part.ts';
import { quoted } from '../model/quoted.ts';
import {
  type DesiredResource,
  isDeclaration,
  type LiveResource,
  type OwnershipEvidence,
  type OwnershipTag,
} from '../model/resource.ts';
import type { Dialect, Stack, Target } from '../model/stack.ts';
import type { SourcesIn } from '../redaction/known-secrets.ts';
import {
  byAddress,
  findBegun,
  findById,
  isLedgerOwned,
  matchLive,
  matchRecords,
  matchUnread,
  recordsAbout,
  unmatchedRecords,
} from './match-live.ts';
import type { LoosenedSetting } from '../model/guard.ts';
import { movedCode } from './moved-targets.ts';
import { type FormerStack, ownershipTagsOf, type StackIds, withRecordedOwner } from './our-tags.ts';
import type { StackMoves } from './stack-moves.ts';
import { withIds } from './names.ts';

/** One target: what was read of each kind, and with how many requests. */
interface LiveTarget {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** requests sent to read it */
  readonly requests: number;
  /** why the target could not be read; `sets` is empty then */
  readonly unread?: Diagnostic;
  /** the lists of the resources that manifests refer to by name */
  readonly names?: NameLists;
  /** the planned part has no resource of this target; `sets` is empty then */
  readonly skipped?: true;
  /** warnings about its address and its responses */
  readonly warnings?: readonly Diagnostic[];
}

export interface PlanContextInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly targets: readonly LiveTarget[];
  readonly ledger: Ledger;
  /** `desired` is only a selection of the stack: resources outside of it are left as they are */
  readonly isSelection?: boolean;
  /** the plan is of this part, but `desired` is the whole stack */
  readonly part?: ChosenPart | undefined;
  /** false when a manifest could not be read: then nothing undeclared is removed */
  readonly manifestsComplete: boolean;
  /** resources that an unfinished apply of this stack had begun to create, if their target still has the same address */
  readonly begunCreations?: ReadonlySet<AddressText>;
  /** those of them whose apply holds the lock of the stack, so that it may still be running */
  readonly runningCreations?: ReadonlySet<AddressText>;
  /** for a renamed stack */
  readonly former?: FormerStack;
  /** resources that this stack takes over from other stacks; their records are in `ledger` */
  readonly moves?: StackMoves | undefined;
  /** the ids of this stack in ownership tags; if absent, those in the ledger count */
  readonly stackIds?: StackIds;
  /** resources that an unfinished apply of this stack had begun to change in any way */
  readonly begunChanges?: ReadonlySet<AddressText>;
  readonly begunFields?: readonly BegunResource[];
  /** present if the ledger was written from another repository, or another stack file */
  readonly repositoryProblem?: Diagnostic | undefined;
  /** undefined when no commit is known that was applied before */
  readonly commitOrders?: readonly CommitOrder[] | undefined;
  /** the resources that this run has deleted, by their addresses in the target and in the ledger */
  readonly deleted?: ReadonlySet<AddressText> | undefined;
  /** settings that are looser than at an earlier commit; `stack` has the stricter ones */
  readonly loosened?: readonly LoosenedSetting[] | undefined;
  /** tracked files that the work tree lacks; absent when no files were listed */
  readonly missingFiles?: MissingFiles | undefined;
  /** milliseconds since 1970; absent where nothing may depend on the time */
  readonly now?: number | undefined;
  /** the plan was approved before: a change for which it is now too late stays in it, and becomes stale when it is applied */
  readonly isApproved?: boolean | undefined;
  /** given a text, the sources of the secrets of this run that it contains */
  readonly secretsIn?: SourcesIn | undefined;
}

export interface PlanContext {
  readonly stack: Stack;
  /** declared resources; removal requests and resources that move away are not among them */
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly removalRequests: ReadonlyMap<AddressText, DesiredResource>;
  /** documents of resources that other stacks take over */
  readonly movesAway: ReadonlyMap<AddressText, DesiredResource>;
  /** by declared resource: an error for each name whose id was not found. Its spec lacks that id, so it is not compared */
  readonly unknownNames: ReadonlyMap<AddressText, readonly Diagnostic[]>;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  /** The resource in `live` with this kind, target and id: a renamed one has the address that declares it. */
  liveWithId(named: Address, id: string): LiveResource | undefined;
  readonly ledger: Ledger;
  readonly commitOrders: readonly CommitOrder[];
  readonly loosened: readonly LoosenedSetting[];
  readonly missingFiles: MissingFiles | undefined;
  readonly now: number | undefined;
  readonly isApproved: boolean;
  readonly deleted: ReadonlySet<AddressText>;
  /** Given a text, the sources of the secrets of this run that it contains. */
  readonly secretsIn: SourcesIn;
  kind(name: string): Kind;
  kinds(): readonly Kind[];
  target(name: string): LiveTarget;
  /** The ledger's record of the resource at this address; never of an earlier one with another id. */
  record(address: Address): LedgerRecord | undefined;
  /** The address of that record in the ledger: after a rename it is still the former one. */
  recordedAt(address: Address): AddressText | undefined;
  /** A resource that this stack gave to another one, by its kind, target and id. */
  movedAwayWithId(owned: Address, id: string): MovedAway | undefined;
  /** The document of a resource that moves away, by its kind and target, and the id in its record. */
  movingWithId(owned: Address, id: string): DesiredResource | undefined;
  /**
   * Addresses of records that match no live resource: it is gone, or was renamed and recorded again. With a selection only
   * those of selected resources.
   */
  readonly unmatched: readonly AddressText[];
  /** The fields that an interrupted apply of this stack had begun to write, the oldest first. */
  begunFields(address: Address): readonly FieldChange[];
  /** Whether an interrupted apply of this stack had begun to create it. */
  hasBegunToCreate(address: Address): boolean;
  /** The same of an apply that holds the lock of the stack, so that it may still be running. */
  isBeingCreated(address: Address): boolean;
  /** Whether an interrupted apply of this stack had begun to change it in any way. */
  hasBegunToChange(address: Address): boolean;
  /** the ownership tag of this stack without flags and id */
  readonly plainTag: OwnershipTag;
  /** the id that this stack writes into its ownership tags; undefined until the first apply has made one */
  readonly stackId: string | undefined;
  /** undefined for a stack that was never renamed */
  readonly former: FormerStack | undefined;
  readonly moves: StackMoves;
  /** Whether the name in an ownership tag or creator mark is this stack's current or former name. */
  isOurs(stack: string | undefined): boolean;
  /** Whether an ownership tag is this stack's: by its name and its id. A tag without an id is from before stacks had one. */
  isOurTag(ownershipTag: OwnershipTag): boolean;
  /** Whether a resource has an ownership tag of this stack that is not inherited. */
  hasOurTag(evidence: OwnershipEvidence): boolean;
  /** Whether only the ledger records the ownership of this kind and target, because the target keeps no ownership tags. */
  isLedgerOwned(address: Address): boolean;
  /** A resource as it was read again, with the tag from its record if the target keeps none. */
  withRecordedTag(live: LiveResource): LiveResource;
  /** whether some target has another identity than the ledger's records of it */
  readonly hasMovedTarget: boolean;
  /** Whether the plan has the target and the kind of this address. */
  isInView(address: Address): boolean;
  /** Why the read of this kind and target is incomplete: a resource may exist although it was not found. Undefined when all were read. */
  incompleteReason(address: Address): string | undefined;
  /** The same for this one address: without reasons that concern only other resources. */
  ownIncompleteReason(address: Address): string | undefined;
  /**
   * Why this resource could not be read: it may exist or not, so the plan leaves it out. Undefined for a
   * resource that was read, found or not.
   */
  unreadReason(address: Address): string | undefined;
  /** Why the target does not support resources like this at all. */
  unsupported(address: Address): LiveSet['unsupported'];
  /** Top-level fields that the service returns for no resource of this kind. */
  lacking(address: Address): readonly string[];
  /** What a declared resource inherits from a parent after the plan; undefined if the plan does not change it. */
  inheritable(address: Address): Inheritable | undefined;
  /** Declared values that the service refuses if they are sent. */
  refusedValues(address: Address): readonly RefusedValue[];
  /** Sentences about settings that a resource will not have after its creation. */
  predictedNotes(address: Address): readonly string[];
  /** whether everything was read: if not, nothing undeclared is removed in any target (architecture: promises) */
  readonly isComplete: boolean;
  /** whether `desired` is only a selection of the stack: then undeclared resources are not removed */
  readonly isSelection: boolean;
  /** undefined for a plan of all that is in `desired` */
  readonly part: ChosenPart | undefined;
}

/** @throws on a kind or target that validation should have refused: a bug */
export function makePlanContext(input: PlanContextInput): PlanContext {
  const { stack, ledger } = input;
  const { placed, ...documents } = documentsOf(input);
  const { desired } = documents;
  const targets = new Map(input.targets.map((found) => [found.target.name, found] as const));
  const kind = (name: string) => required(input.kinds.get(name), `kind ${name}`);
  const target = (name: string) => required(targets.get(name), `target ${name}`);
  const setOf = (address: Address) => target(address.target).sets.get(address.kind);
  const matched = matchLive(allLive(input), { desired: placed, ledger, kind });
  const recordOf = matchRecords(ledger, matched);
  const recordedAt = (address: Address) => recordOf(formatAddress(address));
  const ledgerOwned = (address: Address) => isLedgerOwned(kind(address.kind), target(address.target).target);
  const former = input.former ?? withoutLedger(stack);
  const { isOurs, withoutOwnId, ...tags } = ownershipTagsOf(input, former);
  const moves = input.moves ?? noMoves;
  const movedAwayWithId = findById(ledger.movedAway ?? [], ([, { id }]) => id);
  const movingWithId = findById(documents.movesAway, ([text]) => ledger.records.get(text)?.id);
  const owners = { ledger, stack: stack.name, former, moves, isOurTag: tags.isOurTag, movedAwayWithId };
  const withRecordedTag = (read: LiveResource) => {
    const { ownership } = kind(read.address.kind);
    const address = ownership.by === 'child' ? ownership.of(read.address) : read.address;
    const at = recordedAt(address) ?? formatAddress(address);
    const owned = { address, at, isLedgerOwned: () => ledgerOwned(address) };
    return withRecordedOwner(withoutOwnId(read), owned, owners);
  };
  const live = new Map([...matched].map(([text, resource]) => [text, withRecordedTag(resource)] as const));
  const begunFields = findBegun(input.begunFields ?? [], live, recordedAt);
  const unseen = matchUnread(allUnseen(input), allLive(input), { desired: placed, live, kind });
  const { isSelection = false } = input;
  const unmatched = unmatchedRecords(ledger, live);
  const selected = [...desired.keys()].flatMap((text) => live.get(text) ?? []);
  return {
    stack,
    ...documents,
    moves,
    live,
    liveWithId: findById(live, ([, { id }]) => id),
    ledger,
    ...passedOn(input),
    kind,
    kinds: () => [...input.kinds.values()],
    target,
    record: recordIn({ ledger, live, kind, recordedAt }),
    recordedAt,
    movedAwayWithId,
    movingWithId,
    former,
    unmatched: isSelection ? recordsAbout(selected, unmatched, ledger) : unmatched,
    isOurs,
    ...tags,
    isLedgerOwned: ledgerOwned,
    withRecordedTag,
    begunFields,
    hasBegunToCreate: (address) => input.begunCreations?.has(formatAddress(address)) ?? false,
    isBeingCreated: (address) => input.runningCreations?.has(formatAddress(address)) ?? false,
    hasMovedTarget: input.targets.some(({ unread }) => unread?.code === movedCode),
    isInView: (address) => input.kinds.has(address.kind) && targets.has(address.target),
    incompleteReason: (address) => incompleteReasons(input, target(address.target), address)[0],
    ownIncompleteReason: (address) => {
      const found = target(address.target);
      const ofOthers = new Set(found.sets.get(address.kind)?.unseen?.values());
      return incompleteReasons(input, found, address).find((why) => !ofOthers.has(why));
    },
    unreadReason: (address) => whyUnread(target(address.target)) ?? unseen.get(formatAddress(address)),
    unsupported: (address) => setOf(address)?.unsupported,
    lacking: (address) => setOf(address)?.lacking ?? [],
    inheritable: (address) => setOf(address)?.inheritable?.get(formatAddress(address)),
    refusedValues: (address) => setOf(address)?.refusedValues?.get(formatAddress(address)) ?? [],
    predictedNotes: (address) => setOf(address)?.predictedNotes?.get(formatAddress(address)) ?? [],
    isComplete: isComplete(input),
    isSelection,
    part: input.part,
  };
}

type RecordSource = Pick<PlanContext, 'ledger' | 'live' | 'kind' | 'recordedAt'>;

/** Finds the record of a resource. */
function recordIn({ ledger, live, kind, recordedAt }: RecordSource): PlanContext['record'] {
  return (address) => {
    const known = recordedAt(address);
    const record = known === undefined ? undefined : ledger.records.get(known);
    if (record === undefined) return undefined;
    if (live.has(formatAddress(address))) return record;
    const { ownership } = kind(address.kind);
    // The record of a child of a deleted parent proves nothing about the child of a later parent with the same name.
    return record.id !== undefined && ownership.by === 'child' ? undefined : record;
  };
}

function isComplete(input: PlanContextInput): boolean {
  return (
    input.manifestsComplete &&
    input.targets.every(({ unread }) => unread === undefined) &&
    allSets(input).every(({ incomplete }) => incomplete.length === 0)
  );
}

/** The documents of the stack by what they ask for. */
function documentsOf(input: PlanContextInput) {
  const { desired } = input;
  const { declared, unknownNames } = withIds(input, desired.filter(isDeclaration));
  const moving = desired.filter(({ metadata }) => metadata.movedTo !== undefined);
  return {
    desired: byAddress(declared),
    removalRequests: byAddress(desired.filter(({ metadata }) => metadata.remove !== undefined)),
    movesAway: byAddress(moving),
    placed: byAddress([...declared, ...moving]),
    unknownNames,
  };
}

const noMoves: StackMoves = { from: new Map(), ledgers: new Map(), withoutRecord: new Set(), problems: [] };

/** The members of the context that are taken from the input as they are. */
function passedOn(input: PlanContextInput) {
  const { commitOrders = [], loosened = [], missingFiles, now, isApproved = false, deleted } = input;
  const { secretsIn = () => [] } = input;
  return { commitOrders, loosened, missingFiles, now, isApproved, deleted: deleted ?? new Set(), secretsIn };
}

function incompleteReasons(
  { manifestsComplete }: PlanContextInput,
  found: LiveTarget,
  { kind }: Address,
): readonly string[] {
  if (!manifestsComplete) return ['not every manifest could be read'];
  const unread = whyUnread(found);
  return unread === undefined ? (found.sets.get(kind)?.incomplete ?? []) : [unread];
}

function whyUnread({ target, unread, skipped }: LiveTarget): string | undefined {
  return unread?.message ?? (skipped && `nothing of target ${quoted(target.name)} is selected`);
}

function withoutLedger({ renamedFrom }: Stack): FormerStack | undefined {
  if (renamedFrom === undefined) return undefined;
  return { name: renamedFrom, hasLedger: false, records: new Set() };
}

function allSets({ targets }: PlanContextInput): LiveSet[] {
  return targets.flatMap(({ sets }) => [...sets.values()]);
}

function allUnseen(input: PlanContextInput): ReadonlyMap<AddressText, string> {
  return new Map(allSets(input).flatMap(({ unseen = [] }) => [...unseen]));
}

function allLive(input: PlanContextInput): LiveResource[] {
  return allSets(input).flatMap(({ resources }) => resources);
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`no ${what} in this plan`);
  return value;
}
