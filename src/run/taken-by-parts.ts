/**
 * What applies of parts of a stack have deleted or released within a day, from the history: the deletes of parts add up, so that many
 * small ones do not go around the limits of the stack.
 */
import { ownEntries } from '../ledger/ledger-store.ts';
import { completeEntries } from '../ledger/ledger-text.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { HistoryChange, HistoryEntry, HistoryStore } from '../model/ledger.ts';
import type { TakenByPart } from '../model/part.ts';
import { formatIdentity, identityOf, type IdentityText, type Stack } from '../model/stack.ts';
import { mayHaveSent } from './applied-fields.ts';

/** For how long the deletes of a part count, in milliseconds. */
export const countedTime = 24 * 60 * 60 * 1000;

/** How many entries are read at first; more, if all of these are younger than a day. */
const firstRead = 50;

/**
 * @param about.now milliseconds since 1970
 * @throws LedgerError when the history cannot be read: it is unknown then what has been deleted
 */
export async function takenByParts(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, now }: { readonly stack: Stack; readonly now: number },
): Promise<readonly TakenByPart[]> {
  const nameAt = new Map(
    stack.targets.map((target) => [formatIdentity(identityOf(target)), target.name] as const),
  );
  const recent = await recentEntries(store, now - countedTime);
  return recent
    .filter(({ part, moved }) => part !== undefined && moved !== true)
    .flatMap(({ changes, targets = {} }) =>
      changes.filter(mayHaveTaken).flatMap(({ address }) => presentAddress(address, targets, nameAt)),
    )
    .map((address) => ({ address }));
}

async function recentEntries(
  store: Pick<HistoryStore, 'readEntries'>,
  since: number,
): Promise<readonly HistoryEntry[]> {
  for (let limit = firstRead; ; limit *= 4) {
    const read = await ownEntries(store, limit);
    const entries = completeEntries(read);
    const recent = entries.filter(({ began, ended = began }) => Date.parse(ended) > since);
    if (recent.length < entries.length || read.length < limit) return recent;
  }
}

function mayHaveTaken(change: HistoryChange): boolean {
  return (change.action === 'delete' || change.action === 'release') && mayHaveSent(change);
}

/** The address with the present name of the target; none for a target that the stack no longer has. */
function presentAddress(
  text: AddressText,
  targets: NonNullable<HistoryEntry['targets']>,
  nameAt: ReadonlyMap<IdentityText, string>,
): AddressText[] {
  const address = parseAddress(text);
  const identity = targets[address.target];
  const target = identity === undefined ? undefined : nameAt.get(identity);
  return target === undefined ? [] : [formatAddress({ ...address, target })];
}
