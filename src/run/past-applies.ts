/**
 * What a run learns from the history: which fields earlier applies have set, because a plan from other manifests may revert them, and
 * what applies of parts of the stack have deleted.
 */
import { ownEntries } from '../ledger/ledger-store.ts';
import { completeEntries } from '../ledger/history-text.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { AppliedFields } from '../model/checkout.ts';
import type { HistoryChange, HistoryEntry, HistoryStore } from '../model/ledger.ts';
import type { RemovedByPart } from '../model/part.ts';
import { formatIdentity, identityOf, type IdentityText, type Stack } from '../model/stack.ts';

/** How many applies are searched for fields that our commits may lack. */
const maxApplies = 200;

/**
 * The fields that were set since the last apply from one of our commits: our manifests may lack all of them if the last applied commit
 * cannot be found. Applies that changed nothing are not in the history.
 * @param isOurs whether a commit is ours, or an ancestor of it
 * @returns undefined when the history does not show it
 */
export function fieldsSetSince(
  history: Pick<HistoryStore, 'readEntries'>,
  isOurs: (commit: string) => Promise<boolean>,
): Promise<AppliedFields | undefined> {
  return fieldsSet(history, async (newest) => {
    const others: HistoryEntry[] = [];
    for (const entry of newest) {
      const { commit, commitKept, uncommitted, ignored } = entry;
      const isClean = commit !== undefined && (uncommitted === undefined || ignored === true);
      const isKnown = isClean && (await isOurs(commit));
      if (isKnown && !commitKept) break;
      if (!isKnown) others.push(entry);
      // What older applies set is no longer known.
      if (entry.pruned !== undefined) return undefined;
    }
    return others;
  });
}

/** The fields that applies with uncommitted changes of the stack's files set, since the last apply without such changes. */
export function fieldsSetUncommitted(
  history: Pick<HistoryStore, 'readEntries'>,
): Promise<AppliedFields | undefined> {
  return fieldsSet(history, async (newest) => {
    // An apply that kept the commits of earlier ones, or was made without git, does not end the search.
    const counted = newest.filter(
      ({ commit, commitKept, uncommitted }) =>
        uncommitted !== undefined || (commit !== undefined && !commitKept),
    );
    const firstCommitted = counted.findIndex(({ uncommitted }) => uncommitted === undefined);
    if (firstCommitted === -1 && newest.some(({ pruned }) => pruned !== undefined)) return undefined;
    return firstCommitted === -1 ? counted : counted.slice(0, firstCommitted);
  });
}

async function fieldsSet(
  history: Pick<HistoryStore, 'readEntries'>,
  choose: (newest: readonly HistoryEntry[]) => Promise<readonly HistoryEntry[] | undefined>,
): Promise<AppliedFields | undefined> {
  const entries = await ownEntries(history, maxApplies).catch(() => []);
  const found = entries.flatMap((entry) => (entry instanceof Error ? [] : [entry]));
  if (found.length === 0 || found.length < entries.length) return undefined;
  const chosen = await choose(found);
  if (chosen === undefined) return undefined;
  const changes = chosen.flatMap((entry) => entry.changes).filter(mayHaveSent);
  const byAddress = Map.groupBy(changes, ({ address }) => address);
  return new Map(
    [...byAddress].map(([address, some]) => [
      address,
      some.flatMap(({ fields }) => fields.map(({ path }) => path)),
    ]),
  );
}

/** Whether the change may have taken effect, also in an apply that was killed, or if it failed after its first call. */
function mayHaveSent({ outcome, done = [], inDoubt }: HistoryChange): boolean {
  return (
    outcome === undefined ||
    outcome === 'applied' ||
    outcome === 'unknown' ||
    inDoubt === true ||
    done.length > 0
  );
}

// What applies of parts of a stack have deleted or released within a day, from the history: the deletes of parts add up, so that many
// small ones do not bypass the limits of the stack.

/** For how long the deletes of a part count, in milliseconds. */
export const countedTime = 24 * 60 * 60 * 1000;

/** How many entries are read at first; more, if all of these are younger than a day. */
const firstRead = 50;

/**
 * @param about.now milliseconds since 1970
 * @throws LedgerError when the history cannot be read: it is unknown then what has been deleted
 */
export async function removedByParts(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, now }: { readonly stack: Stack; readonly now: number },
): Promise<readonly RemovedByPart[]> {
  const nameAt = new Map(
    stack.targets.map((target) => [formatIdentity(identityOf(target)), target.name] as const),
  );
  const recent = await recentEntries(store, now - countedTime);
  return recent
    .filter(({ part, moved }) => part !== undefined && moved !== true)
    .flatMap(({ changes, targets = {} }) =>
      changes.filter(mayHaveRemoved).flatMap(({ address }) => presentAddress(address, targets, nameAt)),
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

function mayHaveRemoved(change: HistoryChange): boolean {
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
