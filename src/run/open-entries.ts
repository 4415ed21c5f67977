/**
 * Finds what earlier applies may have done without a record of it in the ledger, by reading the history from the newest entry back:
 * - applies that never ended, or that could not write the ledger at their end: all that they may have done
 * - what later applies did not find out about earlier ones, as their entries list it (`openCreations`, `begunFields`)
 * - applies of parts (`--select`) that ended, up to and including the first apply of the whole stack that ended: creations without an
 *   answer, and changes that were carried out only in part
 * The search stops there, or at an entry with such a list: the ledger has everything else that older applies did. An entry counts only
 * for targets that still have the same identity.
 */
import { newestFirst } from '../ledger/ledger-store.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { BegunResource, FieldChange } from '../model/field.ts';
import type { Registry } from '../model/kind.ts';
import {
  type HistoryChange,
  type HistoryEntry,
  type HistoryStore,
  type Ledger,
  LedgerError,
  type RunIdentity,
} from '../model/ledger.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import { identitiesOf } from '../plan/moved-targets.ts';
import type { StoreLockGuard } from './lock-guard.ts';

interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
  /** what this stack gave away, also what it takes back now: it wrote the former values before */
  readonly movedAway?: Ledger['movedAway'] | undefined;
}

/** How many entries are searched at most: more than an apply is usually repeated, and more than a stack usually has parts. */
const maxSearched = 50;

type Readable = Pick<HistoryStore, 'readEntries'>;

interface BegunChanges {
  readonly creations: ReadonlySet<AddressText>;
  /** creations, adoptions and updates */
  readonly changes: ReadonlySet<AddressText>;
  readonly fields: readonly BegunResource[];
  /** the runs of the applies among them that never ended: one of them may still be running */
  readonly unended: ReadonlyMap<AddressText, RunIdentity>;
  /** entries that cannot be read, where that does not stop the command */
  readonly warnings: readonly Diagnostic[];
}

/** @throws LedgerError when an entry that is needed for a declared resource cannot be read */
export async function begunChanges(
  store: Readable,
  { stack, kinds, resources, ledger, movedAway }: BegunCreationsInput,
): Promise<BegunChanges> {
  const nothing: BegunChanges = {
    ...{ creations: new Set(), changes: new Set(), fields: [], unended: new Map(), warnings: [] },
  };
  if (!ledger.known) return nothing;
  const isDeclared = resources.some(
    ({ address }) =>
      kinds.get(address.kind)?.ownership.by !== 'child' && !ledger.records.has(formatAddress(address)),
  );
  const { damaged, ...found } = await search(store, stack);
  const [first] = damaged;
  if (first !== undefined && isDeclared) throw first;
  const isSame = isSamePlace(stack);
  const isOpenBy = (isOpen: ChangeTest) => ({ isSame, isOpen });
  const changes = openChanges(found, [...found.open, ...found.last], isOpenBy(isOpenChange));
  const fields = unrecordedFields(found, { records: ledger.records, movedAway }, isSame);
  const known = { ...nothing, fields, warnings: damaged.map(damagedWarning) };
  const unended = new Map(
    found.open.flatMap((entry) =>
      entry.ended === undefined
        ? openChanges(found, [entry], isOpenBy(isOpenCreation)).map(
            ({ address }) => [address, entry.run] as const,
          )
        : [],
    ),
  );
  const begun = addressesOf(openChanges(found, found.open, isOpenBy(isOpenCreation)));
  const creations = isDeclared ? begun : begun.filter((text) => !ledger.records.has(text));
  return {
    ...{ ...known, unended, creations: new Set(creations) },
    ...(isDeclared && {
      changes: new Set([...addressesOf(changes), ...fields.map(({ address }) => address)]),
    }),
  };
}

/**
 * What applies may have written without a record. The newest entry with a list is complete up to that apply. Of later applies, the ledger
 * has everything if they ended.
 */
function unrecordedFields(
  found: FoundEntries,
  { records, movedAway }: Pick<BegunCreationsInput, 'movedAway'> & Pick<Ledger, 'records'>,
  isSame: PlaceTest,
): readonly BegunResource[] {
  const sorted = [...found.open, ...found.last].sort((one, other) => (one.id < other.id ? 1 : -1));
  const end = sorted.findIndex(({ begunFields }) => begunFields !== undefined);
  const searched = end === -1 ? sorted : sorted.slice(0, end + 1);
  return searched.toReversed().flatMap((entry) => {
    const isMoved = (address: AddressText) => (movedAway?.get(address)?.at ?? '') > entry.began;
    const own = hasEnded(entry) ? [] : openChanges(found, [entry], { isSame, isOpen: isOpenChange });
    const written = own
      .filter(({ address, fields }) => fields.length > 0 && !isMoved(address))
      .map(({ address, fields }): BegunResource => {
        const id = (records.get(formerAddress(address, fields)) ?? records.get(address))?.id;
        return { address, ...(id === undefined ? {} : { id }), fields };
      });
    return [...(entry.begunFields ?? []).filter(({ address }) => isSame(entry, address)), ...written];
  });
}

/** The address at which the ledger still has a resource that the change renames. */
function formerAddress(address: AddressText, fields: readonly FieldChange[]): AddressText {
  const before = fields.find(({ path }) => path.length === 1 && path[0] === 'name')?.before;
  return typeof before === 'string' ? formatAddress({ ...parseAddress(address), name: before }) : address;
}

/** What unfinished applies of another stack may have written, by its address there. @throws LedgerError */
export async function begunFieldsOf(
  store: Readable,
  { stack, ledger }: { readonly stack: Stack; readonly ledger: Ledger },
): Promise<readonly BegunResource[]> {
  const places = new Set(identitiesOf(stack.targets).values());
  // The targets of the other stack may have other names.
  const isSame: PlaceTest = ({ targets = {} }, address) => {
    const place = targets[parseAddress(address).target];
    return place !== undefined && places.has(place);
  };
  return unrecordedFields(await search(store, stack), { records: ledger.records }, isSame);
}

function addressesOf(changes: readonly OpenChange[]): AddressText[] {
  return changes.map(({ address }) => address);
}

function damagedWarning({ message }: LedgerError): Diagnostic {
  return {
    code: 'begun-unknown',
    severity: 'warning',
    class: 'failure',
    message: `${message}; whether that apply began to create something that is not declared now is not known`,
    fix: 'restore it from a backup, or remove it: then this apply counts as one that created nothing',
  };
}

/** The creations of earlier applies that may have been carried out and are not recorded. @throws LedgerError */
export async function unrecordedCreations(
  store: Readable,
  { stack, ledger }: Pick<BegunCreationsInput, 'stack' | 'ledger'>,
): Promise<readonly AddressText[]> {
  const { damaged, ...found } = await search(store, stack);
  const [first] = damaged;
  if (first !== undefined) throw first;
  const begun = new Set(
    addressesOf(openChanges(found, found.open, { isSame: isSamePlace(stack), isOpen: isOpenCreation })),
  );
  return [...begun].filter((address) => !ledger.records.has(address)).sort();
}

/** The entries that the search for open ones cannot read. @throws LedgerError when none can be read */
export async function damagedEntries(store: Readable, stack: string): Promise<readonly LedgerError[]> {
  return (await search(store, { name: stack })).damaged;
}

interface ResolveInput {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  /** creations that this apply leaves open */
  readonly left: readonly AddressText[];
  /** checked after the entries were read, so that entries of a run that took the lock away are not closed */
  readonly lockGuard?: Pick<StoreLockGuard, 'check'> | undefined;
}

/**
 * Called at the end of an apply without changes. Closes open entries, unless creations of them are left open: those entries stay open,
 * until an apply that writes an entry of its own lists what is left.
 * @returns true if the last apply left something open, or did not prove that everything is as recorded; false if the history says all that
 * this apply could add
 * @throws LedgerError
 */
export async function resolveEntries(store: HistoryStore, about: ResolveInput): Promise<boolean> {
  const { stack, settled, left, lockGuard } = about;
  const { open, last } = await search(store, { name: stack });
  const [only, ...others] = open;
  if (only === undefined) return last.some(({ proved }) => proved !== true);
  if (left.length > 0) return others.length > 0 || !listsOnly(only, left);
  await lockGuard?.check();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
  return true;
}

/** Whether exactly these creations are open after this apply, and nothing else. */
function listsOnly(entry: HistoryEntry, creations: readonly AddressText[]): boolean {
  const { openCreations = [], proved } = entry;
  const isAlone = proved === true && hasEnded(entry) && !entry.changes.some(isInDoubt);
  return isAlone && openCreations.toSorted().join(' ') === creations.toSorted().join(' ');
}

interface FoundEntries {
  /** entries with creations whose result no later apply has found out */
  readonly open: readonly HistoryEntry[];
  /** the others: the last apply of the whole stack that ended, and later ones of parts. One of their changes may be done in part only */
  readonly last: readonly HistoryEntry[];
  /** Whether a later apply of a part has changed the resource, so that the ledger has its result. */
  isClosed(entry: HistoryEntry, address: AddressText): boolean;
}

/** Entries from before the stack was renamed have its former name. */
type OwnNames = Pick<Stack, 'name' | 'renamedFrom'>;

/** Reads no more entries than needed: usually one. Copies of another stack's entries do not count. */
async function search(
  store: Readable,
  stack: OwnNames,
): Promise<FoundEntries & { readonly damaged: readonly LedgerError[] }> {
  const found: HistoryEntry[] = [];
  const damaged: LedgerError[] = [];
  for await (const entry of newestFirst(store)) {
    if (entry instanceof LedgerError) damaged.push(entry);
    else if (entry.moved !== true) found.push(entry);
    const isEnd = !(entry instanceof LedgerError) && entry.moved !== true && endsSearch(entry, stack);
    if (isEnd || found.length + damaged.length >= maxSearched) break;
  }
  return { ...splitOpenEntries(found, stack), damaged };
}

/** @param all newest first; copies of another stack's entries do not count */
export function splitOpenEntries(all: readonly HistoryEntry[], stack: OwnNames): FoundEntries {
  const own = all.filter(({ moved }) => moved !== true);
  const end = own.findIndex((entry) => endsSearch(entry, stack));
  const found = end === -1 ? own : own.slice(0, end + 1);
  const ofStack = found.filter((entry) => isOwn(entry, stack));
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

/** Whether the ledger has what the apply did, as far as the apply knew it; or a later apply closed the entry. */
function hasEnded({ ended, unrecorded, settled }: HistoryEntry): boolean {
  return (ended !== undefined && !unrecorded) || settled !== undefined;
}

/**
 * Whether older entries no longer matter. They do not after an apply of the whole stack that ended, or an entry that a later one closed.
 * They do after an apply of a part, which finds out only about what it changed, unless its entry lists what is left open.
 */
function endsSearch(entry: HistoryEntry, stack: OwnNames): boolean {
  if (!isOwn(entry, stack)) return true;
  const { part, settled, openCreations, begunFields } = entry;
  const listsAll = openCreations !== undefined || begunFields !== undefined;
  return hasEnded(entry) && (part === undefined || settled !== undefined || listsAll);
}

function isOwn(entry: HistoryEntry, { name, renamedFrom }: OwnNames): boolean {
  return entry.stack === name || entry.stack === renamedFrom;
}

function isOpenEntry(entry: HistoryEntry): boolean {
  if (!hasEnded(entry)) return true;
  const { changes, openCreations = [], settled } = entry;
  return settled === undefined && (openCreations.length > 0 || changes.some(isInDoubt));
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

type OpenChange = Pick<HistoryChange, 'address' | 'fields'>;

/** The open changes of these entries, with the creations that they list as open. */
function openChanges(
  { isClosed }: Pick<FoundEntries, 'isClosed'>,
  entries: readonly HistoryEntry[],
  { isSame, isOpen }: { readonly isSame: PlaceTest; readonly isOpen: ChangeTest },
): OpenChange[] {
  return entries.flatMap((entry) => {
    const { changes, openCreations = [], settled } = entry;
    const listed = settled === undefined ? openCreations : [];
    const own = changes.filter((change) => isOpen(change, entry));
    return [...own, ...listed.map((address) => ({ address, fields: [] }))].filter(
      ({ address }) => isSame(entry, address) && !isClosed(entry, address),
    );
  });
}

/** Whether the target of an address was, at that apply, what it is now. */
type PlaceTest = (entry: HistoryEntry, address: AddressText) => boolean;

function isSamePlace({ targets }: Stack): PlaceTest {
  const today = identitiesOf(targets);
  return (entry, address) => {
    const { target } = parseAddress(address);
    return today.has(target) && today.get(target) === entry.targets?.[target];
  };
}
