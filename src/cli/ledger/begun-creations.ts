/**
 * What applies had begun to create without ever hearing what became of it (rules 24): all that those were creating that
 * never ended, the newest entries of the history, all that those made whose ledger could not be written at their end, and of
 * the last one that ended otherwise what was answered by nobody. A later apply settles it. They say it only of targets that
 * still are the place that they were.
 */
import { type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { Registry } from '../../model/kind/kind.ts';
import type { HistoryChange, HistoryEntry, HistoryStore, Ledger } from '../../model/stack/ledger.ts';
import type { DesiredResource } from '../../model/resource/resource.ts';
import type { Stack } from '../../model/stack/target.ts';
import { identitiesOf } from '../../plan/ledger/moved-targets.ts';
import type { LockFence } from './lock-fence.ts';

export interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** More tries of one apply than anybody makes before looking. */
const mostTries = 20;

/** Asks the store only where something declared bears no mark and has no record. @throws LedgerError */
export async function begunCreations(
  store: Pick<HistoryStore, 'listEntries'>,
  { stack, kinds, resources, ledger }: BegunCreationsInput,
): Promise<ReadonlySet<AddressText>> {
  const isInQuestion = ({ address }: DesiredResource) =>
    kinds.get(address.kind)?.ownership.by === 'ledger' && !ledger.records.has(formatAddress(address));
  if (!ledger.known || !resources.some(isInQuestion)) return new Set();
  const open = await openEntries(store, stack.name);
  return new Set(open.flatMap((entry) => creationsOf(entry, stack)));
}

/**
 * A later apply has come to its end, also one with nothing to do: what is recorded by now is all that they made.
 * @param fence seen after the entries: those of a run that took the lock away are none of them then
 * @throws LedgerError
 */
export async function settleEntries(store: HistoryStore, { stack, settled, fence }: Settling): Promise<void> {
  const open = await openEntries(store, stack);
  if (open.length === 0) return;
  await fence?.look();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
}

export interface Settling {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  readonly fence?: Pick<LockFence, 'look'> | undefined;
}

async function openEntries(
  store: Pick<HistoryStore, 'listEntries'>,
  stack: string,
): Promise<readonly HistoryEntry[]> {
  const entries = await store.listEntries(mostTries);
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

/** Not refused, nor left alone: told by whoever knew what became of it. */
function wasMade(change: HistoryChange): boolean {
  const { action, outcome, foundTrue, done = [] } = change;
  return action === 'create' && (outcome === 'applied' || foundTrue === true || done.length > 0);
}

function creationsOf(entry: HistoryEntry, stack: Stack): AddressText[] {
  const { changes, ended, unrecorded, targets = {} } = entry;
  const today = identitiesOf(stack.targets);
  return changes.flatMap((change) => {
    const { target } = parseAddress(change.address);
    const isWhereItWas = today.has(target) && today.get(target) === targets[target];
    const isOpen =
      ended === undefined
        ? change.action === 'create'
        : isInDoubt(change) || (unrecorded === true && wasMade(change));
    return isOpen && isWhereItWas ? [change.address] : [];
  });
}
