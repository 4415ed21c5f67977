/**
 * Finds creations and other changes in the history whose result is not recorded in the ledger (rules 24). Read from the newest entry back, these are:
 * all creations of applies that never ended; those that were made by applies that could not write the ledger at their end; and of
 * the last apply before those, the creations without an answer. A later apply settles the entries. An entry counts only for targets
 * that are still the same place.
 */
import { type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Registry } from '../../model/kind/kind.ts';
import type { HistoryChange, HistoryEntry, HistoryStore, Ledger } from '../../model/stack/ledger.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { identitiesOf } from '../../plan/ledger/moved-targets.ts';
import type { LeaseGuard } from './lock-fence.ts';

interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** How many entries are read: more than anybody repeats an apply without investigating. */
const maxEntries = 20;

interface BegunChanges {
  readonly creations: ReadonlySet<AddressText>;
  /** creations, adoptions and updates */
  readonly changes: ReadonlySet<AddressText>;
}

/** Reads the history only when a declared resource that is no part has no record. @throws LedgerError */
export async function begunChanges(
  store: Pick<HistoryStore, 'listEntries'>,
  { stack, kinds, resources, ledger }: BegunCreationsInput,
): Promise<BegunChanges> {
  const isInQuestion = ({ address }: DesiredResource) =>
    kinds.get(address.kind)?.ownership.by !== 'part' && !ledger.records.has(formatAddress(address));
  if (!ledger.known || !resources.some(isInQuestion)) return { creations: new Set(), changes: new Set() };
  const { open, last } = await readEntries(store, stack.name);
  return {
    creations: new Set(open.flatMap((entry) => openChanges(entry, stack, isOpenCreation))),
    changes: new Set([...open, ...last].flatMap((entry) => openChanges(entry, stack, isOpenChange))),
  };
}

/**
 * Settles open entries at the end of a later apply, also one with nothing to do: by then all that they created is recorded.
 * @param fence checked after the entries were read, so that entries of a run that took the lock away are not settled
 * @throws LedgerError
 */
export async function resolveEntries(
  store: HistoryStore,
  { stack, settled, fence }: Settling,
): Promise<void> {
  const { open } = await readEntries(store, stack);
  if (open.length === 0) return;
  await fence?.check();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
}

interface Settling {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  readonly fence?: Pick<LeaseGuard, 'check'> | undefined;
}

interface ReadEntries {
  readonly open: readonly HistoryEntry[];
  /** the last apply that ended, if it is none of the open ones: a change of it may have stopped halfway */
  readonly last: readonly HistoryEntry[];
}

async function readEntries(store: Pick<HistoryStore, 'listEntries'>, stack: string): Promise<ReadEntries> {
  const entries = await store.listEntries(maxEntries);
  const end = entries.findIndex(
    ({ ended, unrecorded, settled, stack: of }) =>
      (ended !== undefined && !unrecorded) || settled !== undefined || of !== stack,
  );
  if (end === -1) return { open: entries, last: [] };
  const last = entries[end];
  const isOpen = last?.stack === stack && last.settled === undefined && last.changes.some(isInDoubt);
  if (isOpen) return { open: entries.slice(0, end + 1), last: [] };
  return { open: entries.slice(0, end), last: last?.stack === stack ? [last] : [] };
}

function isInDoubt({ action, outcome, inDoubt }: HistoryChange): boolean {
  return action === 'create' && (outcome === 'unknown' || inDoubt === true);
}

/** Whether the outcome says that the resource was created. */
function wasMade(change: HistoryChange): boolean {
  const { action, outcome, foundTrue, done = [] } = change;
  return action === 'create' && (outcome === 'applied' || foundTrue === true || done.length > 0);
}

type OpenIn = (change: HistoryChange, entry: HistoryEntry) => boolean;

const isOpenCreation: OpenIn = (change, { ended, unrecorded }) =>
  ended === undefined
    ? change.action === 'create'
    : isInDoubt(change) || (unrecorded === true && wasMade(change));

const isOpenChange: OpenIn = (change, entry) => {
  const { action, outcome, inDoubt, done = [] } = change;
  if (isOpenCreation(change, entry)) return true;
  if (action !== 'create' && action !== 'adopt' && action !== 'update') return false;
  const isCut = entry.ended === undefined || entry.unrecorded === true;
  return isCut || outcome === 'unknown' || inDoubt === true || done.length > 0;
};

function openChanges(entry: HistoryEntry, stack: Stack, isOpen: OpenIn): AddressText[] {
  const { changes, targets = {} } = entry;
  const today = identitiesOf(stack.targets);
  return changes.flatMap((change) => {
    const { target } = parseAddress(change.address);
    const isSamePlace = today.has(target) && today.get(target) === targets[target];
    return isSamePlace && isOpen(change, entry) ? [change.address] : [];
  });
}
