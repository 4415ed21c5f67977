/**
 * Finds creations and other changes in the history whose result is not recorded in the ledger. From the newest entry back, these are:
 * - all creations of applies that never ended
 * - completed creations of applies that could not write the ledger at their end
 * - creations without an answer, of the last apply before those
 * A later apply closes the entries; one of a part closes only what it changed. An entry counts only for targets with the same identity.
 */
import { ownEntries } from '../ledger/ledger-store.ts';
import { completeEntries } from '../ledger/ledger-text.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Registry } from '../model/kind.ts';
import type { HistoryChange, HistoryEntry, HistoryStore, Ledger } from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import { identitiesOf } from '../plan/moved-targets.ts';
import type { StoreLockGuard } from './lock-guard.ts';

interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** How many entries are read: more than the usual repetitions of an apply, and than the parts of a stack. */
const maxRecentEntries = 50;

interface BegunChanges {
  readonly creations: ReadonlySet<AddressText>;
  /** creations, adoptions and updates */
  readonly changes: ReadonlySet<AddressText>;
}

/**
 * Reads the history only when it can matter: a declared resource without a parent has no record, or the stack has a target with resources
 * that only the ledger identifies, so that one without a record may be ours.
 * @throws LedgerError
 */
export async function begunChanges(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, kinds, resources, ledger }: BegunCreationsInput,
): Promise<BegunChanges> {
  const isInQuestion = ({ address }: DesiredResource) =>
    kinds.get(address.kind)?.ownership.by !== 'child' && !ledger.records.has(formatAddress(address));
  const byLedger = new Set(
    [...kinds.values()].flatMap(({ ownership, service }) => (ownership.by === 'ledger' ? [service] : [])),
  );
  const none = { creations: new Set<AddressText>(), changes: new Set<AddressText>() };
  if (!ledger.known) return none;
  if (!resources.some(isInQuestion))
    return stack.targets.some(({ service }) => byLedger.has(service))
      ? { ...none, creations: new Set(await unrecordedCreations(store, { stack, ledger })) }
      : none;
  const { open, last, isClosed } = await readEntries(store, stack.name);
  const openIn = (entries: readonly HistoryEntry[], isOpen: ChangeTest) =>
    entries.flatMap((entry) =>
      openChanges(entry, stack, isOpen).filter((address) => !isClosed(entry, address)),
    );
  return {
    creations: new Set(openIn(open, isOpenCreation)),
    changes: new Set(openIn([...open, ...last], isOpenChange)),
  };
}

/** The creations of earlier applies that may have been carried out and are not recorded. @throws LedgerError */
export async function unrecordedCreations(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, ledger }: Pick<BegunCreationsInput, 'stack' | 'ledger'>,
): Promise<readonly AddressText[]> {
  const { open, isClosed } = await readEntries(store, stack.name);
  const begun = new Set(
    open.flatMap((entry) =>
      openChanges(entry, stack, isOpenCreation).filter((address) => !isClosed(entry, address)),
    ),
  );
  return [...begun].filter((address) => !ledger.records.has(address)).sort();
}

/**
 * Closes open entries at the end of a later apply, even one without changes: by then the ledger records all that they created.
 * @param lockGuard checked after the entries were read, so that entries of a run that took the lock away are not closed
 * @returns whether the last apply did not prove that nothing is left to do
 * @throws LedgerError
 */
export async function resolveEntries(store: HistoryStore, about: ResolveInput): Promise<boolean> {
  const { stack, settled, lockGuard } = about;
  const { open, last } = await readEntries(store, stack);
  if (open.length === 0) return last.some(({ proved }) => proved !== true);
  await lockGuard?.check();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
  return true;
}

interface ResolveInput {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  readonly lockGuard?: Pick<StoreLockGuard, 'check'> | undefined;
}

interface ReadEntries {
  readonly open: readonly HistoryEntry[];
  /** the last apply that ended, and later ones of parts, without the open ones: a change may have stopped halfway */
  readonly last: readonly HistoryEntry[];
  /** Whether a later apply of a part has changed the resource, so that the ledger has its result. */
  isClosed(entry: HistoryEntry, address: AddressText): boolean;
}

async function readEntries(store: Pick<HistoryStore, 'readEntries'>, stack: string): Promise<ReadEntries> {
  return splitOpenEntries(completeEntries(await ownEntries(store, maxRecentEntries)), stack);
}

/** @param all newest first; copies of another stack's entries do not count */
export function splitOpenEntries(all: readonly HistoryEntry[], stack: string): ReadEntries {
  const own = all.filter(({ moved }) => moved !== true);
  const end = own.findIndex((entry) => endsSearch(entry, stack));
  const found = end === -1 ? own : own.slice(0, end + 1);
  const ofStack = found.filter((entry) => entry.stack === stack);
  const closed = new Set<AddressText>();
  const closedAfter = new Map<HistoryEntry, ReadonlySet<AddressText>>();
  for (const entry of ofStack) {
    closedAfter.set(entry, new Set(closed));
    if (hasEnded(entry))
      for (const change of entry.changes) if (!isInDoubt(change)) closed.add(change.address);
  }
  return {
    open: ofStack.filter(isOpenEntry),
    last: ofStack.filter((entry) => !isOpenEntry(entry)),
    isClosed: (entry, address) => closedAfter.get(entry)?.has(address) ?? false,
  };
}

function hasEnded({ ended, unrecorded, settled }: HistoryEntry): boolean {
  return (ended !== undefined && !unrecorded) || settled !== undefined;
}

/** Whether older entries no longer matter. After an apply of a part they do, because it proves only what it changed. */
function endsSearch(entry: HistoryEntry, stack: string): boolean {
  if (entry.stack !== stack) return true;
  return hasEnded(entry) && (entry.part === undefined || entry.settled !== undefined);
}

function isOpenEntry(entry: HistoryEntry): boolean {
  return !hasEnded(entry) || (entry.settled === undefined && entry.changes.some(isInDoubt));
}

function isInDoubt({ action, outcome, inDoubt }: HistoryChange): boolean {
  return action === 'create' && (outcome === 'unknown' || inDoubt === true);
}

/** Whether the outcome says that the resource was created. */
function wasCreated(change: HistoryChange): boolean {
  const { action, outcome, foundTrue, done = [] } = change;
  return action === 'create' && (outcome === 'applied' || foundTrue === true || done.length > 0);
}

type ChangeTest = (change: HistoryChange, entry: HistoryEntry) => boolean;

const isOpenCreation: ChangeTest = (change, { ended, unrecorded }) =>
  ended === undefined
    ? change.action === 'create'
    : isInDoubt(change) || (unrecorded === true && wasCreated(change));

const isOpenChange: ChangeTest = (change, entry) => {
  const { action, outcome, inDoubt, done = [] } = change;
  if (isOpenCreation(change, entry)) return true;
  if (action !== 'create' && action !== 'adopt' && action !== 'update') return false;
  const isCut = entry.ended === undefined || entry.unrecorded === true;
  return isCut || outcome === 'unknown' || inDoubt === true || done.length > 0;
};

function openChanges(entry: HistoryEntry, stack: Stack, isOpen: ChangeTest): AddressText[] {
  const { changes, targets = {} } = entry;
  const today = identitiesOf(stack.targets);
  return changes.flatMap((change) => {
    const { target } = parseAddress(change.address);
    const isSamePlace = today.has(target) && today.get(target) === targets[target];
    return isSamePlace && isOpen(change, entry) ? [change.address] : [];
  });
}
