/**
 * Finds creations in the history whose result is not recorded in the ledger (rules 24). Read from the newest entry back, these are:
 * all creations of applies that never ended; those that were made by applies that could not write the ledger at their end; and of
 * the last apply before those, the creations without an answer. A later apply settles the entries. An entry counts only for targets
 * that are still the same place.
 */
import { type Address, type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Registry } from '../../model/kind/kind.ts';
import type { HistoryChange, HistoryEntry, HistoryStore, Ledger } from '../../model/stack/ledger.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { isLedgerOwned } from '../../plan/context/ledger-claims.ts';
import { identitiesOf } from '../../plan/ledger/moved-targets.ts';
import type { LockFence } from './lock-fence.ts';

interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** How many entries are read: more than anybody repeats an apply without investigating. */
const maxEntries = 20;

/** Reads the history only when a declared resource has no record, and its target nothing else that would say whose it is. @throws LedgerError */
export async function begunCreations(
  store: Pick<HistoryStore, 'listEntries'>,
  { stack, kinds, resources, ledger }: BegunCreationsInput,
): Promise<ReadonlySet<AddressText>> {
  const isInQuestion = ({ address }: DesiredResource) =>
    isKnownByLedger(address, kinds, stack) && !ledger.records.has(formatAddress(address));
  if (!ledger.known || !resources.some(isInQuestion)) return new Set();
  const open = await openEntries(store, stack.name);
  return new Set(open.flatMap((entry) => creationsOf(entry, stack)));
}

/** Whether nothing but the ledger says whose it is: a kind without marks, or a target that keeps no claims (rule 48). */
function isKnownByLedger(address: Address, kinds: Registry, { targets }: Stack): boolean {
  const kind = kinds.get(address.kind);
  const target = targets.find(({ name }) => name === address.target);
  if (kind === undefined || target === undefined) return false;
  return kind.ownership.by === 'ledger' || isLedgerOwned(kind, target);
}

/**
 * Settles open entries at the end of a later apply, also one with nothing to do: by then all that they created is recorded.
 * @param fence checked after the entries were read, so that entries of a run that took the lock away are not settled
 * @throws LedgerError
 */
export async function settleEntries(store: HistoryStore, { stack, settled, fence }: Settling): Promise<void> {
  const open = await openEntries(store, stack);
  if (open.length === 0) return;
  await fence?.check();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
}

interface Settling {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  readonly fence?: Pick<LockFence, 'check'> | undefined;
}

async function openEntries(
  store: Pick<HistoryStore, 'listEntries'>,
  stack: string,
): Promise<readonly HistoryEntry[]> {
  const entries = await store.listEntries(maxEntries);
  const end = entries.findIndex(
    ({ ended, unrecorded, settled, stack: of }) =>
      (ended !== undefined && !unrecorded) || settled !== undefined || of !== stack,
  );
  if (end === -1) return entries;
  const last = entries[end];
  const isOpen = last?.stack === stack && last.settled === undefined && last.changes.some(isInDoubt);
  return entries.slice(0, isOpen ? end + 1 : end);
}

function isInDoubt({ action, outcome, inDoubt }: HistoryChange): boolean {
  return action === 'create' && (outcome === 'unknown' || inDoubt === true);
}

/** Whether the outcome says that the resource was created. */
function wasMade(change: HistoryChange): boolean {
  const { action, outcome, foundTrue, done = [] } = change;
  return action === 'create' && (outcome === 'applied' || foundTrue === true || done.length > 0);
}

function creationsOf(entry: HistoryEntry, stack: Stack): AddressText[] {
  const { changes, ended, unrecorded, targets = {} } = entry;
  const today = identitiesOf(stack.targets);
  return changes.flatMap((change) => {
    const { target } = parseAddress(change.address);
    const isSamePlace = today.has(target) && today.get(target) === targets[target];
    const isOpen =
      ended === undefined
        ? change.action === 'create'
        : isInDoubt(change) || (unrecorded === true && wasMade(change));
    return isOpen && isSamePlace ? [change.address] : [];
  });
}
