/** Everything a plan is made from, by address: what is desired, what is live, what the ledger knows. Pure lookups. */
import { type Address, type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { CommitOrder } from '../../model/stack/commit-order.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Kind, LiveSet, Registry } from '../../model/kind/kind.ts';
import type { Ledger, LedgerRecord } from '../../model/stack/ledger.ts';
import { ownClaim } from '../../model/resource/claim.ts';
import type { DesiredResource, LiveResource, Witness } from '../../model/resource/resource.ts';
import type { Dialect, Stack, Target } from '../../model/stack/target.ts';
import { movedCode } from '../ledger/moved-targets.ts';
import { byAddress, matchLive, matchRecords, matchUnread, recordsAbout, spentRecords } from './match-live.ts';

/** One target as it was found: what was read of each kind, and at what cost. */
export interface LiveTarget {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly sets: ReadonlyMap<string, LiveSet>;
  /** requests sent to read it */
  readonly requests: number;
  /** why nothing of it could be looked at; then `sets` is empty */
  readonly unread?: Diagnostic;
}

/** The stack that this one was, as far as its ledger could be found. */
export interface FormerStack {
  readonly name: string;
  readonly hasLedger: boolean;
  /** records that have come along with this plan, and that no apply under the new name has written yet */
  readonly records: ReadonlySet<AddressText>;
  /** why it cannot be taken over as things are */
  readonly problems?: readonly Diagnostic[];
}

export interface PlanContextInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly desired: readonly DesiredResource[];
  readonly targets: readonly LiveTarget[];
  readonly ledger: Ledger;
  /** `desired` is a part of the stack: what is not in it is as it was before, declared or not (rule 41) */
  readonly isSelection?: boolean;
  /** false when a manifest could not be read: nothing is pruned then */
  readonly manifestsComplete: boolean;
  /** what applies of this stack that never ended had begun to create, where its target still is the same place */
  readonly begunCreations?: ReadonlySet<AddressText>;
  /** for a stack that goes on under another name */
  readonly former?: FormerStack;
  /** undefined when no commit was applied before that anything could be said of */
  readonly commitOrder?: CommitOrder | undefined;
}

export interface PlanContext {
  readonly stack: Stack;
  /** declared, tombstones left out */
  readonly desired: ReadonlyMap<AddressText, DesiredResource>;
  readonly tombstones: ReadonlyMap<AddressText, DesiredResource>;
  readonly live: ReadonlyMap<AddressText, LiveResource>;
  readonly ledger: Ledger;
  readonly commitOrder: CommitOrder | undefined;
  kind(name: string): Kind;
  kinds(): readonly Kind[];
  target(name: string): LiveTarget;
  /** What the ledger knows of the resource behind this address: of that very one, wherever it has a remote id. */
  record(address: Address): LedgerRecord | undefined;
  /** The address under which the ledger has that record, which a rename leaves behind. */
  recordedAt(address: Address): AddressText | undefined;
  /**
   * Addresses of the ledger's records that tell of nothing live: gone, or renamed and recorded anew since. In a selection
   * only those of what it holds.
   */
  readonly spent: readonly AddressText[];
  /** whether an apply of this stack that was cut short had begun to create it (rule 24) */
  hasBegunToCreate(address: Address): boolean;
  /** the stack that this one was; undefined for one that has always had its name */
  readonly former: FormerStack | undefined;
  /** whether a claim or birth mark names this stack, by the name it has or the one it had (rule 21) */
  isOurs(stack: string | undefined): boolean;
  /** whether a resource bears a claim of this stack itself, by either of its names */
  bearsOurClaim(witness: Witness): boolean;
  /** whether a target turned out not to be the one that the ledger's records of it are of (rules 37) */
  readonly isDisplaced: boolean;
  /** whether the plan looked where this address would be: its target and its kind are part of the plan */
  isInView(address: Address): boolean;
  /** why what was not found of this kind in this target may exist all the same; undefined when everything was seen */
  blindSpot(address: Address): string | undefined;
  /** The same as far as it could hide something at this very address: not what is missing of one other resource. */
  hidingPlace(address: Address): string | undefined;
  /**
   * Why nobody knows how this very resource stands: neither its absence nor its presence means anything, so it is left out
   * of the plan (rule 39). Undefined for what was looked at, and found or not.
   */
  unseen(address: Address): string | undefined;
  /** what is known of a resource before it is created: sentences about what it will not be */
  foreseen(address: Address): readonly string[];
  /** why what is declared there cannot be created */
  impossible(address: Address): readonly Diagnostic[];
  /** whether everything was seen, everywhere: if not, nothing undeclared is removed anywhere (architecture: promises) */
  readonly isComplete: boolean;
  /** whether `desired` is a part of the stack: then nobody knows what else is declared, and nothing is judged for not being so */
  readonly isSelection: boolean;
}

/** @throws on a kind or target that validation should have refused: a bug */
export function makePlanContext(input: PlanContextInput): PlanContext {
  const { stack, ledger } = input;
  const isTombstone = (resource: DesiredResource) => resource.metadata.remove !== undefined;
  const desired = byAddress(input.desired.filter((resource) => !isTombstone(resource)));
  const targets = new Map(input.targets.map((found) => [found.target.name, found] as const));
  const kind = (name: string) => found(input.kinds.get(name), `kind ${name}`);
  const target = (name: string) => found(targets.get(name), `target ${name}`);
  const live = matchLive(allLive(input), { desired, ledger, kind });
  const recorded = matchRecords(ledger, live);
  const unseen = matchUnread(allUnseen(input), allLive(input), { desired, live, kind });
  const recordedAt = (address: Address) => recorded.get(formatAddress(address));
  const { isSelection = false } = input;
  const spent = spentRecords(ledger, live);
  const isOurs = (name: string | undefined) =>
    name !== undefined && (name === stack.name || name === stack.renamedFrom);
  const selected = [...desired.keys()].flatMap((text) => live.get(text) ?? []);
  return {
    stack,
    desired,
    tombstones: byAddress(input.desired.filter(isTombstone)),
    live,
    ledger,
    commitOrder: input.commitOrder,
    kind,
    kinds: () => [...input.kinds.values()],
    target,
    record: (address) => {
      const known = recordedAt(address);
      const record = known === undefined ? undefined : ledger.records.get(known);
      // A part is nothing by itself: what was recorded for a whole that is gone says nothing of the one that takes its name.
      const isOfAnother =
        record?.id !== undefined &&
        kind(address.kind).ownership.by === 'part' &&
        !live.has(formatAddress(address));
      return isOfAnother ? undefined : record;
    },
    recordedAt,
    former: input.former ?? withoutLedger(stack),
    spent: isSelection ? recordsAbout(selected, spent, ledger) : spent,
    isOurs,
    bearsOurClaim: (witness) => isOurs(ownClaim(witness)?.stack),
    hasBegunToCreate: (address) => input.begunCreations?.has(formatAddress(address)) ?? false,
    isDisplaced: input.targets.some(({ unread }) => unread?.code === movedCode),
    isInView: (address) => input.kinds.has(address.kind) && targets.has(address.target),
    blindSpot: (address) => blindSpots(input, target(address.target), address)[0],
    hidingPlace: (address) => {
      const found = target(address.target);
      const ofOthers = new Set(found.sets.get(address.kind)?.unseen?.values());
      return blindSpots(input, found, address).find((why) => !ofOthers.has(why));
    },
    unseen: (address) => target(address.target).unread?.message ?? unseen.get(formatAddress(address)),
    foreseen: (address) =>
      target(address.target).sets.get(address.kind)?.foreseen?.get(formatAddress(address)) ?? [],
    impossible: (address) =>
      target(address.target).sets.get(address.kind)?.impossible?.get(formatAddress(address)) ?? [],
    isComplete:
      input.manifestsComplete &&
      input.targets.every(({ unread }) => unread === undefined) &&
      allSets(input).every(({ incomplete }) => incomplete.length === 0),
    isSelection,
  };
}

function blindSpots(
  { manifestsComplete }: PlanContextInput,
  found: LiveTarget,
  { kind }: Address,
): readonly string[] {
  if (!manifestsComplete) return ['not every manifest could be read'];
  return found.unread === undefined ? (found.sets.get(kind)?.incomplete ?? []) : [found.unread.message];
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

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`no ${what} in this plan`);
  return value;
}
